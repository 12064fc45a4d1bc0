#include "model/memory/frame_allocator.h"

#include "model/base/error.h"

#include <algorithm>
#include <iterator>

namespace umf::memory {

FrameAllocator::FrameAllocator(std::uint64_t frames)
    : frames_(frames), free_(frames), loose_(frames) {
  if (frames > 0) holes_.emplace(0, frames);
}

std::vector<FrameRun> FrameAllocator::take(std::uint64_t count, Region region) {
  std::vector<FrameRun> runs;
  if (count == 0 || count > free_) return runs;
  evict_copies(count);
  count_taken(count, region);
  loose_ -= count;

  for (auto hole = holes_.begin(); hole != holes_.end(); ++hole) {
    if (hole->second < count) continue;
    runs.push_back({hole->first, count});
    if (hole->second > count) holes_.emplace_hint(hole, hole->first + count, hole->second - count);
    holes_.erase(hole);
    return runs;
  }
  while (count > 0) { // no single hole is large enough: gather from the lowest
    auto hole = holes_.begin();
    const std::uint64_t part = std::min(count, hole->second);
    runs.push_back({hole->first, part});
    if (hole->second > part) holes_.emplace(hole->first + part, hole->second - part);
    holes_.erase(hole);
    count -= part;
  }
  return runs;
}

void FrameAllocator::give_back(FrameRun run, Region region) {
  if (run.count == 0) return;
  count_freed(run, region);
  add_hole(run);
}

CopyId FrameAllocator::keep(FrameRun run, Region region) {
  if (run.count == 0) return kNoCopy;
  count_freed(run, region);
  kept_.emplace(run.first, Kept{run.count, next_copy_});
  return next_copy_++;
}

bool FrameAllocator::restore(FrameRun run, CopyId copy, Region region) {
  auto it = kept_.upper_bound(run.first);
  if (run.count == 0 || it == kept_.begin()) return false;
  --it;
  const std::uint64_t begin = it->first, end = begin + it->second.count;
  if (it->second.copy != copy || run.first + run.count > end) return false;
  it->second.count = run.first - begin;
  if (it->second.count == 0) kept_.erase(it);
  if (const std::uint64_t past = run.first + run.count; past < end)
    kept_.emplace(past, Kept{end - past, copy});
  count_taken(run.count, region);
  return true;
}

void FrameAllocator::forget(FrameRun run, CopyId copy) {
  const std::uint64_t past = run.first + run.count;
  auto it = kept_.upper_bound(run.first);
  if (it != kept_.begin()) --it;
  while (it != kept_.end() && it->first < past) {
    const std::uint64_t begin = it->first, end = begin + it->second.count;
    const std::uint64_t from = std::max(begin, run.first), to = std::min(end, past);
    if (it->second.copy != copy || from >= to) {
      ++it;
      continue;
    }
    it = kept_.erase(it);
    if (begin < from) kept_.emplace(begin, Kept{from - begin, copy});
    if (to < end) it = std::next(kept_.emplace(to, Kept{end - to, copy}).first);
    add_hole({from, to - from});
  }
}

/// Until that many frames hold nothing.
void FrameAllocator::evict_copies(std::uint64_t count) {
  while (loose_ < count) {
    const auto lowest = kept_.begin();
    const FrameRun run{lowest->first, std::min(count - loose_, lowest->second.count)};
    forget(run, lowest->second.copy);
  }
}

void FrameAllocator::count_taken(std::uint64_t count, Region region) {
  free_ -= count;
  peak_ = std::max(peak_, used());
  Held& held = by_region_[static_cast<std::size_t>(region)];
  held.used += count;
  held.peak = std::max(held.peak, held.used);
}

void FrameAllocator::count_freed(FrameRun run, Region region) {
  ensure(run.count <= frames_ && run.first <= frames_ - run.count, "frame freed that never was");
  const auto is_free = [&](const auto& runs, auto count_of) {
    auto it = runs.lower_bound(run.first + run.count);
    return it != runs.begin() && std::prev(it)->first + count_of(*std::prev(it)) > run.first;
  };
  ensure(!is_free(holes_, [](const auto& hole) { return hole.second; }) &&
             !is_free(kept_, [](const auto& kept) { return kept.second.count; }),
         "frame freed twice");
  Held& held = by_region_[static_cast<std::size_t>(region)];
  ensure(run.count <= held.used, "frames freed of a region that has fewer");
  held.used -= run.count;
  free_ += run.count;
}

void FrameAllocator::add_hole(FrameRun run) {
  loose_ += run.count;
  const auto next = holes_.lower_bound(run.first);
  const auto before = next == holes_.begin() ? holes_.end() : std::prev(next);
  if (next != holes_.end() && run.first + run.count == next->first) {
    run.count += next->second;
    holes_.erase(next);
  }
  if (before != holes_.end() && before->first + before->second == run.first)
    before->second += run.count;
  else
    holes_.emplace(run.first, run.count);
}

} // namespace umf::memory
