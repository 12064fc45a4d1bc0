#include "model/scheduler/coherence.h"

#include "model/base/error.h"

#include <algorithm>

namespace umf::scheduler {

using memory::PageNumber;
using memory::PageRun;
using memory::PageState;

Staging::Staging(const Coherence& settings, Bytes page, memory::TierIndex hbm,
                 memory::FrameRun frames)
    : forward_(settings.forward_from_staging), page_(page.count), hbm_(hbm),
      first_frame_(frames.first), slots_(frames.count) {}

std::uint64_t Staging::take(const PageRun& run, std::uint64_t begin, std::uint64_t end,
                            std::uint64_t last, std::uint64_t command) {
  const std::uint64_t wanted = std::min(run.count, slots_.free());
  if (wanted == 0) return 0;
  const auto taken = slots_.take(wanted);
  for (std::size_t i = 1; i < taken.size(); ++i)
    slots_.give_back(taken[i]);
  Sync sync;
  sync.command = command;
  sync.home = run;
  sync.home.count = taken.front().count;
  sync.slot = taken.front().first;
  sync.begin = std::max(begin, run.first * page_);
  sync.end = std::min(end, (run.first + sync.home.count) * page_);
  sync.last = last;
  syncs_.push_back(sync);
  return sync.home.count;
}

Staging::Sync* Staging::find(PageNumber page) {
  const auto it = std::find_if(syncs_.begin(), syncs_.end(),
                               [&](const Sync& sync) { return sync.holds(page); });
  return it == syncs_.end() ? nullptr : &*it;
}

Staging::Sync& Staging::of(std::uint64_t command) {
  const auto it = std::find_if(syncs_.begin(), syncs_.end(),
                               [&](const Sync& sync) { return sync.command == command; });
  ensure(it != syncs_.end(), "no such sync");
  return *it;
}

bool Staging::join(Sync& sync, std::uint64_t begin, std::uint64_t end) {
  if (sync.taken || begin > sync.end || end < sync.begin) return false;
  sync.begin = std::min(sync.begin, std::max(begin, sync.home.first * page_));
  sync.end = std::max(sync.end, std::min(end, (sync.home.first + sync.home.count) * page_));
  return true;
}

void Staging::release(std::uint64_t command) {
  const Sync& sync = of(command);
  slots_.give_back({sync.slot, sync.home.count});
  syncs_.erase(syncs_.begin() + (&sync - syncs_.data()));
}

PageNumber Staging::whole_from(const Sync& sync) const {
  return (sync.begin + page_ - 1) / page_;
}

PageNumber Staging::whole_to(const Sync& sync) const {
  return sync.end >= sync.last ? (sync.end + page_ - 1) / page_ : sync.end / page_;
}

PageRun Staging::seen(PageRun run) {
  const Sync* sync = find(run.first);
  ensure(sync != nullptr, "page in sync that is not in the staging buffer");
  const auto up_to = [&](PageNumber end) {
    run.count = std::min(run.count, end - run.first);
    return run;
  };
  const PageNumber past = sync->home.first + sync->home.count;
  if (!forward_ || !sync->landed || sync->closed) return up_to(past);
  const PageNumber from = whole_from(*sync), to = whole_to(*sync);
  if (run.first < from) return up_to(std::min(from, past));
  if (run.first >= to) return up_to(past);
  run = slots(*sync, up_to(to));
  run.state = PageState::moving; // may be read, not written
  return run;
}

PageRun Staging::slots(const Sync& sync, PageRun run) const {
  run.tier = hbm_;
  run.frame = first_frame_ + sync.slot + (run.first - sync.home.first);
  run.copy = {};
  run.packed = 0;
  return run;
}

} // namespace umf::scheduler
