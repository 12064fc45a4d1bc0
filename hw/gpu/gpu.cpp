#include "hw/gpu/gpu.h"

#include "model/base/error.h"
#include "model/energy/energy.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

/// Life of an operation: launch, residence, completion. Transfers are in transfers.cpp.
namespace umf::hw {

namespace {
/// Simulated time is 64 bits of femtoseconds, some 2.5 hours.
constexpr double kLongestWork = 3600;
} // namespace

Gpu::Gpu(sc_core::sc_module_name module, const GpuConfig& config, Parts parts)
    : sc_core::sc_module(module), config_(config), clock_(parts.clock), pool_(parts.pool),
      scheduler_(parts.scheduler), index_(parts.index), max_burst_(parts.max_burst.count),
      l2_(config.l2) {
  const std::string prefix = "gpu" + std::to_string(index_) + ".";
  const double slices = config.l2.slices * config.l2.slice_bandwidth.value;
  const double per_clock = std::min(slices, config.l2.crossbar_bandwidth.value);
  fabric_ = clock_.add_resource(prefix + "l2", per_clock * config.clock.value, Cause::l2_fabric);
  copy_engine_ = clock_.add_resource(prefix + "copy_engine", config.copy_engine.bandwidth.value,
                                     Cause::link_bandwidth);
  copy_window_ = clock_.add_window(prefix + "copy_engine.window",
                                   static_cast<double>(config.copy_engine.bytes_in_flight.count));
  // Lines are spread evenly over both partitions.
  hit_latency_ = {(config.l2.near_latency.count + config.l2.far_latency.count) / 2};

  reads.register_nb_transport_bw(this, &Gpu::bw_reads);
  writes.register_nb_transport_bw(this, &Gpu::bw_writes);
  clock_.watch(*this);
  sc_core::sc_spawn_options options;
  options.spawn_method();
  options.dont_initialize();
  options.set_sensitivity(&alarm_);
  sc_core::sc_spawn([this] { clock_.guard([this] { tick(); }); }, "tick", &options);
}

void Gpu::submit(Operation operation) {
  account(sim_now());
  std::uint32_t id;
  if (free_residents_.empty()) {
    id = static_cast<std::uint32_t>(residents_.size());
    residents_.emplace_back();
  } else {
    id = free_residents_.back();
    free_residents_.pop_back();
  }
  Resident& resident = residents_[id];
  resident = {};
  resident.operation = std::move(operation);
  resident.result.id = resident.operation.id;
  resident.result.tenant = resident.operation.tenant;
  resident.result.ready = sim_now();
  ++launching_;
  const bool launched = resident.operation.fault.count == 0;
  const Femtoseconds cost =
      launched ? cost_of(config_.launch, resident.operation.launch) : Femtoseconds{};
  alarms_.at(sim_now() + cost, {Alarm::Kind::launched, id});
  arm();
}

void Gpu::arm() {
  Femtoseconds next = arithmetic_.next_end();
  if (!alarms_.empty()) next = std::min(next, alarms_.next());
  if (next.count == std::numeric_limits<std::int64_t>::max()) return;
  alarm_.cancel();
  alarm_.notify(to_sc(next - sim_now()));
}

void Gpu::tick() {
  const Femtoseconds now = sim_now();
  account(now);
  end_compute(now);
  while (!alarms_.empty() && alarms_.next() <= now) {
    const Alarm alarm = alarms_.take();
    switch (alarm.kind) {
    case Alarm::Kind::launched:
      become_resident(alarm.id);
      break;
    case Alarm::Kind::begin:
      begin(alarm.id);
      break;
    case Alarm::Kind::arrived:
      arrived(alarm.id);
      break;
    }
  }
  arm();
}

void Gpu::become_resident(std::uint32_t id) {
  --launching_;
  ++residents_in_use_;
  Resident& resident = residents_[id];
  resident.in_use = true;
  resident.starting = true;
  resident.result.start = sim_now();
  order_.push_back(id);
  const bool copy = resident.operation.kind == Operation::Kind::copy;
  const Femtoseconds overhead = copy ? config_.copy_engine.setup : config_.launch.kernel_overhead;
  alarms_.at(sim_now() + resident.operation.fault + overhead, {Alarm::Kind::begin, id});
}

namespace {

/// What is left of an SM's arithmetic when its blocks turn over: a block that ends leaves its share
/// idle until its successor has started. `seconds`: of the whole device's arithmetic.
double busy_share(const GpuConfig& config, const Occupancy& fit, const Operation& operation,
                  double seconds) {
  if (!fit.turns_over) return 1.0;
  const double resident =
      static_cast<double>(fit.resident_blocks) / static_cast<double>(fit.active_sms);
  const double block = seconds * config.sms / static_cast<double>(operation.blocks) * resident;
  return block / (block + config.block_turnover.seconds());
}

} // namespace

/// Reads' share of what the operation moves between L2 and memory; all, where that is nothing, and
/// 0 of one that reads nothing.
double Gpu::load_share(const Resident& resident) {
  if (resident.result.read.count == 0) return 0;
  std::uint64_t fills = 0, all = 0;
  for (const AccessRun& run : resident.accesses)
    for (const Segment& segment : run.segments) {
      using Kind = Segment::Kind;
      if (segment.kind == Kind::hit || segment.kind == Kind::store) continue;
      all += segment.range.size();
      if (segment.kind == Kind::fill) fills += segment.range.size();
    }
  return fills == 0 ? 1.0 : static_cast<double>(fills) / static_cast<double>(all);
}

/// Looks its accesses up in the L2 and sizes its window, pieces and arithmetic.
void Gpu::prepare(Resident& resident) {
  const Operation& operation = resident.operation;
  l2_.plan(operation.accesses, config_.compute.ranges_at_once, plan_, plan_write_backs_);
  resident.accesses.resize(plan_.size() + 1);
  for (std::size_t a = 0; a < plan_.size(); ++a)
    resident.accesses[a].segments = std::move(plan_[a]);
  resident.accesses.back().segments = plan_write_backs_;
  for (AccessRun& run : resident.accesses) {
    run.posted = &run == &resident.accesses.back();
    for (const Segment& segment : run.segments) {
      run.left += segment.range.size();
      using Kind = Segment::Kind;
      const bool to_tier = segment.kind != Kind::hit && segment.kind != Kind::store;
      if (to_tier) resident.result.dram += {segment.range.size()};
      if (run.posted) continue;
      const bool write = segment.kind == Kind::store || segment.kind == Kind::bypass_write;
      (write ? resident.result.written : resident.result.read) += {segment.range.size()};
    }
    if (!run.posted) resident.total += run.left;
  }

  resident.loads = load_share(resident);

  const Occupancy fit = occupancy(config_, operation);
  const bool copy = operation.kind == Operation::Kind::copy;
  if (!copy) {
    const Femtojoules moved =
        energy::of(resident.result.read + resident.result.written, config_.energy.l2);
    energy_.l2 += moved;
    resident.result.energy += moved;
  }
  resident.window_bytes = copy ? config_.copy_engine.bytes_in_flight.count : fit.in_flight.count;
  resident.turnover = fit.turnover;
  resident.refills = copy ? 1.0 : fit.refills;
  if (fit.turns_over && resident.loads > 0 && resident.result.written.count > 0)
    resident.turnover += config_.store_issue; // between a thread's loads and its end
  const std::string prefix = "gpu" + std::to_string(index_);
  resident.window =
      copy ? copy_window_
           : clock_.add_window(prefix + ".window", static_cast<double>(resident.window_bytes));
  const std::uint64_t tiles = config_.compute.overlap_tiles;
  resident.piece =
      std::min(max_burst_, std::max<std::uint64_t>((resident.total + tiles - 1) / tiles,
                                                   config_.compute.least_tile.count));
  if (operation.flops > 0) {
    const double rate =
        peak_of(config_.compute, operation.flops_dtype).value * config_.compute.efficiency;
    const double seconds = operation.flops / rate;
    if (seconds > kLongestWork)
      throw UserError("operation " + std::to_string(operation.id) + " in order of issue has " +
                      std::to_string(seconds) + " s of arithmetic, expected at most an hour");
    resident.work = seconds;
    const Femtojoules computed =
        energy::of(operation.flops, energy_of(config_.energy, operation.flops_dtype));
    energy_.compute += computed;
    resident.result.energy += computed;
    resident.part = static_cast<double>(fit.active_sms) / config_.sms *
                    busy_share(config_, fit, operation, seconds);
  }
}

void Gpu::begin(std::uint32_t id) {
  prepare(residents_[id]);
  residents_[id].starting = false;
  const auto count = static_cast<std::uint32_t>(residents_[id].accesses.size());
  for (std::uint32_t a = 0; a < count; ++a)
    issue(id, a);
  pump_compute(id);
  finish_if_done(id);
}

/// Hands over the arithmetic on whatever has arrived and has not been handed over yet.
void Gpu::pump_compute(std::uint32_t id) {
  Resident& resident = residents_[id];
  if (resident.work <= 0) return;
  const double share = resident.total == 0 ? 1.0
                                           : static_cast<double>(resident.arrived) /
                                                 static_cast<double>(resident.total);
  const double allowed = resident.work * share;
  const double chunk = allowed - resident.work_started;
  if (chunk <= 0) return;
  resident.work_started = allowed;
  resident.computing = true;
  arithmetic_.add(sim_now(), id, chunk, resident.part, resident.operation.weight);
}

void Gpu::end_compute(Femtoseconds now) {
  computed_.clear();
  arithmetic_.advance(now, computed_);
  for (const std::uint32_t id : computed_) {
    residents_[id].computing = false;
    finish_if_done(id);
  }
}

void Gpu::finish_if_done(std::uint32_t id) {
  Resident& resident = residents_[id];
  if (!resident.in_use || resident.starting || resident.computing) return;
  for (const AccessRun& run : resident.accesses)
    if (run.left > 0) return;
  if (resident.work_started < resident.work) return;

  account(sim_now());
  resident.result.end = sim_now();
  if (resident.window != copy_window_) clock_.remove_resource(resident.window);
  resident.in_use = false;
  --residents_in_use_;
  order_.erase(std::find(order_.begin(), order_.end(), id));
  const OperationResult result = resident.result;
  free_residents_.push_back(id);
  if (done_) done_(result);
}

void Gpu::account(Femtoseconds now) {
  if (now <= accounted_) return;
  clock_.observe(now);
  const Femtoseconds from = std::exchange(accounted_, now);
  Observer* observer = clock_.observer();
  if (observer == nullptr || now <= border_) return charge(now - from);
  const CauseLedger before = ledger_;
  charge(now - from);
  border_ = observer->charged(index_, from, now, before, ledger_);
}

void Gpu::charge(Femtoseconds span) {
  if (order_.empty()) {
    ledger_.add(span, launching_ > 0 ? Cause::launch : Cause::idle);
    return;
  }
  CauseShares all{};
  for (const std::uint32_t id : order_) {
    CauseShares own{};
    explain(residents_[id], own);
    double sum = std::accumulate(own.begin(), own.end(), 0.0);
    if (sum <= 0) own[static_cast<std::size_t>(Cause::scheduler)] = sum = 1;
    CauseLedger part;
    part.add(span, own);
    residents_[id].result.causes += part;
    if (order_.size() == 1) {
      ledger_ += part;
      return;
    }
    for (std::size_t c = 0; c < kCauses; ++c)
      all[c] += own[c] / sum;
  }
  ledger_.add(span, all);
}

/// What a resident operation is doing: computing if it can, else what its oldest
/// incomplete access waits for.
void Gpu::explain(const Resident& resident, CauseShares& shares) const {
  const auto one = [&](Cause cause) { shares[static_cast<std::size_t>(cause)] = 1.0; };
  if (resident.starting)
    return one(resident.operation.fault.count > 0 ? Cause::migration : Cause::launch);
  if (resident.computing) return one(Cause::compute);
  for (const AccessRun& run : resident.accesses) {
    if (run.left == 0) continue;
    if (run.slots.empty()) return one(Cause::scheduler); // held back by its queue
    return explain_slot(slots_[run.slots.front()], shares);
  }
}

void Gpu::explain_slot(const Slot& slot, CauseShares& shares) const {
  if (slot.answered) { // travelling the last stretch of its path
    for (std::size_t c = 0; c < kCauses; ++c)
      shares[c] = static_cast<double>(slot.latency[c]);
    return;
  }
  if (slot.payload != nullptr) return scheduler_.explain(*slot.payload, shares);
  const ResourceId limit = clock_.network().last_bottleneck(slot.flow);
  const Cause cause = clock_.is_window(limit) ? Cause::l2_fabric : clock_.cause_of(limit);
  shares[static_cast<std::size_t>(cause)] = 1.0;
}

} // namespace umf::hw
