#include "hw/platform/replay_tenant.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

/// S10: weights that forked tenants share until they write to them.
namespace umf::hw {

bool ReplayTenant::shared(const TensorState& tensor) const {
  if (tensor.group == nullptr || !machine_.processes.forked()) return false;
  return tensor.group->members.size() > 1 || tensor.own_pages ||
         pages_of(tensor) != tensor.tensor.id;
}

/// The tensor on the machine that holds what it has not copied.
stream::TensorId ReplayTenant::pages_of(const TensorState& tensor) const {
  return tensor.group == nullptr ? tensor.tensor.id : tensor.group->of(index_).id;
}

void ReplayTenant::note_write(TensorState& tensor, std::uint64_t offset, std::uint64_t length) {
  const std::uint64_t page = platform_.brain(tensor.gpu).space().page().count;
  tensor.group->of(index_).written.insert({offset / page, (offset + length - 1) / page + 1});
}

void ReplayTenant::add_piece(Pending& pending, TensorId pages, std::uint64_t offset,
                             std::uint64_t length, bool write, bool cached) {
  auto& brain = platform_.brain(pending.gpu);
  const std::uint64_t address = brain.space().at(pages).base + offset;
  brain.reserve(address, {length}, write);
  pending.operation.accesses.push_back({address, {length}, write, cached});
}

/// Of what the tenant has copied its own pages, of the rest the shared ones.
void ReplayTenant::add_shared(Pending& pending, TensorState& tensor, std::uint64_t offset,
                              std::uint64_t length, bool write, bool cached) {
  if (write) copy_on_write(pending, tensor, offset, length);
  if (!tensor.own_pages) return add_piece(pending, pages_of(tensor), offset, length, write, cached);
  const memory::RangeSet& own = tensor.group->of(index_).written;
  const std::uint64_t page = platform_.brain(tensor.gpu).space().page().count;
  const auto is_own = [&](std::uint64_t p) { return !own.around(p).empty(); };
  const std::uint64_t end = offset + length;
  for (std::uint64_t at = offset; at < end;) {
    const bool mine = is_own(at / page);
    std::uint64_t past = at / page + 1;
    while (past * page < end && is_own(past) == mine)
      ++past;
    const std::uint64_t stop = std::min(end, past * page);
    add_piece(pending, mine ? *tensor.own_pages : pages_of(tensor), at, stop - at, write, cached);
    at = stop;
  }
}

/// The last one that has a page as it was writes in place.
void ReplayTenant::copy_on_write(Pending& pending, TensorState& tensor, std::uint64_t offset,
                                 std::uint64_t length) {
  const std::uint64_t page = platform_.brain(tensor.gpu).space().page().count;
  const std::uint64_t past = (offset + length - 1) / page + 1;
  const auto& member = tensor.group->of(index_);
  const auto must_copy = [&](std::uint64_t p) {
    return member.written.around(p).empty() && !tensor.group->alone(index_, p);
  };
  for (std::uint64_t p = offset / page; p < past;) {
    const std::uint64_t first = p;
    while (p < past && must_copy(p))
      ++p;
    if (p > first)
      copy_pages(pending, tensor, {first, p});
    else
      ++p;
  }
}

void ReplayTenant::copy_pages(Pending& pending, TensorState& tensor, memory::Range pages) {
  auto& brain = platform_.brain(tensor.gpu);
  const std::uint64_t page = brain.space().page().count;
  if (!tensor.own_pages) {
    stream::Tensor own = tensor.tensor;
    own.id = numbers_.another();
    tensor.own_pages = own.id;
    brain.declare(own);
    const auto& entry = brain.space().at(own.id);
    stale_.clear(); // what the L2 holds of these addresses belongs to a dead tensor
    auto& gpu = platform_.gpu(tensor.gpu);
    gpu.l2().invalidate({entry.base, entry.base + entry.pages * page}, stale_);
    gpu.write_back(stale_);
  }
  tensor.group->of(index_).written.insert(pages);
  const std::uint64_t from = pages.begin * page;
  const Bytes length{std::min(pages.end * page, tensor.tensor.bytes.count) - from};
  const std::uint64_t copy = brain.space().at(*tensor.own_pages).base + from;
  brain.reserve(copy, length, true);
  pending.copies.push_back({brain.space().at(pages_of(tensor)).base + from, length, false, false});
  pending.copies.push_back({copy, length, true, false});
  pending.copied_pages += pages.size();
}

/// The operation has faulted: what it is to write is copied before it starts.
void ReplayTenant::copy_before(OpIndex index, Pending& pending) {
  const SchedulerConfig& config = platform_.scenario().scheduler;
  const std::uint64_t batches =
      (pending.copied_pages + config.fault_batch - 1) / config.fault_batch;
  Pending copying;
  copying.row.id = pending.row.id;
  copying.row.tenant = pending.row.tenant;
  copying.row.repeat = pending.row.repeat;
  copying.row.kind = Operation::Kind::copy;
  copying.row.name = intern(fmt::format("copy on write for {}", *pending.row.name));
  copying.row.stream = pending.row.stream;
  copying.row.phase = pending.row.phase;
  copying.row.layer = pending.row.layer;
  copying.row.copied_for = index;
  copying.gpu = pending.gpu;
  copying.built = true;
  copying.tensors = pending.tensors;
  copying.dependents.push_back(index);
  Operation& operation = copying.operation;
  operation.kind = Operation::Kind::copy;
  operation.id = machine_.next_operation++;
  operation.tenant = index_;
  operation.weight = pending.operation.weight;
  operation.fault = {config.fault_latency.count * static_cast<std::int64_t>(batches)};
  operation.accesses = std::exchange(pending.copies, {});
  std::uint64_t sides = 0;
  for (const OperationAccess& side : operation.accesses)
    sides += side.length.count;
  result_.totals.copy_side_bytes += sides;
  machine_.processes.copied(pending.copied_pages, {sides / 2}, batches);
  ++pending.waits_for;
  for (const TensorId id : copying.tensors)
    ++tensors_.at(id).users;
  const OpIndex number = operation.id;
  Pending& stored = pending_.emplace(number, std::move(copying)).first->second;
  platform_.gpu(stored.gpu).submit(std::move(stored.operation));
}

/// A tensor is dead: its pages go, those it shares with the last one that has them. False: some
/// are moving.
bool ReplayTenant::let_go(TensorState& tensor) {
  const auto& brain = platform_.brain(tensor.gpu);
  if (tensor.own_pages) {
    if (brain.busy(*tensor.own_pages)) return false;
    forget(tensor.gpu, *std::exchange(tensor.own_pages, std::nullopt));
  }
  const TensorId pages = pages_of(tensor);
  const bool last = !shared(tensor) || tensor.group->members.size() == 1;
  if (last && brain.busy(pages)) return false;
  if (tensor.group != nullptr) std::exchange(tensor.group, nullptr)->leave(index_);
  if (last) forget(tensor.gpu, pages);
  return true;
}

void ReplayTenant::forget(std::uint32_t gpu, TensorId pages) {
  auto& brain = platform_.brain(gpu);
  const auto& entry = brain.space().at(pages);
  const std::uint64_t length = entry.pages * brain.space().page().count;
  platform_.gpu(gpu).l2().discard({entry.base, entry.base + length});
  brain.release(pages);
}

} // namespace umf::hw
