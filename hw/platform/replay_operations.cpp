#include "hw/platform/replay_tenant.h"

#include "model/base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

/// From records to operations: which bytes of which tensors, at which addresses.
namespace umf::hw {

namespace {

/// Stops at the highest value: a grid that large is no "not recorded".
std::uint64_t product(const std::array<std::uint32_t, 3>& dims) {
  const std::uint64_t plane = std::uint64_t{dims[0]} * dims[1];
  std::uint64_t all = 0;
  return __builtin_mul_overflow(plane, dims[2], &all) ? UINT64_MAX : all;
}

std::int64_t measured(const std::optional<std::int64_t>& start,
                      const std::optional<std::int64_t>& end) {
  return start && end ? *end - *start : -1;
}

void use_once(std::vector<stream::TensorId>& tensors, stream::TensorId id) {
  if (std::find(tensors.begin(), tensors.end(), id) == tensors.end()) tensors.push_back(id);
}

} // namespace

void ReplayTenant::take(stream::Tensor&& tensor) {
  // No number: a weight placed before the run, or what an earlier repetition left.
  if (const auto id = numbers_.declare(tensor)) add(*id, std::move(tensor));
}

void ReplayTenant::add(TensorId id, stream::Tensor&& tensor) {
  tensor.id = id;
  tensors_[id].tensor = std::move(tensor);
}

void ReplayTenant::take(const stream::Free& free) {
  if (free.length) return free_part(free);
  if (const auto id = numbers_.free(free.tensor)) die(*id);
}

void ReplayTenant::free_part(const stream::Free& free) {
  const auto id = numbers_.find(free.tensor);
  if (!id) return;
  TensorState& tensor = tensors_.at(*id);
  const std::uint64_t length = free.length->count, bytes = tensor.tensor.bytes.count;
  const auto refuse = [&](const std::string& fault) {
    throw UserError(fmt::format("a free of {} bytes from byte {} on of tensor {}{}", length,
                                free.offset, in_quotes(tensor.tensor.name), fault));
  };
  if (free.offset > bytes || length > bytes - free.offset)
    refuse(fmt::format(", which has {}; expected a range inside it", bytes));
  if (!tensor.frees.add({free.offset, free.offset + length}, tensor.users, machine_.next_operation))
    refuse(", some of which were freed before; expected each byte freed once");
  numbers_.freed_in_part(free.tensor);
  reclaim(*id, tensor);
}

void ReplayTenant::refuse_freed(const OperationRow& row, TensorId id, std::uint64_t offset,
                                std::uint64_t length) const {
  const TensorState& tensor = tensors_.at(id);
  if (!tensor.frees.meets({offset, offset + length})) return;
  throw UserError(fmt::format("operation {} {} touches bytes {}..{} of tensor {}, some of which "
                              "the trace has freed; expected bytes that are alive",
                              row.id, in_quotes(*row.name), offset, offset + length,
                              in_quotes(tensor.tensor.name)));
}

/// Between repetitions weights and KV cache stay what and where they are; the rest is made
/// anew, like a framework that ends a step.
void ReplayTenant::bury_what_the_trace_left() {
  for (const TensorId id : numbers_.end_repetition(config_.clear_cache != ClearCache::never))
    die(id);
}

stream::TensorId ReplayTenant::number_of(TensorId in_trace, const OperationRow& row) const {
  const auto number = numbers_.find(in_trace);
  if (!number)
    throw UserError(fmt::format("operation {} {} uses tensor {}, which no record declares; "
                                "expected a tensor record before it",
                                row.id, in_quotes(*row.name), in_trace));
  return *number;
}

std::shared_ptr<const std::string> ReplayTenant::intern(std::string&& name) {
  auto& shared = names_[name];
  if (!shared) shared = std::make_shared<const std::string>(std::move(name));
  return shared;
}

void ReplayTenant::take(stream::Kernel&& kernel) {
  Pending pending;
  OperationRow& row = pending.row;
  row.id = kernel.id;
  row.name = intern(std::move(kernel.name));
  row.stream = kernel.stream;
  row.phase = kernel.phase;
  row.layer = kernel.layer;
  row.measured_ns = measured(kernel.start_ns, kernel.end_ns);
  row.flops = kernel.flops;
  row.unknown = kernel.accesses.empty() && kernel.flops <= 0;
  double inferred = 0, all = 0;
  for (auto& access : kernel.accesses) {
    access.tensor = number_of(access.tensor, row);
    const auto bytes = static_cast<double>(stream::moved_bytes(access).count);
    all += bytes;
    if (access.rule != stream::Rule::recorded) inferred += bytes;
    use_once(pending.tensors, access.tensor);
    if (tensors_.at(access.tensor).frees.none()) continue;
    each_range(access, [&](std::uint64_t offset, std::uint64_t length) {
      refuse_freed(row, access.tensor, offset, length);
    });
  }
  row.inferred_share = all > 0 ? inferred / all : 0.0;
  ++result_.totals.kernels;
  result_.totals.unknown_kernels += row.unknown ? 1 : 0;

  pending.gpu = gpu_of(kernel.stream.device);
  Operation& operation = pending.operation;
  operation.kind = Operation::Kind::kernel;
  operation.launch = kernel.launch;
  operation.flops = kernel.flops;
  operation.flops_dtype = kernel.flops_dtype;
  operation.blocks = product(kernel.grid);
  operation.threads_per_block = product(kernel.block);
  operation.registers_per_thread = kernel.registers_per_thread;
  operation.shared_memory = kernel.shared_memory;
  pending.accesses = std::move(kernel.accesses);
  issue(std::move(pending), {kernel.issue_ns,
                             kernel.start_ns,
                             cost_of(platform_.scenario().gpu.launch, kernel.launch),
                             {}});
}

void ReplayTenant::take(stream::Copy&& copy) {
  Pending pending;
  const bool memset = copy.kind == stream::CopyKind::memset;
  pending.row.id = copy.id;
  pending.row.kind = memset ? Operation::Kind::memset : Operation::Kind::copy;
  pending.row.name = intern(std::string(stream::name_of(copy.kind)));
  pending.row.stream = copy.stream;
  pending.row.measured_ns = measured(copy.start_ns, copy.end_ns);
  pending.row.unknown = !copy.bytes;
  ++(memset ? result_.totals.memsets : result_.totals.copies);
  pending.gpu = gpu_of(copy.stream.device);
  pending.operation.kind = pending.row.kind;
  pending.copy = copy.kind;
  pending.copy_bytes = copy.bytes.value_or(Bytes{0}).count;
  const auto named = [&](const std::optional<TensorId>& in_trace) {
    std::optional<TensorId> id;
    if (in_trace) id = number_of(*in_trace, pending.row);
    if (id) use_once(pending.tensors, *id);
    return id;
  };
  pending.source = named(copy.source);
  pending.destination = named(copy.destination);
  if (pending.copy_bytes > 0) {
    const CopySides sides = sides_of(copy.kind);
    if (sides.from_device && pending.source)
      refuse_freed(pending.row, *pending.source, 0, pending.copy_bytes);
    if (sides.to_device && pending.destination)
      refuse_freed(pending.row, *pending.destination, 0, pending.copy_bytes);
    if (sides.from_device && !pending.source) pending.source = scratch(pending, 0);
    if (sides.to_device && !pending.destination) pending.destination = scratch(pending, 1);
  }
  issue(std::move(pending), {copy.issue_ns,
                             copy.start_ns,
                             cost_of(platform_.scenario().gpu.launch, pending.operation.launch),
                             {}});
}

/// Addresses are found when the operation is ready to run, so that ranges of tensors that
/// died before are in use again.
void ReplayTenant::build_accesses(Pending& pending) {
  if (pending.operation.kind != Operation::Kind::kernel) return build_copy(pending);
  for (const auto& access : pending.accesses)
    add_access(pending, live(access.tensor, pending.gpu), access);
}

void ReplayTenant::add_access(Pending& pending, TensorState& tensor, const stream::Access& access) {
  if (!access.addresses.empty())
    throw UserError(fmt::format("kernel {} {} lists raw addresses, which burst resolution cannot "
                                "replay; expected byte ranges or block indices",
                                pending.row.id, in_quotes(*pending.row.name)));
  each_range(access, [&](std::uint64_t offset, std::uint64_t length) {
    add_range(pending, tensor, offset, length, access.write, true);
  });
}

void ReplayTenant::add_range(Pending& pending, TensorState& tensor, std::uint64_t offset,
                             std::uint64_t length, bool write, bool cached) {
  if (length == 0) return;
  if (offset > tensor.tensor.bytes.count || length > tensor.tensor.bytes.count - offset)
    throw UserError(fmt::format("operation {} {} touches bytes {}..{} of tensor {}, which has {}; "
                                "expected a range inside it",
                                pending.row.id, in_quotes(*pending.row.name), offset,
                                offset + length, in_quotes(tensor.tensor.name),
                                tensor.tensor.bytes.count));
  guard(pending, tensor, write);
  if (shared(tensor)) return add_shared(pending, tensor, offset, length, write, cached);
  if (write && tensor.group != nullptr) note_write(tensor, offset, length);
  auto& brain = platform_.brain(pending.gpu);
  const auto& entry = brain.space().at(tensor.tensor.id);
  brain.reserve(entry.base + offset, {length}, write);
  if (!tensor.touched) {
    tensor.touched = true;
    if (!write) { // made elsewhere: what the L2 holds of this range belongs to a dead tensor
      stale_.clear();
      auto& gpu = platform_.gpu(pending.gpu);
      gpu.l2().invalidate({entry.base, entry.base + entry.pages * brain.space().page().count},
                          stale_);
      gpu.write_back(stale_);
    }
  }
  pending.operation.accesses.push_back({entry.base + offset, {length}, write, cached});
}

/// S5: what lies in the region of weights is read only from its first read on, if it is locked.
void ReplayTenant::guard(const Pending& pending, TensorState& tensor, bool write) const {
  if (memory::region_of(tensor.tensor.role) != memory::Region::weight) return;
  if (write && tensor.sealed && platform_.scenario().scheduler.weight_region_lock)
    throw UserError(fmt::format("operation {} {} writes {} {}, which has been read: the region of "
                                "weights is locked; expected scheduler.weight_region_lock off "
                                "(reload while it is read), or a tensor of its own for what is new",
                                pending.row.id, in_quotes(*pending.row.name),
                                stream::name_of(tensor.tensor.role),
                                in_quotes(tensor.tensor.name)));
  if (!write && pending.row.kind == Operation::Kind::kernel) tensor.sealed = true;
}

/// Declares the tensor on first use.
ReplayTenant::TensorState& ReplayTenant::live(TensorId id, std::uint32_t gpu) {
  TensorState& tensor = tensors_.at(id);
  if (!tensor.declared) {
    platform_.brain(gpu).declare(tensor.tensor);
    tensor.declared = true;
    tensor.gpu = gpu;
    reclaim(id, tensor);
  }
  if (tensor.gpu != gpu)
    throw UserError(fmt::format("tensor {} is used on two devices, which needs peer access; "
                                "expected a tensor for each device",
                                in_quotes(tensor.tensor.name)));
  return tensor;
}

/// Copies of profiler traces name no tensors: they work on a buffer of their own.
stream::TensorId ReplayTenant::scratch(const Pending& pending, std::uint32_t which) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 48;
  if (pending.copy_bytes > kMost)
    throw UserError(fmt::format("copy {} moves {} B, expected at most {} B", pending.row.id,
                                pending.copy_bytes, kMost));
  auto [id, fresh] = numbers_.scratch(pending.row.stream, which, {pending.copy_bytes});
  if (fresh) add(id, std::move(*fresh));
  return id;
}

void ReplayTenant::build_copy(Pending& pending) {
  const std::uint64_t bytes = pending.copy_bytes;
  if (bytes == 0) return;
  const CopySides sides = sides_of(pending.copy);
  const bool memset = pending.copy == stream::CopyKind::memset;
  const auto device_side = [&](TensorId id, bool write) {
    add_range(pending, live(id, pending.gpu), 0, bytes, write, memset);
  };
  const auto host_side = [&](bool write) {
    const int tier = platform_.host_tier(pending.gpu);
    if (tier < 0) {
      ++result_.totals.skipped_host_side;
      return;
    }
    const Bytes capacity = platform_.tiers()[static_cast<std::size_t>(tier)].spec->capacity();
    if (bytes > capacity.count)
      throw UserError(fmt::format("copy {} does not fit: it needs {} B of host memory, which has "
                                  "{} B; expected a larger capacity",
                                  pending.row.id, bytes, capacity.count));
    pending.operation.accesses.push_back(
        {physical_address(static_cast<std::uint16_t>(tier), 0), {bytes}, write, false});
  };
  if (sides.from_host) host_side(false);
  if (sides.from_device) device_side(*pending.source, false);
  if (sides.to_host) host_side(true);
  if (sides.to_device) device_side(*pending.destination, true);
  if (memset) return;
  result_.totals.copy_side_bytes += bytes * pending.operation.accesses.size();
}

/// The L2 drops the sectors that hold nothing alive, with what died beside these bytes before.
void ReplayTenant::reclaim(TensorId id, TensorState& tensor) {
  for (; tensor.declared && tensor.frees.due() != nullptr; tensor.frees.take_effect()) {
    if (shared(tensor)) continue; // others may use the bytes: they go with the last of them
    auto& brain = platform_.brain(tensor.gpu);
    const std::uint64_t begin = brain.space().at(id).base + tensor.frees.due()->begin;
    const Bytes length{tensor.frees.due()->size()};
    if (brain.busy(begin, length)) { // when the command is done
      waiting_release_.insert(id);
      return;
    }
    platform_.gpu(tensor.gpu).l2().discard(brain.reclaim(begin, length));
  }
}

void ReplayTenant::die(TensorId id) {
  tensors_.at(id).dead = true;
  release_if_dead(id);
}

void ReplayTenant::release_user(TensorId id, OpIndex operation) {
  TensorState& tensor = tensors_.at(id);
  --tensor.users;
  tensor.frees.done(operation);
  if (!tensor.dead) reclaim(id, tensor);
  release_if_dead(id);
}

void ReplayTenant::release_if_dead(TensorId id) {
  const auto it = tensors_.find(id);
  if (it == tensors_.end() || !it->second.dead || it->second.users > 0) return;
  TensorState& tensor = it->second;
  if (tensor.declared && !let_go(tensor)) { // its pages are moving: when the command is done
    waiting_release_.insert(id);
    return;
  }
  tensors_.erase(it);
}

void ReplayTenant::command_done() {
  const auto waiting = std::exchange(waiting_release_, {});
  for (const TensorId id : waiting) {
    const auto it = tensors_.find(id);
    if (it == tensors_.end()) continue;
    if (!it->second.dead) reclaim(id, it->second);
    release_if_dead(id);
  }
}

} // namespace umf::hw
