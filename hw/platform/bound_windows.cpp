#include "hw/platform/bound_windows.h"

#include <algorithm>
#include <numeric>

namespace umf::hw {

double BoundCosts::total() const {
  return std::accumulate(seconds.begin(), seconds.end(), 0.0);
}

std::size_t BoundCosts::longest() const {
  return static_cast<std::size_t>(std::max_element(seconds.begin() + kArithmetic, seconds.end()) -
                                  seconds.begin());
}

void BoundCosts::add_operation(const BoundCosts& operation) {
  const std::size_t limit = operation.longest();
  seconds[kLaunch] += operation.seconds[kLaunch];
  seconds[limit] += operation.seconds[limit];
  amount[limit] += operation.amount[limit];
}

void BoundCosts::add(const BoundCosts& other) {
  for (std::size_t p = 0; p < kBoundParts; ++p) {
    seconds[p] += other.seconds[p];
    amount[p] += other.amount[p];
  }
}

BoundWindows::BoundWindows(const Options& options) : options_(options) {
  const std::uint64_t fast = options.near_capacity + options.l2_capacity;
  const auto cut = [&](std::uint64_t least) {
    for (const bool at_repetition : {false, true}) {
      Cutting cutting;
      cutting.least = least;
      cutting.at_repetition = at_repetition;
      cuttings_.push_back(std::move(cutting));
    }
  };
  for (std::uint64_t least = std::max<std::uint64_t>(options.l2_capacity * 2, 1); least < fast;
       least *= 8)
    cut(least);
  for (const std::uint64_t part : {9, 12, 16, 32})
    cut(fast / 8 * part);
  cut(UINT64_MAX);
}

void BoundWindows::add(const BoundCosts& costs, const std::vector<Piece>& reads,
                       const std::vector<Piece>& writes) {
  for (Cutting& cutting : cuttings_) {
    if (cutting.fresh >= cutting.least) {
      std::uint64_t all = 0, known = 0;
      if (cutting.at_repetition)
        for (const Piece& piece : reads) {
          all += piece.bytes.size();
          known += cutting.seen[piece.tensor].covered(piece.bytes);
        }
      if (!cutting.at_repetition || known * 2 > all) close(cutting);
    }
    cutting.operations.add_operation(costs);
    for (const Piece& piece : reads) {
      const std::uint64_t fresh = cutting.seen[piece.tensor].insert(piece.bytes);
      cutting.fresh += fresh;
      cutting.old += fresh - std::min(fresh, piece.newborn);
    }
    for (const Piece& piece : writes)
      cutting.seen[piece.tensor].insert(piece.bytes);
  }
}

void BoundWindows::forget(stream::TensorId tensor) {
  for (Cutting& cutting : cuttings_)
    cutting.seen.erase(tensor);
}

/// The longest of: its operations one after the other; its bytes from memory, with which no launch
/// overlaps where nothing else runs; its bytes from the memories that fill the SRAM, and over the
/// links, which both may come ahead of their use.
void BoundWindows::close(Cutting& cutting) {
  const std::uint64_t fast = options_.l2_capacity + options_.near_capacity;
  const std::uint64_t fills = cutting.fresh - std::min(cutting.fresh, options_.l2_capacity);
  const std::uint64_t far = cutting.old - std::min(cutting.old, fast);
  BoundCosts best = cutting.operations;
  BoundCosts memory;
  if (options_.alone) memory.seconds[kLaunch] = cutting.operations.seconds[kLaunch];
  memory.amount[kMemory] = static_cast<double>(fills);
  memory.seconds[kMemory] = fills == 0 ? 0 : memory.amount[kMemory] / options_.memory_read;
  if (memory.total() > best.total()) best = memory;
  const std::uint64_t held = options_.l2_capacity + options_.sram_capacity;
  BoundCosts filling;
  filling.amount[kMemory] = static_cast<double>(cutting.old - std::min(cutting.old, held));
  if (filling.amount[kMemory] > 0)
    filling.seconds[kMemory] = filling.amount[kMemory] / options_.filling_read;
  if (filling.total() > best.total()) best = filling;
  if (far > 0 && options_.links_read > 0) {
    BoundCosts links;
    links.amount[kLinks] = static_cast<double>(far);
    links.seconds[kLinks] = links.amount[kLinks] / options_.links_read;
    if (links.total() > best.total()) best = links;
  }
  cutting.sum.add(best);
  cutting.link_bytes += far;
  cutting.operations = {};
  cutting.fresh = cutting.old = 0;
  cutting.seen.clear();
}

void BoundWindows::finish() {
  for (Cutting& cutting : cuttings_)
    close(cutting);
}

const BoundCosts& BoundWindows::best() const {
  return std::max_element(
             cuttings_.begin(), cuttings_.end(),
             [](const Cutting& a, const Cutting& b) { return a.sum.total() < b.sum.total(); })
      ->sum;
}

Bytes BoundWindows::link_bytes() const {
  Bytes most{};
  for (const Cutting& cutting : cuttings_)
    most = std::max(most, Bytes{cutting.link_bytes});
  return most;
}

} // namespace umf::hw
