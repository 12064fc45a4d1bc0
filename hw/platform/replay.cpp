#include "hw/platform/replay.h"

#include "model/base/error.h"
#include "model/base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

/// Order: what may start when. What an operation touches is in replay_operations.cpp.
namespace umf::hw {

Replay::Replay(Platform& platform, stream::Source& source,
               const std::vector<InitialTensor>& initial, Row row)
    : platform_(platform), source_(source), row_(std::move(row)) {
  for (std::uint32_t g = 0; g < platform.gpus(); ++g) {
    platform.gpu(g).on_done([this, g](OperationResult result) { done(g, std::move(result)); });
    platform.scheduler(g).on_command_done([this] {
      const auto waiting = std::exchange(waiting_release_, {});
      for (const auto id : waiting)
        release_if_dead(id);
    });
  }
  for (const auto& [tensor, device] : initial) {
    const std::uint32_t gpu = gpu_of(device);
    take(stream::Tensor(tensor));
    live(tensor.id, gpu);
    platform_.brain(gpu).preload(tensor.id);
    tensors_.at(tensor.id).touched = true;
  }
}

void Replay::run() {
  fill();
  platform_.run();
  if (interrupted_) return;
  ensure(exhausted_ && pending_.empty(),
         "replay ended with operations left: a dependency never met");
}

void Replay::fill() {
  while (!exhausted_ && pending_.size() < platform_.scenario().replay.read_ahead)
    if (!read_one()) exhausted_ = true;
}

bool Replay::read_one() {
  stream::Record record;
  if (!source_.next(record)) return false;
  std::visit(
      [this](auto&& value) {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, stream::Tensor> || std::is_same_v<T, stream::Kernel> ||
                      std::is_same_v<T, stream::Copy> || std::is_same_v<T, stream::Sync> ||
                      std::is_same_v<T, stream::Free>)
          take(std::move(value));
        else if constexpr (std::is_same_v<T, stream::Request>)
          ++totals_.requests;
      },
      std::move(record));
  return true;
}

/// Devices of a trace are numbered as the profiler liked; GPUs in order of appearance.
std::uint32_t Replay::gpu_of(std::int32_t device) {
  const auto known = gpu_of_device_.find(device);
  if (known != gpu_of_device_.end()) return known->second;
  const auto gpu = static_cast<std::uint32_t>(gpu_of_device_.size());
  if (gpu >= platform_.gpus())
    throw UserError(
        fmt::format("the trace uses more devices than the scenario has: device {} comes "
                    "after {}; expected \"gpus\": {} or more",
                    device, platform_.gpus(), gpu + 1));
  gpu_of_device_.emplace(device, gpu);
  return gpu;
}

std::shared_ptr<const std::string> Replay::intern(std::string&& name) {
  auto& shared = names_[name];
  if (!shared) shared = std::make_shared<const std::string>(std::move(name));
  return shared;
}

void Replay::take(const stream::Sync& sync) {
  const auto wait_for = [&](std::set<OpIndex>& waits) {
    for (const auto& [id, queue] : queues_) {
      const bool awaited = sync.awaited ? id == *sync.awaited : id.device == sync.waiting.device;
      if (awaited && queue.last != 0 && !is_done(queue.last)) waits.insert(queue.last);
    }
  };
  if (!sync.host_waits) {
    wait_for(queue_of(sync.waiting).extra_waits);
    return;
  }
  // The host stands still: whatever it issues later, on any stream, comes after.
  std::set<OpIndex> waits;
  wait_for(waits);
  for (auto& [id, queue] : queues_)
    queue.extra_waits.insert(waits.begin(), waits.end());
  host_waits_.insert(waits.begin(), waits.end());
}

/// A stream met for the first time stands behind whatever the host has waited for.
Replay::Queue& Replay::queue_of(const stream::StreamId& id) {
  const auto [queue, fresh] = queues_.try_emplace(id);
  if (fresh) queue->second.extra_waits = host_waits_;
  return queue->second;
}

void Replay::issue(Pending&& pending) {
  const OpIndex index = next_index_++;
  Queue& queue = queue_of(pending.row.stream);
  std::set<OpIndex> waits = std::exchange(queue.extra_waits, {});
  if (queue.last != 0) waits.insert(queue.last);
  queue.last = index;

  pending.operation.id = index;
  for (const stream::TensorId id : pending.tensors) {
    const auto tensor = tensors_.find(id);
    if (tensor == tensors_.end())
      throw UserError(fmt::format("operation {} {} uses tensor {}, which no record declares; "
                                  "expected a tensor record before it",
                                  pending.row.id, in_quotes(*pending.row.name), id));
    ++tensor->second.users;
  }
  Pending& stored = pending_.emplace(index, std::move(pending)).first->second;
  for (const OpIndex other : waits) {
    const auto it = pending_.find(other);
    if (it == pending_.end()) continue;
    it->second.dependents.push_back(index);
    ++stored.waits_for;
  }
  if (stored.waits_for == 0) make_ready(index);
}

void Replay::make_ready(OpIndex index) {
  Pending& pending = pending_.at(index);
  build_accesses(pending);
  platform_.gpu(pending.gpu).submit(std::move(pending.operation));
}

void Replay::done(std::uint32_t, OperationResult&& result) {
  const auto it = pending_.find(result.id);
  ensure(it != pending_.end(), "completion of an operation that is not pending");
  Pending pending = std::move(it->second);
  pending_.erase(it);
  host_waits_.erase(result.id);
  for (const stream::TensorId id : pending.tensors)
    release_user(id);
  totals_.operations_energy += result.energy;
  pending.row.gpu = pending.gpu;
  pending.row.result = std::move(result);
  row_(std::move(pending.row));
  for (const OpIndex other : pending.dependents)
    if (--pending_.at(other).waits_for == 0) make_ready(other);
  if (poll_ && (++finished_ & 63) == 0 && !poll_(finished_)) {
    interrupted_ = true;
    sc_core::sc_stop();
    return;
  }
  fill();
}

void Replay::release_user(stream::TensorId id) {
  --tensors_.at(id).users;
  release_if_dead(id);
}

void Replay::release_if_dead(stream::TensorId id) {
  const auto it = tensors_.find(id);
  if (it == tensors_.end() || !it->second.dead || it->second.users > 0) return;
  TensorState& tensor = it->second;
  if (tensor.declared) {
    auto& brain = platform_.brain(tensor.gpu);
    if (brain.busy(id)) { // its pages are moving: when the command is done
      waiting_release_.insert(id);
      return;
    }
    const auto& entry = brain.space().at(id);
    const std::uint64_t length = entry.pages * brain.space().page().count;
    platform_.gpu(tensor.gpu).l2().discard({entry.base, entry.base + length});
    brain.release(id);
  }
  tensors_.erase(it);
}

} // namespace umf::hw
