#include "hw/platform/bound.h"

#include "hw/platform/bound_windows.h"
#include "hw/platform/peaks.h"
#include "hw/platform/trace_walk.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace umf::hw {

namespace {

/// Rounding of sums of doubles; the bound stays one.
constexpr double kCare = 1 - 1e-9;

constexpr std::array<const char*, kBoundParts> kNames = {"launch", "arithmetic", "l2",
                                                         "memory", "links",      "copies"};
constexpr std::array<const char*, kBoundParts> kWhat = {
    "launches and start-up, one after the other",
    "arithmetic at its peak",
    "bytes between SMs and L2",
    "distinct bytes beyond the L2 over all memories at once, or beyond L2 and SRAM over the others",
    "distinct bytes beyond L2, HBM and SRAM, over all links at once",
    "copies"};

struct Machine {
  explicit Machine(const Scenario& scenario, const Peaks& peaks, std::uint32_t gpu) {
    const WayPeak near = peaks.near(gpu), far = peaks.far(gpu);
    memory = {near.read + far.read, near.write + far.write, near.both + far.both};
    links = far;
    host = peaks.host(gpu);
    filling = peaks.hbm(gpu).read + far.read;
    if (filling <= 0) filling = memory.read; // SRAM alone
    near_capacity = peaks.near_capacity(gpu).count;
    sram_capacity = peaks.sram_capacity(gpu).count;
    const L2Config& l2 = scenario.gpu.l2;
    l2_capacity = l2.capacity.count;
    const double slices = l2.slices * l2.slice_bandwidth.value;
    fabric = std::min(slices, l2.crossbar_bandwidth.value) * scenario.gpu.clock.value;
    hit = (Femtoseconds{(l2.near_latency.count + l2.far_latency.count) / 2}).seconds();
  }
  WayPeak memory, links, host;
  std::uint64_t near_capacity = 0, sram_capacity = 0, l2_capacity = 0;
  double filling = 0; ///< bytes a second from all memories but SRAM
  double fabric = 0, hit = 0;
};

std::uint64_t beyond(std::uint64_t bytes, std::uint64_t capacity) {
  return bytes - std::min(bytes, capacity);
}

double time_of(std::uint64_t bytes, double rate) {
  return bytes == 0 ? 0.0 : static_cast<double>(bytes) / rate;
}

/// First pass: which tensors are written, and how many streams a GPU has.
class Survey : public WalkListener {
public:
  explicit Survey(std::uint32_t gpus) : queues_(gpus) {}
  void born(const stream::Tensor&, std::uint32_t, bool) override {}
  void dead(stream::TensorId, std::uint32_t) override {}
  void step(const WalkStep& step) override {
    queues_[step.gpu].insert(step.queue);
    for (const auto& range : step.ranges)
      if (range.write) written_.insert(range.tensor);
  }
  bool alone(std::uint32_t gpu) const { return queues_[gpu].size() <= 1; }
  bool written(stream::TensorId tensor) const { return written_.count(tensor) > 0; }

private:
  std::vector<std::set<std::uint32_t>> queues_; ///< by GPU
  std::set<stream::TensorId> written_;
};

/// Second pass: the sums.
class Account : public WalkListener {
public:
  Account(const Scenario& scenario, std::uint32_t tenants, const Survey& survey)
      : scenario_(scenario), survey_(survey), ends_(tenants) {
    const Peaks peaks(scenario);
    for (std::uint32_t g = 0; g < scenario.general.gpus; ++g)
      machines_.emplace_back(scenario, peaks, g);
    whole_.resize(machines_.size());
  }

  void born(const stream::Tensor& tensor, std::uint32_t, bool initial) override {
    if (initial) initial_.insert(tensor.id);
  }
  void dead(stream::TensorId tensor, std::uint32_t) override {
    old_.erase(tensor);
    for (auto& [queue, windows] : windows_)
      windows.forget(tensor);
  }

  void step(const WalkStep& step) override {
    const Machine& machine = machines_[step.gpu];
    const BoundCosts costs = costs_of(step, machine);
    chain(step, costs);
    windows_of(step, machine).add(costs, reads_, writes_);
    BoundCosts& whole = whole_[step.gpu];
    for (const std::size_t p : {kArithmetic, kL2}) {
      whole.seconds[p] += costs.seconds[p];
      whole.amount[p] += costs.amount[p];
    }
  }

  Bound bound() {
    Bound best = made("chain", longest_);
    for (auto& [queue, windows] : windows_) {
      windows.finish();
      best.link_bytes = std::max(best.link_bytes, windows.link_bytes());
      prefer(best, made("windows", windows.best()));
    }
    for (const BoundCosts& whole : whole_)
      for (const std::size_t p : {kArithmetic, kL2}) {
        BoundCosts one;
        one.seconds[p] = whole.seconds[p];
        one.amount[p] = whole.amount[p];
        prefer(best, made("whole", one));
      }
    return best;
  }

private:
  /// What the operation cannot do without, each resource alone.
  BoundCosts costs_of(const WalkStep& step, const Machine& machine) {
    const Operation& operation = step.operation;
    const GpuConfig& gpu = scenario_.gpu;
    const bool copy = operation.kind == Operation::Kind::copy;
    distinct(step);
    BoundCosts costs;
    costs.seconds[kLaunch] = cost_of(gpu.launch, operation.launch).seconds() +
                             (copy ? gpu.copy_engine.setup : gpu.launch.kernel_overhead).seconds();
    std::uint64_t cached = 0, past = 0;
    double use = 0;
    for (const auto& range : step.ranges) {
      (range.cached ? cached : past) += range.length;
      if (range.cached)
        use += static_cast<double>(range.length) * (range.write ? gpu.l2.store_use : 1.0);
    }
    if (cached > 0) costs.seconds[kLaunch] += machine.hit;
    if (operation.flops > 0) {
      costs.amount[kArithmetic] = operation.flops;
      costs.seconds[kArithmetic] =
          operation.flops /
          (peak_of(gpu.compute, operation.flops_dtype).value * gpu.compute.efficiency);
    }
    costs.amount[kL2] = static_cast<double>(cached);
    costs.seconds[kL2] = use / machine.fabric;
    memory(costs, machine);
    if (copy) copies(costs, step, past, machine);
    return costs;
  }

  void copies(BoundCosts& costs, const WalkStep& step, std::uint64_t device_sides,
              const Machine& machine) const {
    const bool host = machine.host.both > 0; // else its side is not simulated
    const std::uint64_t read = host ? step.host_read.count : 0;
    const std::uint64_t written = host ? step.host_written.count : 0;
    const std::uint64_t sides = device_sides + read + written;
    costs.amount[kCopies] = static_cast<double>(sides);
    costs.seconds[kCopies] =
        std::max({time_of(sides, scenario_.gpu.copy_engine.bandwidth.value),
                  time_of(read, machine.host.read), time_of(written, machine.host.write)});
  }

  /// Its own distinct bytes: reads of what it does not write, and writes.
  void distinct(const WalkStep& step) {
    reads_.clear();
    writes_.clear();
    const bool alone = survey_.alone(step.gpu);
    std::set<stream::TensorId> written;
    for (const auto& range : step.ranges)
      if (range.write) written.insert(range.tensor);
    own_read_ = own_old_ = own_written_ = 0;
    seen_.clear();
    for (const auto& range : step.ranges) {
      const memory::Range bytes{range.offset, range.offset + range.length};
      if (range.write) {
        own_written_ += seen_[range.tensor].insert(bytes);
        writes_.push_back({range.tensor, bytes, 0});
      } else if (written.count(range.tensor) == 0) {
        const bool initial = initial_.count(range.tensor) > 0;
        const std::uint64_t old = initial ? bytes.size() : old_[range.tensor].covered(bytes);
        const std::uint64_t fresh = seen_[range.tensor].insert(bytes);
        own_read_ += fresh;
        own_old_ += beyond(fresh, bytes.size() - old);
        if (alone || (initial && !survey_.written(range.tensor)))
          reads_.push_back({range.tensor, bytes, bytes.size() - old});
      }
    }
    for (const auto& range : step.ranges)
      if (initial_.count(range.tensor) == 0)
        old_[range.tensor].insert({range.offset, range.offset + range.length});
  }

  void memory(BoundCosts& costs, const Machine& machine) const {
    const L2Config& l2 = scenario_.gpu.l2;
    const auto dirty = static_cast<std::uint64_t>(
        std::ceil(static_cast<double>(l2.capacity.count) * l2.dirty_limit));
    const std::uint64_t read = beyond(own_read_, machine.l2_capacity);
    const std::uint64_t written = beyond(own_written_, dirty);
    costs.amount[kMemory] = static_cast<double>(read + written);
    costs.seconds[kMemory] =
        std::max({time_of(read, machine.memory.read), time_of(written, machine.memory.write),
                  time_of(read + written, machine.memory.both)});
    const std::uint64_t filling = beyond(own_old_, machine.l2_capacity + machine.sram_capacity);
    if (const double seconds = time_of(filling, machine.filling);
        seconds > costs.seconds[kMemory]) {
      costs.amount[kMemory] = static_cast<double>(filling);
      costs.seconds[kMemory] = seconds;
    }
    const std::uint64_t far = beyond(own_old_, machine.l2_capacity + machine.near_capacity);
    if (far == 0 || machine.links.read <= 0) return;
    costs.amount[kLinks] = static_cast<double>(far);
    costs.seconds[kLinks] = time_of(far, machine.links.read);
  }

  void chain(const WalkStep& step, const BoundCosts& costs) {
    auto& ends = ends_[step.tenant];
    BoundCosts end;
    for (const std::uint64_t before : step.waits)
      if (ends[before].total() > end.total()) end = ends[before];
    end.add_operation(costs);
    if (end.total() > longest_.total()) longest_ = end;
    if (ends.size() <= step.number) ends.resize(step.number + 1);
    ends[step.number] = end;
  }

  BoundWindows& windows_of(const WalkStep& step, const Machine& machine) {
    const auto it = windows_.find(step.queue);
    if (it != windows_.end()) return it->second;
    return windows_
        .emplace(step.queue,
                 BoundWindows({machine.l2_capacity, machine.sram_capacity, machine.near_capacity,
                               machine.memory.read, machine.filling, machine.links.read,
                               survey_.alone(step.gpu)}))
        .first->second;
  }

  static Bound made(const char* argument, const BoundCosts& costs) {
    Bound bound;
    bound.argument = argument;
    bound.time = {static_cast<std::int64_t>(costs.total() * kCare * 1e15)};
    for (std::size_t p = 0; p < kBoundParts; ++p)
      if (costs.seconds[p] > 0)
        bound.parts.push_back({kNames[p], kWhat[p], costs.seconds[p], costs.amount[p],
                               costs.amount[p] / costs.seconds[p]});
    std::stable_sort(bound.parts.begin(), bound.parts.end(),
                     [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
    return bound;
  }

  static void prefer(Bound& best, Bound other) {
    other.link_bytes = best.link_bytes;
    if (other.time > best.time) best = std::move(other);
  }

  const Scenario& scenario_;
  const Survey& survey_;
  std::vector<Machine> machines_;
  std::vector<std::vector<BoundCosts>> ends_; ///< of chains, by tenant and operation
  BoundCosts longest_;
  std::vector<BoundCosts> whole_;                 ///< by GPU
  std::map<std::uint32_t, BoundWindows> windows_; ///< by queue
  std::set<stream::TensorId> initial_;
  std::map<stream::TensorId, memory::RangeSet> seen_; ///< of the operation
  std::vector<BoundWindows::Piece> reads_, writes_;
  std::map<stream::TensorId, memory::RangeSet> old_; ///< touched before, of what is not initial
  std::uint64_t own_read_ = 0, own_written_ = 0;
  std::uint64_t own_old_ = 0; ///< of own_read_: lay somewhere before
};

} // namespace

Bound lower_bound(const Scenario& scenario, const std::vector<TenantSetup>& tenants) {
  Survey survey(scenario.general.gpus);
  walk_traces(tenants, scenario.replay, scenario.general.gpus, survey);
  Account account(scenario, static_cast<std::uint32_t>(tenants.size()), survey);
  walk_traces(tenants, scenario.replay, scenario.general.gpus, account);
  return account.bound();
}

} // namespace umf::hw
