#include "hw/link/network.h"

#include <algorithm>

/// CXL.mem messages in slots of flits (CXL 2.0, 4.2).
namespace umf::hw::link {

namespace {

constexpr unsigned bit(Kind kind) {
  return 1U << index(kind);
}
constexpr unsigned kAll = (1U << kKinds) - 1;
constexpr unsigned kData = bit(Kind::completion), kDone = bit(Kind::response);

struct Shape {
  std::uint32_t slots, bytes;
  std::uint32_t most_left; ///< chunks beyond which a flit of nothing but data must follow
};
constexpr Shape shape_of(Framing framing) {
  return framing == Framing::flits68 ? Shape{4, 68, 3} : Shape{15, 256, UINT32_MAX};
}

constexpr std::uint32_t kMostCredit = 64; ///< told at once: 0, 1, 2, 4 … 64

} // namespace

/// The chosen message's header goes into this slot; its chunks follow those already waiting.
void Network::message(Direction& d, Flit& flit, std::uint32_t index) {
  Packet& packet = packets_[index];
  packet.chunks = packet.data_units();
  if (packet.chunks == 0) {
    flit.messages.push(packets_, index);
    return;
  }
  d.chunks += packet.chunks;
  d.split.push(packets_, index);
}

/// As many messages as share a slot. First slot of a flit: one M2S message (H4, H5), a DRS with an
/// NDR (H3), two NDRs (H4) or two DRSs (H5); others: one M2S message (G4, G5), a DRS with two NDRs
/// (G4), two NDRs (G5) or three DRSs (G6).
bool Network::fill_header(Direction& d, Flit& flit, bool first) {
  const auto add = [&](unsigned kinds) {
    if (d.waiting == 0) return false;
    const std::uint32_t index = choose(d, kinds);
    if (index == kNone) return false;
    message(d, flit, index);
    return true;
  };
  const std::uint32_t index = d.waiting == 0 ? kNone : choose(d, kAll);
  if (index == kNone) return false;
  const Kind kind = packets_[index].kind;
  message(d, flit, index);
  if (kind == Kind::completion) {
    if (add(kDone)) {
      if (!first) add(kDone);
    } else if (add(kData) && !first) {
      add(kData);
    }
  } else if (kind == Kind::response) {
    if (!add(kData))
      add(kDone);
    else if (!first)
      add(kDone);
  }
  return true;
}

/// False: there is nothing to send.
bool Network::fill(Direction& d, Flit& flit) {
  const Shape shape = shape_of(links_[d.link].options.framing);
  flit.bytes = shape.bytes;
  const auto chunk = [&] {
    Packet& packet = packets_[d.split.head];
    --d.chunks;
    ++flit.chunks;
    if (--packet.chunks == 0) flit.messages.push(packets_, d.split.pop(packets_));
  };
  std::uint32_t used = 0;
  if (d.chunks > shape.most_left) {
    for (; used < shape.slots; ++used)
      chunk();
    flit.acknowledged = flit.bytes;
    return true;
  }
  if (fill_header(d, flit, true)) ++used;
  for (std::uint32_t slot = 1; slot < shape.slots; ++slot) {
    if (d.chunks > 0)
      chunk();
    else if (!fill_header(d, flit, false))
      break;
    ++used;
  }
  if (used > 0) {
    flit.acknowledged = flit.bytes;
    d.statistics.empty_slots += shape.slots - used;
  }
  // Credits and acknowledgements ride in the header of every flit but those of nothing but data;
  // a flit of nothing else (LLCRD) goes when they are due.
  if (used > 0 || d.any_due) flit.control = make_control(d, true, kMostCredit);
  return used > 0 || flit.control != kNone;
}

bool Network::send_flit(DirectionId direction) {
  Direction& d = directions_[direction];
  const LinkOptions& options = links_[d.link].options;
  DirectionStatistics& s = d.statistics;
  if (d.nak_due) { // a control flit that is itself never sent again
    const std::uint32_t retry = make_control(d, false, kMostCredit);
    const Femtoseconds begin = occupy(d, shape_of(options.framing).bytes);
    s.control += d.busy_until - begin;
    events_.push(d.busy_until + options.latency, control_landed, direction, retry);
    if (has_work(d)) set_wake(direction);
    return false;
  }
  if (d.held) return false;
  const bool again = !d.doomed && !d.replay.empty();
  std::uint32_t index = kNone;
  if (again) {
    index = d.replay.pop(flits_);
    ++s.replays;
  } else {
    if (d.unacknowledged >= options.replay_buffer && !d.any_due) {
      blocked(d, true);
      return false;
    }
    index = flits_.make();
    Flit& fresh = flits_[index];
    if (!fill(d, fresh)) {
      flits_.free(index);
      return false;
    }
    d.unacknowledged += fresh.acknowledged;
  }
  const Flit& flit = flits_[index];
  const Femtoseconds begin = occupy(d, flit.bytes);
  const Femtoseconds took = d.busy_until - begin;
  ++s.flits;
  const bool hit = corrupted(d, flit.bytes); // drawn for every transmission
  if (hit || d.doomed) {
    s.replay += took;
    doom(direction, d.replay, flits_, index);
  } else {
    const Femtoseconds payload = links_[d.link].rate.time(std::uint64_t{16} * flit.chunks);
    s.payload += payload;
    (flit.acknowledged > 0 ? s.headers : s.control) += took - payload;
    events_.push(d.busy_until + options.latency, flit_landed, direction, index);
  }
  if (has_work(d)) set_wake(direction);
  return false;
}

void Network::flit_arrived(DirectionId direction, std::uint32_t index) {
  const Flit flit = flits_[index];
  flits_.free(index);
  if (flit.control != kNone) take_control(direction, flit.control);
  if (flit.acknowledged > 0) owe_ack(direction, flit.acknowledged);
  const auto& forward = nodes_[directions_[direction].to].options.forward;
  for (Queue messages = flit.messages; !messages.empty();) {
    const std::uint32_t packet = messages.pop(packets_);
    const bool here = packets_[packet].to == directions_[direction].to;
    arrived(direction, packet, !here && forward ? now_ + forward->latency : now_);
  }
}

} // namespace umf::hw::link
