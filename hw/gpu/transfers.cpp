#include "hw/gpu/gpu.h"

#include "model/base/error.h"

#include <algorithm>
#include <utility>

/// How an operation's bytes move: pieces through the window, to the L2 or to the scheduler.
namespace umf::hw {

namespace {
/// The pieces of an access follow each other. Never 0; no two at a time have the same.
std::uint64_t stream_of(std::uint64_t gpu, std::uint64_t resident, std::uint64_t access) {
  return (((gpu << 24) + resident) << 24) + access + 1;
}

bool is_write(Segment::Kind kind) {
  return kind == Segment::Kind::store || kind == Segment::Kind::write_back ||
         kind == Segment::Kind::bypass_write;
}
} // namespace

/// Issues pieces of an access, in order, as long as its part of the window has room.
void Gpu::issue(std::uint32_t id, std::uint32_t access) {
  const std::uint64_t sharers = std::max<std::size_t>(residents_[id].accesses.size() - 1, 1);
  const std::uint64_t room = std::max<std::uint64_t>(residents_[id].window_bytes / sharers, 1);
  while (true) {
    AccessRun& run = residents_[id].accesses[access];
    if (run.at == run.segments.size()) return;
    if (run.outstanding > 0 && run.outstanding >= room) return;
    const Segment segment = run.segments[run.at];
    if (segment.after > residents_[id].issued) return; // what it makes room for is yet to come
    const std::uint64_t bytes = std::min(segment.range.size() - run.within, residents_[id].piece);
    const std::uint64_t address = segment.range.begin + run.within;
    run.within += bytes;
    if (run.within == segment.range.size()) {
      ++run.at;
      run.within = 0;
    }
    run.outstanding += bytes;
    const bool posted = run.posted;
    if (!posted) residents_[id].issued += bytes;
    issue_piece(id, access, segment, address, bytes);
    const auto write_backs = static_cast<std::uint32_t>(residents_[id].accesses.size() - 1);
    if (!posted && write_backs != access) issue(id, write_backs);
  }
}

void Gpu::issue_piece(std::uint32_t id, std::uint32_t access, const Segment& segment,
                      std::uint64_t address, std::uint64_t bytes) {
  const Segment::Kind kind = segment.kind;
  std::uint32_t slot;
  if (free_slots_.empty()) {
    slot = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  slots_[slot] = {};
  slots_[slot].resident = id;
  slots_[slot].access = access;
  slots_[slot].bytes = bytes;
  if (id != kLoose) residents_[id].accesses[access].slots.push_back(slot);
  if (kind == Segment::Kind::hit || kind == Segment::Kind::store)
    start_local(slot, residents_[id], is_write(kind));
  else
    send(slot, segment, address);
}

/// Between SMs and L2 only.
void Gpu::start_local(std::uint32_t slot, Resident& resident, bool write) {
  // A store leaves its thread once it is issued. In a kernel that loads too, the loads hold the
  // window for both.
  const Femtoseconds held = !write               ? hit_latency_ + resident.turnover
                            : resident.loads > 0 ? Femtoseconds{0}
                                                 : config_.store_issue + resident.turnover;
  std::vector<Hop> hops{{fabric_, write ? config_.l2.store_use : 1.0}};
  if (held.count > 0 && resident.refills > 0)
    hops.push_back({resident.window, held.seconds() * resident.refills});
  slots_[slot].flow = clock_.start(static_cast<double>(slots_[slot].bytes), hops, Urgency::demand,
                                   write, *this, slot, resident.operation.weight);
}

void Gpu::send(std::uint32_t slot, const Segment& segment, std::uint64_t address) {
  Slot& s = slots_[slot];
  const Segment::Kind kind = segment.kind;
  const bool write = is_write(kind);
  Payload& payload = pool_.acquire(write, address, {s.bytes});
  s.payload = &payload;
  Burst& burst = burst_of(payload);
  burst.token = slot;
  burst.gpu = index_;
  burst.row.bytes = static_cast<double>(segment.range.size());
  if (s.resident != kLoose) {
    if (!residents_[s.resident].accesses[s.access].posted)
      burst.row.stream = stream_of(index_, s.resident, s.access);
    burst.weight = residents_[s.resident].operation.weight;
    burst.step = residents_[s.resident].operation.step;
  }
  switch (kind) {
  case Segment::Kind::write_back:
    burst.purpose = Purpose::write_back;
    break;
  case Segment::Kind::bypass_read:
  case Segment::Kind::bypass_write:
    burst.purpose = Purpose::copy;
    burst.add_window(copy_window_, {});
    burst.add_hop(copy_engine_, 1.0);
    break;
  default:
    burst.purpose = Purpose::demand_read;
    if (residents_[s.resident].refills > 0)
      burst.add_window(residents_[s.resident].window, residents_[s.resident].turnover,
                       residents_[s.resident].refills);
    burst.load_share = residents_[s.resident].loads;
    burst.add_hop(fabric_, config_.l2.fill_use);
    burst.add_latency(Cause::l2_fabric, hit_latency_);
    burst.above_l2_miss = hit_latency_.count;
    burst.add_latency(Cause::l2_fabric, config_.l2.miss_latency);
    break;
  }
  push(write, payload);
}

void Gpu::push(bool write, Payload& payload) {
  if (blocked_[write]) {
    waiting_[write].push_back(&payload);
    return;
  }
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  auto& socket = write ? writes : reads;
  blocked_[write] = socket->nb_transport_fw(payload, phase, delay) == tlm::TLM_ACCEPTED;
}

tlm::tlm_sync_enum Gpu::bw_reads(int, Payload& payload, tlm::tlm_phase& phase,
                                 sc_core::sc_time& delay) {
  return response(false, payload, phase, delay);
}

tlm::tlm_sync_enum Gpu::bw_writes(int, Payload& payload, tlm::tlm_phase& phase,
                                  sc_core::sc_time& delay) {
  return response(true, payload, phase, delay);
}

tlm::tlm_sync_enum Gpu::response(bool write, Payload& payload, tlm::tlm_phase& phase,
                                 sc_core::sc_time& delay) {
  if (phase == tlm::END_REQ) { // the scheduler's queue has room again
    blocked_[write] = false;
    while (!blocked_[write] && !waiting_[write].empty()) {
      Payload* next = waiting_[write].front();
      waiting_[write].pop_front();
      push(write, *next);
    }
    return tlm::TLM_ACCEPTED;
  }
  ensure(phase == tlm::BEGIN_RESP && payload.is_response_ok(), "gpu: bad response");
  account(sim_now());
  const Burst& burst = burst_of(payload);
  const auto slot = static_cast<std::uint32_t>(burst.token);
  slots_[slot].latency = burst.latency;
  slots_[slot].payload = nullptr;
  const bool posted = burst.purpose == Purpose::write_back;
  const std::uint32_t owner = slots_[slot].resident;
  (owner == kLoose ? energy_.loose : residents_[owner].result.energy) += burst.energy;
  payload.release();
  drained(slot, posted ? sim_now() : sim_now() + from_sc(delay));
  return tlm::TLM_COMPLETED;
}

void Gpu::flow_ended(std::uint64_t tag, ResourceId) {
  const auto slot = static_cast<std::uint32_t>(tag);
  slots_[slot].flow = kNoId;
  slots_[slot].latency[static_cast<std::size_t>(Cause::l2_fabric)] = hit_latency_.count;
  drained(slot, sim_now() + hit_latency_);
}

/// The last byte has left the slowest hop: the next piece may follow while this one still
/// travels the rest of its path.
void Gpu::drained(std::uint32_t slot, Femtoseconds arrives) {
  Slot& s = slots_[slot];
  s.answered = true;
  if (s.resident == kLoose) {
    --loose_;
    free_slots_.push_back(slot);
    return;
  }
  const std::uint32_t id = s.resident, access = s.access;
  residents_[id].accesses[access].outstanding -= s.bytes;
  alarms_.at(arrives, {Alarm::Kind::arrived, slot});
  arm();
  issue(id, access);
}

void Gpu::arrived(std::uint32_t slot) {
  const Slot s = slots_[slot];
  Resident& resident = residents_[s.resident];
  AccessRun& run = resident.accesses[s.access];
  run.slots.erase(std::find(run.slots.begin(), run.slots.end(), slot));
  run.left -= s.bytes;
  if (!run.posted) resident.arrived += s.bytes;
  free_slots_.push_back(slot);
  pump_compute(s.resident);
  finish_if_done(s.resident);
}

void Gpu::write_back(const std::vector<Segment>& segments) {
  for (const Segment& segment : segments)
    for (std::uint64_t at = segment.range.begin; at < segment.range.end; at += max_burst_) {
      ++loose_;
      issue_piece(kLoose, 0, segment, at, std::min(max_burst_, segment.range.end - at));
    }
}

} // namespace umf::hw
