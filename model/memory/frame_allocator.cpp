#include "model/memory/frame_allocator.h"

#include "model/base/error.h"

#include <algorithm>

namespace umf::memory {

FrameAllocator::FrameAllocator(std::uint64_t frames) : frames_(frames), free_(frames) {
  if (frames > 0) holes_.emplace(0, frames);
}

std::vector<FrameRun> FrameAllocator::take(std::uint64_t count) {
  std::vector<FrameRun> runs;
  if (count == 0 || count > free_) return runs;
  free_ -= count;
  peak_ = std::max(peak_, used());

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

void FrameAllocator::give_back(FrameRun run) {
  if (run.count == 0) return;
  auto next = holes_.lower_bound(run.first);
  ensure(next == holes_.end() || run.first + run.count <= next->first, "frame freed twice");
  if (next != holes_.begin()) {
    auto before = std::prev(next);
    ensure(before->first + before->second <= run.first, "frame freed twice");
    if (before->first + before->second == run.first) {
      run = {before->first, before->second + run.count};
      free_ -= before->second;
      holes_.erase(before);
    }
  }
  free_ += run.count;
  if (next != holes_.end() && run.first + run.count == next->first) {
    run.count += next->second;
    holes_.erase(next);
  }
  holes_.emplace(run.first, run.count);
  ensure(free_ <= frames_, "more frames freed than exist");
}

} // namespace umf::memory
