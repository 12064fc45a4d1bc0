#include "hw/link/network.h"

#include "model/base/error.h"
#include "model/base/random.h"

#include <algorithm>
#include <bit>
#include <cmath>

/// One direction of a link: what waits for it, what may go, the wire.
namespace umf::hw::link {

namespace {
constexpr unsigned kAll = (1U << kKinds) - 1;
constexpr std::uint32_t kHeader = 16;    ///< bytes after which a switch knows where a packet goes
constexpr std::int64_t kTurnBytes = 256; ///< of a port of weight 1
} // namespace

void Network::enqueue(DirectionId direction, std::uint32_t source, std::uint32_t index) {
  Direction& d = directions_[direction];
  Packet& packet = packets_[index];
  packet.order = ++order_;
  d.queues[source][link::index(packet.kind)].push(packets_, index);
  ++d.queued[source];
  ++d.waiting;
  kick(direction);
}

/// To be pumped once this event has had all its effects, unless it wakes by itself.
void Network::kick(DirectionId direction) {
  Direction& d = directions_[direction];
  if (d.wake_set || d.kicked) return;
  d.kicked = true;
  to_pump_.push_back(direction);
}

bool Network::has_work(const Direction& d) const {
  return d.waiting > 0 || d.any_due || d.chunks > 0 || (!d.replay.empty() && !d.doomed);
}

void Network::set_wake(DirectionId direction) {
  Direction& d = directions_[direction];
  if (d.wake_set) return;
  d.wake_set = true;
  events_.push(d.busy_until, wake_up, direction);
}

/// Sends what it can; the wire is taken once it returns, or nothing may go.
void Network::pump(DirectionId direction) {
  Direction& d = directions_[direction];
  const bool flits = links_[d.link].options.framing != Framing::packets;
  while (has_work(d)) {
    if (d.busy_until > now_ || sleeping(d)) return set_wake(direction);
    const bool sent = flits ? send_flit(direction)
                            : (d.any_due && send_control(direction)) || send_packet(direction);
    if (!sent) return;
  }
}

/// ASPM L1: after so long without traffic in either direction the link has to be woken.
bool Network::sleeping(Direction& d) {
  Link& link = links_[d.link];
  if (link.options.idle_before_sleep.count == 0) return false;
  const bool asleep = now_ - link.active > link.options.idle_before_sleep;
  link.active = std::max(link.active, now_);
  if (!asleep) return false;
  ++d.statistics.wakes;
  d.busy_until = now_ + link.options.wake_time;
  Direction& back = directions_[id(directions_, d) ^ 1];
  back.busy_until = std::max(back.busy_until, d.busy_until);
  link.active = d.busy_until;
  return true;
}

/// The oldest packet of a source that the ordering rules and its credits let go.
std::uint32_t Network::candidate(const Direction& d, std::uint32_t source, unsigned kinds,
                                 bool& no_credit) const {
  const bool ordered = links_[d.link].options.ordered;
  const auto& queues = d.queues[source];
  const Queue& posted = queues[link::index(Kind::posted)];
  const std::uint64_t first_posted = posted.empty() ? UINT64_MAX : packets_[posted.head].order;
  std::uint32_t best = kNone;
  std::uint64_t oldest = UINT64_MAX;
  for (std::size_t k = 0; k < kKinds; ++k) {
    if ((kinds >> k & 1U) == 0 || queues[k].empty()) continue;
    const Packet& packet = packets_[queues[k].head];
    if (packet.order > oldest) continue;
    if (ordered && k != link::index(Kind::posted) && !packet.relaxed && first_posted < packet.order)
      continue; // neither reads nor completions pass posted writes
    const Credit& room = links_[d.link].options.credits[k];
    if ((room.headers != 0 && d.headers[k] < 1) ||
        (room.data != 0 && d.data[k] < packet.data_units())) {
      no_credit = true;
      continue;
    }
    best = queues[k].head;
    oldest = packet.order;
  }
  return best;
}

std::uint64_t Network::weight_of(const Direction& d, std::uint32_t source) const {
  const auto& forward = nodes_[d.from].options.forward;
  if (source == 0 || !forward || forward->arbitration == Arbitration::round_robin) return 0;
  return source - 1 < forward->weights.size() ? forward->weights[source - 1] : 1;
}

std::uint32_t Network::choose(Direction& d, unsigned kinds) {
  const auto sources = static_cast<std::uint32_t>(d.queues.size());
  bool no_credit = false;
  for (std::uint32_t k = 0; k < sources; ++k) {
    std::uint32_t source = d.turn + k;
    if (source >= sources) source -= sources;
    if (d.queued[source] == 0) continue;
    const std::uint32_t packet = candidate(d, source, kinds, no_credit);
    if (packet == kNone) continue;
    take(d, source, packet);
    return packet;
  }
  if (no_credit && kinds == kAll) blocked(d, false);
  return kNone;
}

/// Out of its queue, against credits; the turn moves on.
void Network::take(Direction& d, std::uint32_t source, std::uint32_t index) {
  Packet& packet = packets_[index];
  const std::size_t k = link::index(packet.kind);
  d.queues[source][k].pop(packets_);
  --d.queued[source];
  --d.waiting;
  const LinkOptions& options = links_[d.link].options;
  if (options.credits[k].headers != 0) --d.headers[k];
  if (options.credits[k].data != 0) d.data[k] -= packet.data_units();
  ensure(d.headers[k] >= 0 && d.data[k] >= 0, "link: more credits used than there are");

  const auto next = static_cast<std::uint32_t>(source + 1 == d.queues.size() ? 0 : source + 1);
  const auto weight = static_cast<std::int64_t>(weight_of(d, source));
  if (weight == 0) {
    d.turn = next;
  } else {
    if (source != d.turn || d.budget <= 0) d.budget = weight * kTurnBytes;
    d.budget -= packet.payload + options.overhead[k];
    d.turn = d.budget > 0 ? source : next;
  }
  unblocked(d);
  ++d.statistics.packets_in;
  d.statistics.payload_in += packet.payload;
  ++packets_sent_;
  free_buffer(packet);
  packet.came_by = kNone;
  if (packet.service != kNone) {
    const std::uint32_t service = packet.service;
    packet.service = kNone;
    leave_service(d.from, service);
  }
  // Its node may have been waiting for room in this queue.
  if (source == 0 && nodes_[d.from].options.requester) to_issue_.push_back(d.from);
}

void Network::blocked(Direction& d, bool for_buffer) {
  if (d.blocked_from != kNever) return;
  d.blocked_from = now_;
  d.for_buffer = for_buffer;
}

void Network::unblocked(Direction& d) {
  if (d.blocked_from == kNever) return;
  (d.for_buffer ? d.statistics.no_buffer : d.statistics.no_credit) += now_ - d.blocked_from;
  d.blocked_from = kNever;
}

/// Takes the wire for so many bytes, behind a skip ordered set if one is due.
Femtoseconds Network::occupy(Direction& d, std::uint64_t bytes) {
  Link& link = links_[d.link];
  Femtoseconds begin = std::max(now_, d.busy_until);
  if (link.options.skip_interval.count != 0 && begin >= d.skip_due) {
    // Those of idle times went unnoticed.
    if (d.skip_due + link.options.skip_interval >= begin) {
      begin += link.options.skip_time;
      d.statistics.skip += link.options.skip_time;
      d.skip_due += link.options.skip_interval;
    } else {
      d.skip_due = begin + link.options.skip_interval;
    }
  }
  d.busy_until = begin + link.rate.time(bytes);
  link.active = std::max(link.active, d.busy_until);
  return begin;
}

/// Whether this transmission arrives with an error.
bool Network::corrupted(Direction& d, std::uint64_t bytes) {
  const Link& link = links_[d.link];
  const std::uint64_t number = d.sent++;
  if (link.options.bit_error_rate <= 0) return false;
  const double chance =
      -std::expm1(static_cast<double>(8 * bytes) * std::log1p(-link.options.bit_error_rate));
  const std::uint64_t way = id(directions_, d) & 1;
  const std::uint64_t drawn =
      mix_bits(mix_bits(link.errors_key + way) ^ (number * 0x9E3779B97F4A7C15U));
  return static_cast<double>(drawn >> 11) * 0x1p-53 < chance;
}

bool Network::send_packet(DirectionId direction) {
  Direction& d = directions_[direction];
  const LinkOptions& options = links_[d.link].options;
  std::uint32_t index = kNone;
  const bool again = !d.doomed && !d.replay.empty();
  if (d.held) return false;
  if (again) {
    index = d.replay.pop(packets_);
  } else {
    if (d.waiting == 0) return false;
    if (d.unacknowledged >= options.replay_buffer) {
      blocked(d, true);
      return false;
    }
    index = choose(d, kAll);
    if (index == kNone) return false;
  }
  const Packet& packet = packets_[index];
  const std::uint64_t bytes =
      options.overhead[link::index(packet.kind)] + (std::uint64_t{packet.payload} + 3) / 4 * 4;
  const Femtoseconds begin = occupy(d, bytes);
  const Femtoseconds took = d.busy_until - begin;
  if (!again) d.unacknowledged += bytes;
  if (again) ++d.statistics.replays;
  const bool hit = corrupted(d, bytes); // drawn for every transmission
  if (hit || d.doomed) {
    d.statistics.replay += took;
    doom(direction, d.replay, packets_, index);
  } else {
    const Femtoseconds payload = links_[d.link].rate.time(packet.payload);
    d.statistics.payload += payload;
    d.statistics.headers += took - payload;
    land(direction, index, begin, bytes);
  }
  if (has_work(d)) set_wake(direction);
  return false; // the wire is taken
}

/// When its last byte, or for a switch as much as it needs, is at the other end.
void Network::land(DirectionId direction, std::uint32_t index, Femtoseconds begin,
                   std::uint64_t bytes) {
  const Direction& d = directions_[direction];
  const Link& link = links_[d.link];
  Packet& packet = packets_[index];
  const Femtoseconds tail = d.busy_until + link.options.latency;
  const auto& forward = nodes_[d.to].options.forward;
  packet.ready = tail;
  if (forward && packet.to != d.to) {
    // Cut-through: no sooner than its outgoing wire can send without running dry.
    const Direction& out = directions_[route(d.to, packet, direction)];
    const Femtoseconds head =
        begin + link.rate.time(std::min<std::uint64_t>(bytes, kHeader)) + link.options.latency;
    const Femtoseconds dry = tail - links_[out.link].rate.time(bytes);
    packet.ready = std::max(head, dry) + forward->latency;
  }
  events_.push(std::min(tail, packet.ready), landed, direction, index | bytes << 32);
}

} // namespace umf::hw::link
