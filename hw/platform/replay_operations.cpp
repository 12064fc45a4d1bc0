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
  const TensorId in_trace = tensor.id;
  if (numbers_.count(in_trace) == 0) numbers_.emplace(in_trace, add(std::move(tensor)));
  // else a weight placed before the run, or what an earlier repetition left
}

stream::TensorId ReplayTenant::add(stream::Tensor&& tensor) {
  const TensorId id = machine_.next_tensor++;
  if (id == 0) throw UserError("more than 2^32 tensors in one run, expected fewer repetitions");
  tensor.id = id;
  tensors_[id].tensor = std::move(tensor);
  return id;
}

void ReplayTenant::take(const stream::Free& free) {
  const auto number = numbers_.find(free.tensor);
  if (number == numbers_.end()) return;
  const TensorId id = number->second;
  numbers_.erase(number);
  die(id);
}

/// Between repetitions weights and KV cache stay what and where they are; the rest is made
/// anew, like a framework that ends a step.
void ReplayTenant::bury_what_the_trace_left() {
  std::vector<TensorId> dead;
  for (auto number = numbers_.begin(); number != numbers_.end();) {
    const auto& tensor = tensors_.at(number->second).tensor;
    if (memory::region_of(tensor.role) != memory::Region::activation) {
      ++number;
      continue;
    }
    dead.push_back(number->second);
    number = numbers_.erase(number);
  }
  std::sort(dead.begin(), dead.end());
  for (const TensorId id : dead)
    die(id);
}

stream::TensorId ReplayTenant::number_of(TensorId in_trace, const OperationRow& row) const {
  const auto number = numbers_.find(in_trace);
  if (number == numbers_.end())
    throw UserError(fmt::format("operation {} {} uses tensor {}, which no record declares; "
                                "expected a tensor record before it",
                                row.id, in_quotes(*row.name), in_trace));
  return number->second;
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
  const std::uint64_t moved = stream::moved_bytes(access).count;
  if (access.indices.empty()) {
    add_range(pending, tensor, access.offset, moved, access.write, true);
    return;
  }
  // Blocks, with neighbours joined; a fraction shortens each.
  const std::uint64_t block = access.block_bytes.count;
  std::vector<std::uint64_t> blocks = access.indices;
  std::sort(blocks.begin(), blocks.end());
  for (std::size_t i = 0; i < blocks.size();) {
    std::size_t end = i + 1;
    while (end < blocks.size() && blocks[end] <= blocks[end - 1] + 1 && access.fraction >= 1.0)
      ++end;
    const std::uint64_t length = access.fraction >= 1.0
                                     ? (blocks[end - 1] - blocks[i] + 1) * block
                                     : (moved + blocks.size() - 1) / blocks.size();
    add_range(pending, tensor, access.offset + blocks[i] * block, length, access.write, true);
    i = end;
  }
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
  auto& brain = platform_.brain(pending.gpu);
  const auto& entry = brain.space().at(tensor.tensor.id);
  brain.reserve(entry.base + offset, {length});
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

/// Declares the tensor on first use.
ReplayTenant::TensorState& ReplayTenant::live(TensorId id, std::uint32_t gpu) {
  TensorState& tensor = tensors_.at(id);
  if (!tensor.declared) {
    platform_.brain(gpu).declare(tensor.tensor);
    tensor.declared = true;
    tensor.gpu = gpu;
  }
  if (tensor.gpu != gpu)
    throw UserError(fmt::format("tensor {} is used on two devices, which needs peer access; "
                                "expected a tensor for each device",
                                in_quotes(tensor.tensor.name)));
  return tensor;
}

/// Copies of profiler traces name no tensors: they work on a buffer of their own, one a
/// stream and size class.
ReplayTenant::TensorState& ReplayTenant::scratch(const Pending& pending, std::uint64_t bytes,
                                                 std::uint32_t which) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 48;
  if (bytes > kMost)
    throw UserError(
        fmt::format("copy {} moves {} B, expected at most {} B", pending.row.id, bytes, kMost));
  const unsigned size_class = static_cast<unsigned>(std::bit_width(bytes - 1));
  const auto key = std::make_tuple(pending.row.stream, which, size_class);
  auto it = scratch_.find(key);
  if (it == scratch_.end()) {
    stream::Tensor tensor;
    tensor.name =
        fmt::format("scratch of stream {} (2^{} B)", pending.row.stream.stream, size_class);
    tensor.role = stream::Role::workspace;
    tensor.bytes = {std::uint64_t{1} << size_class};
    it = scratch_.emplace(key, add(std::move(tensor))).first;
  }
  return live(it->second, pending.gpu);
}

void ReplayTenant::build_copy(Pending& pending) {
  const std::uint64_t bytes = pending.copy_bytes;
  if (bytes == 0) return;
  using stream::CopyKind;
  const CopyKind kind = pending.copy;
  const bool memset = kind == CopyKind::memset;
  const bool from_host = kind == CopyKind::host_to_device || kind == CopyKind::host_to_host;
  const bool to_host = kind == CopyKind::device_to_host || kind == CopyKind::host_to_host;
  const auto device_side = [&](const std::optional<TensorId>& named, bool write,
                               std::uint32_t which) {
    TensorState& tensor = named ? live(*named, pending.gpu) : scratch(pending, bytes, which);
    add_range(pending, tensor, 0, bytes, write, memset);
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
  if (!memset) from_host ? host_side(false) : device_side(pending.source, false, 0);
  to_host ? host_side(true) : device_side(pending.destination, true, 1);
  if (memset) return;
  result_.totals.copy_side_bytes += bytes * pending.operation.accesses.size();
}

void ReplayTenant::die(TensorId id) {
  tensors_.at(id).dead = true;
  release_if_dead(id);
}

void ReplayTenant::release_user(TensorId id) {
  --tensors_.at(id).users;
  release_if_dead(id);
}

void ReplayTenant::release_if_dead(TensorId id) {
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

void ReplayTenant::command_done() {
  const auto waiting = std::exchange(waiting_release_, {});
  for (const TensorId id : waiting)
    release_if_dead(id);
}

} // namespace umf::hw
