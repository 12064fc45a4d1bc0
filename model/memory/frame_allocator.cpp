#include "model/memory/frame_allocator.h"

#include "model/base/error.h"

#include <algorithm>

namespace umf::memory {

FrameAllocator::FrameAllocator(std::uint64_t frames) : frames_(frames), free_(frames) {
  if (frames > 0) holes_.emplace(0, frames);
}

std::vector<FrameRun> FrameAllocator::take(std::uint64_t count, Region region) {
  std::vector<FrameRun> runs;
  if (count == 0 || count > free_) return runs;
  free_ -= count;
  peak_ = std::max(peak_, used());
  Held& held = by_region_[static_cast<std::size_t>(region)];
  held.used += count;
  held.peak = std::max(held.peak, held.used);

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
  ensure(run.count <= frames_ && run.first <= frames_ - run.count, "frame freed that never was");
  const auto next = holes_.lower_bound(run.first);
  const auto before = next == holes_.begin() ? holes_.end() : std::prev(next);
  ensure(next == holes_.end() || run.first + run.count <= next->first, "frame freed twice");
  ensure(before == holes_.end() || before->first + before->second <= run.first,
         "frame freed twice");
  Held& held = by_region_[static_cast<std::size_t>(region)];
  ensure(run.count <= held.used, "frames freed of a region that has fewer");
  held.used -= run.count;
  free_ += run.count;
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
