#include "hw/line/line_dram.h"

#include "hw/fabric/flow_clock.h"
#include "model/base/error.h"

#include <algorithm>
#include <bit>

namespace umf::hw {

using dram::Cycle;
using dram::kNever;

LineDram::LineDram(sc_core::sc_module_name module, const Options& options)
    : sc_core::sc_module(module), dram_(options.dram), media_latency_(options.media_latency),
      port_latency_(options.port_latency), clock_(options.dram.timings.clock.count),
      clocks_per_fs_(1.0 / static_cast<double>(clock_)),
      access_bits_(static_cast<std::uint32_t>(std::countr_zero(dram_.access_bytes()))) {
  in.register_nb_transport_fw(this, &LineDram::nb_transport_fw);
  slots_.reserve(4096);
  sc_core::sc_spawn_options method;
  method.spawn_method();
  method.dont_initialize();
  method.set_sensitivity(&due_);
  sc_core::sc_spawn([this] { wake(); }, "wake", &method);
}

/// The clock that begins at or after this time.
Cycle LineDram::cycle_of(Femtoseconds time) {
  if (time.count != last_time_) {
    last_time_ = time.count;
    // The quotient rounded up, by way of a product that is off by one at most.
    Cycle cycle = static_cast<Cycle>(static_cast<double>(time.count) * clocks_per_fs_);
    while (cycle * clock_ < time.count)
      ++cycle;
    while ((cycle - 1) * clock_ >= time.count)
      --cycle;
    last_cycle_ = cycle;
  }
  return last_cycle_;
}

tlm::tlm_sync_enum LineDram::nb_transport_fw(int upstream, tlm::tlm_generic_payload& payload,
                                             tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_COMPLETED; // END_RESP: nothing left to do
  const Femtoseconds at = sim_now() + from_sc(delay);
  Cycle now = cycle_of(at);
  const std::uint64_t begin = payload.get_address() >> access_bits_;
  const std::uint64_t length = std::max<std::uint64_t>(1, payload.get_data_length());
  const std::uint64_t end = ((payload.get_address() + length - 1) >> access_bits_) + 1;

  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const std::uint32_t index = free_.back();
  free_.pop_back();
  Slot& slot = slots_[index];
  slot.payload = &payload;
  slot.address = begin << access_bits_;
  slot.left = static_cast<std::uint32_t>(end - begin);
  slot.open = 0;
  slot.arrived = now;
  slot.done = now;
  slot.upstream = upstream;
  slot.write = payload.is_write();

  std::uint32_t unit = 0;
  Cycle data = kNever;
  bool taken = take(index, now, unit, data);
  if (!taken && in.size() == 1) {
    // Nobody else can send before this one is taken: the clock in which it is can be found now.
    do {
      now = std::max(now + 1, dram_.room(unit));
      dram_.advance(unit, now);
      taken = take(index, now, unit, data);
    } while (!taken);
    delay += to_sc(dram_.time(now) - at);
  }
  if (!taken) {
    payload.acquire();
    blocked_.push_back({index, unit});
    plan();
    return tlm::TLM_ACCEPTED;
  }
  if (slot.write) {
    slot.done = now;
    delay = to_sc(dram_.time(now) - sim_now());
    finish(index);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    return tlm::TLM_COMPLETED;
  }
  payload.acquire();
  wake_by(data);
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

/// Moves accesses of a request into the queues; false: `unit` has no room for the next. No data of
/// those moved is there before `data`.
bool LineDram::take(std::uint32_t index, Cycle now, std::uint32_t& unit, Cycle& data) {
  Slot& slot = slots_[index];
  while (slot.left > 0) {
    dram::Location where = dram_.locate(slot.address);
    std::uint32_t count = std::min(slot.left, dram_.together(slot.address));
    bool done = false;
    for (; count > 0; --count, ++where.column) {
      const dram::Offer offer = dram_.offer(where, slot.write, index, now);
      if (offer == dram::Offer::refused) break;
      done |= offer == dram::Offer::done;
      slot.address += dram_.access_bytes();
      --slot.left;
      ++slot.open;
    }
    data = std::min(data, done ? now + 1 : dram_.channel(where.unit).next_data());
    if (count == 0) continue;
    unit = where.unit;
    return false;
  }
  slot.taken = now;
  return true;
}

void LineDram::wake() {
  const Cycle now = cycle_of(from_sc(sc_core::sc_time_stamp()));
  wake_at_ = kNever;
  if (!blocked_.empty()) retry(now);
  if (dram_.horizon() <= now) dram_.advance(now);
  deliver();
  plan();
}

void LineDram::retry(Cycle now) {
  retried_.swap(blocked_);
  blocked_.clear();
  for (Blocked& waits : retried_) {
    Cycle data = kNever; // plan() looks at all units afterwards
    if (!take(waits.slot, now, waits.unit, data)) {
      blocked_.push_back(waits);
      continue;
    }
    Slot& slot = slots_[waits.slot];
    if (slot.write) {
      slot.done = now;
      respond(waits.slot);
      continue;
    }
    tlm::tlm_phase phase = tlm::END_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    in[static_cast<unsigned>(slot.upstream)]->nb_transport_bw(*slot.payload, phase, delay);
  }
  retried_.clear();
}

/// Answers what the units have completed, ahead of time.
void LineDram::deliver() {
  while (!dram_.done().empty()) {
    arrived_.swap(dram_.done());
    for (const dram::Done& done : arrived_) {
      if (done.write) continue; // answered when it was queued
      Slot& slot = slots_[done.tag];
      slot.done = std::max(slot.done, done.at);
      if (--slot.open == 0 && slot.left == 0) respond(done.tag);
    }
    arrived_.clear();
  }
}

void LineDram::respond(std::uint32_t index) {
  const Slot& slot = slots_[index];
  tlm::tlm_generic_payload& payload = *slot.payload;
  const Femtoseconds answer =
      dram_.time(slot.done) + (slot.write ? Femtoseconds{} : media_latency_ + port_latency_);
  const auto upstream = static_cast<unsigned>(slot.upstream);
  finish(index);
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay = to_sc(answer - sim_now());
  const auto status = in[upstream]->nb_transport_bw(payload, phase, delay);
  ensure(status == tlm::TLM_COMPLETED, "line tier: response not taken at once");
  payload.release();
}

void LineDram::finish(std::uint32_t index) {
  const Slot& slot = slots_[index];
  const std::uint64_t bytes = slot.payload->get_data_length();
  ++statistics_.transactions;
  if (slot.write) {
    statistics_.write_bytes += bytes;
  } else {
    statistics_.read_bytes += bytes;
    const auto picoseconds = [&](Cycle clocks, Femtoseconds latency) {
      return static_cast<std::uint64_t>((clocks * clock_ + latency.count) / 1000);
    };
    const std::uint64_t media = picoseconds(slot.done - slot.taken, media_latency_);
    if (slot.taken == slot.arrived && port_latency_.count == 0) {
      at_once_.add(media); // most reads find room: one count serves both boundaries
    } else {
      statistics_.media.add(media);
      statistics_.port.add(picoseconds(slot.done - slot.arrived, media_latency_ + port_latency_));
    }
  }
  slots_[index].payload = nullptr;
  free_.push_back(index);
}

LineStatistics LineDram::statistics() const {
  LineStatistics all = statistics_;
  all.media.merge(at_once_);
  all.port.merge(at_once_);
  return all;
}

/// The next instant at which a request can be taken or an answer is due.
void LineDram::plan() {
  Cycle at = dram_.done().empty() ? dram_.horizon() : 0; // asked again while it was answered
  for (const Blocked& waits : blocked_)
    at = std::min(at, dram_.room(waits.unit));
  if (at != kNever) wake_by(at);
}

void LineDram::wake_by(Cycle at) {
  if (at >= wake_at_) return;
  wake_at_ = at;
  due_.notify(to_sc({std::max<std::int64_t>(0, at * clock_ - sim_now().count)}));
}

Femtoseconds LineDram::drain() {
  while (!dram_.idle())
    dram_.advance(dram_.next() + 1);
  return dram_.time(dram_.statistics().sum.last_data);
}

} // namespace umf::hw
