#include "hw/platform/replay_tenant.h"

#include "model/base/json.h"
#include "model/policy/future.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

/// Order: what may start when. What an operation touches is in replay_operations.cpp.
namespace umf::hw {

namespace {
constexpr std::uint64_t kCleared = 0; ///< what is released when a cache is cleared: no operation
}

ReplayTenant::ReplayTenant(ReplayMachine& machine, const TenantSetup& setup, std::uint32_t index)
    : machine_(machine), platform_(machine.platform), config_(platform_.scenario().replay),
      setup_(setup), index_(index), host_(config_.mode), numbers_(index, machine.tenants) {
  naming_the_trace([&] {
    for (auto& [tensor, device, whole] : setup_.initial) {
      if (numbers_.find(tensor.id)) continue; // declared twice
      const std::uint32_t gpu = gpu_of(device);
      const TensorId in_trace = tensor.id;
      take(std::move(tensor));
      const TensorId id = *numbers_.find(in_trace);
      TensorState& state = tensors_.at(id);
      if (whole) state.group = machine_.processes.join(index_, setup_.model, state.tensor, gpu, id);
      if (state.group != nullptr &&
          state.group->of(index_).id != id) { // another process has loaded it
        state.declared = state.touched = true;
        state.gpu = gpu;
        continue;
      }
      live(id, gpu).touched = true;
      if (whole) platform_.brain(gpu).preload(id);
    }
    for (const InitialStretch& stretch : setup_.touched) {
      const TensorId id = numbers_.find(stretch.tensor).value();
      scheduler::Brain& brain = platform_.brain(tensors_.at(id).gpu);
      brain.reserve(brain.space().at(id).base + stretch.offset.count, stretch.length);
    }
  });
  setup_.initial.clear();
  setup_.touched.clear();
}

/// Faults that only the replay finds do not know which file they are of.
template <class Act>
void ReplayTenant::naming_the_trace(Act act) {
  try {
    act();
  } catch (const UserError& error) {
    if (!error.place().text().empty()) throw;
    throw UserError(setup_.place, error.what());
  }
}

void ReplayTenant::start() {
  begin_repetition();
  go_on();
}

void ReplayTenant::begin_repetition() {
  began_ = sim_now();
  host_.begin(began_);
  host_waits_.clear();
  queues_.clear(); // all of it is done
  source_ = setup_.open();
}

/// True when another one begins.
bool ReplayTenant::end_repetition() {
  source_.reset();
  result_.repeats.push_back(sim_now() - began_);
  result_.totals.host = host_.oddities();
  machine_.processes.look();
  if (result_.repeats.size() == config_.repeat) return false;
  bury_what_the_trace_left();
  if (config_.clear_cache != ClearCache::never) {
    clear_cache();
    return false;
  }
  begin_repetition();
  return true;
}

/// S10. What the tenant issued is done; the next repetition begins when the host has cleared up.
void ReplayTenant::clear_cache() {
  for (const auto& [device, gpu] : gpu_of_device_)
    platform_.scheduler(gpu).forget_translations();
  machine_.processes.cleared(config_.clear_cache_cost);
  machine_.release_at(sim_now() + config_.clear_cache_cost, index_, kCleared);
}

bool ReplayTenant::finished() const {
  return result_.repeats.size() == config_.repeat && pending_.empty();
}

void ReplayTenant::go_on() {
  naming_the_trace([this] {
    do
      fill();
    while (source_ == nullptr && pending_.empty() && !finished() && end_repetition());
  });
}

void ReplayTenant::fill() {
  while (source_ != nullptr && standing_.empty() && pending_.size() < config_.read_ahead)
    if (!read_one()) source_.reset();
}

bool ReplayTenant::read_one() {
  stream::Record record;
  if (!source_->next(record)) return false;
  std::visit(
      [this](auto&& value) {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, stream::Tensor> || std::is_same_v<T, stream::Kernel> ||
                      std::is_same_v<T, stream::Copy> || std::is_same_v<T, stream::Sync> ||
                      std::is_same_v<T, stream::Free>)
          take(std::move(value));
        else if constexpr (std::is_same_v<T, stream::Request>)
          ++result_.totals.requests;
      },
      std::move(record));
  return true;
}

/// Devices of a trace are numbered as the profiler liked; GPUs in order of appearance.
std::uint32_t ReplayTenant::gpu_of(std::int32_t device) {
  const auto known = gpu_of_device_.find(device);
  if (known != gpu_of_device_.end()) return known->second;
  const std::uint32_t first = config_.gpu_of(index_);
  const std::uint32_t gpu = first + static_cast<std::uint32_t>(gpu_of_device_.size());
  if (gpu >= platform_.gpus())
    throw UserError(fmt::format(
        "the trace uses more devices than the scenario has for it: device {} is number {} and "
        "would be GPU {} of {}; expected \"gpus\": {} or more{}",
        device, gpu_of_device_.size() + 1, gpu, platform_.gpus(), gpu + 1,
        first == 0 ? "" : ", or a lower GPU in replay.tenant_gpus"));
  gpu_of_device_.emplace(device, gpu);
  result_.gpus = static_cast<std::uint32_t>(gpu_of_device_.size());
  return gpu;
}

void ReplayTenant::take(const stream::Sync& sync) {
  std::set<OpIndex> waits;
  Femtoseconds done{};
  if (!sync.host_waits) queue_of(sync.waiting); // a stream that waits has been seen
  for (const auto& [id, queue] : queues_) {
    const bool awaited = sync.awaited ? id == *sync.awaited : id.device == sync.waiting.device;
    if (!awaited) continue;
    if (queue.last != 0 && !is_done(queue.last)) waits.insert(queue.last);
    done = std::max(done, queue.last_end);
  }
  if (sync.host_waits)
    host_waits(waits, done, sync);
  else
    queue_of(sync.waiting).extra_waits.insert(waits.begin(), waits.end());
}

/// The host stands still: whatever it issues later, on any stream, comes after. A hybrid one
/// is not read any further before it goes on, since its later times depend on when.
void ReplayTenant::host_waits(const std::set<OpIndex>& awaited, Femtoseconds done,
                              const stream::Sync& sync) {
  if (config_.mode == ReplayMode::hybrid) {
    host_.reach_wait(sync.start_ns);
    if (awaited.empty()) return host_.resume(done, sync.end_ns);
    standing_ = awaited;
    standing_end_ns_ = sync.end_ns;
    return;
  }
  for (auto& [id, queue] : queues_)
    queue.extra_waits.insert(awaited.begin(), awaited.end());
  host_waits_.insert(awaited.begin(), awaited.end());
}

/// A stream met for the first time stands behind whatever the host has waited for.
ReplayTenant::Queue& ReplayTenant::queue_of(const stream::StreamId& id) {
  const auto [queue, fresh] = queues_.try_emplace(id);
  if (fresh) queue->second.extra_waits = host_waits_;
  return queue->second;
}

void ReplayTenant::issue(Pending&& pending, HostClock::Times times) {
  const OpIndex index = machine_.next_operation++;
  Queue& queue = queue_of(pending.row.stream);
  std::set<OpIndex> waits = std::exchange(queue.extra_waits, {});
  if (queue.last != 0) waits.insert(queue.last);
  queue.last = index;
  times.stream_before = queue.released;
  const Femtoseconds release = host_.issue(times);
  queue.released = std::max(queue.released.value_or(release), release);

  pending.row.tenant = index_;
  pending.row.repeat = static_cast<std::uint32_t>(result_.repeats.size());
  pending.operation.id = index;
  pending.operation.tenant = index_;
  pending.operation.step = policy::Future::step_of(issued_++, index_, machine_.tenants);
  pending.operation.weight = config_.weight_of(index_);
  for (const TensorId id : pending.tensors)
    ++tensors_.at(id).users;
  Pending& stored = pending_.emplace(index, std::move(pending)).first->second;
  for (const OpIndex other : waits) {
    const auto it = pending_.find(other);
    if (it == pending_.end()) continue;
    it->second.dependents.push_back(index);
    ++stored.waits_for;
  }
  if (release > sim_now()) {
    ++stored.waits_for;
    machine_.release_at(release, index_, index);
  }
  if (stored.waits_for == 0) make_ready(index);
}

void ReplayTenant::release(OpIndex index) {
  if (index == kCleared) {
    begin_repetition();
    return go_on();
  }
  naming_the_trace([&] {
    if (--pending_.at(index).waits_for == 0) make_ready(index);
  });
}

void ReplayTenant::make_ready(OpIndex index) {
  Pending& pending = pending_.at(index);
  if (!pending.built) {
    build_accesses(pending);
    pending.built = true;
    if (!pending.copies.empty()) return copy_before(index, pending);
  }
  platform_.gpu(pending.gpu).submit(std::move(pending.operation));
}

void ReplayTenant::done(OperationResult&& result) {
  const auto it = pending_.find(result.id);
  ensure(it != pending_.end(), "completion of an operation that is not pending");
  Pending pending = std::move(it->second);
  pending_.erase(it);
  const Femtoseconds end = result.end;
  Queue& queue = queues_.at(pending.row.stream);
  queue.last_end = std::max(queue.last_end, end);
  host_waits_.erase(result.id);
  if (standing_.erase(result.id) > 0 && standing_.empty()) host_.resume(end, standing_end_ns_);
  for (const TensorId id : pending.tensors)
    release_user(id, result.id);
  result_.totals.operations_energy += result.energy;
  pending.row.gpu = pending.gpu;
  pending.row.result = std::move(result);
  machine_.row(std::move(pending.row));
  naming_the_trace([&] {
    for (const OpIndex other : pending.dependents)
      if (--pending_.at(other).waits_for == 0) make_ready(other);
  });
}

} // namespace umf::hw
