#include "model/memory/page_table.h"

#include "model/base/error.h"

#include <algorithm>
#include <array>

namespace umf::memory {

std::string_view name_of(PageState state) {
  constexpr std::array<std::string_view, 6> names = {"deferred", "blank",     "resident",
                                                     "moving",   "suspended", "syncing"};
  return names[static_cast<std::size_t>(state)];
}

void PageTable::lookup(PageNumber first, std::uint64_t count, std::vector<PageRun>& runs) const {
  const PageNumber end = first + count;
  PageNumber at = first;
  auto it = runs_.upper_bound(first);
  if (it != runs_.begin() && std::prev(it)->first + std::prev(it)->second.count > first) --it;
  for (; at < end && it != runs_.end() && it->first < end; ++it) {
    if (it->first > at) runs.push_back({at, it->first - at, 0, PageState::deferred, 0});
    const PageNumber from = std::max(at, it->first);
    const PageNumber to = std::min(end, it->first + it->second.count);
    const std::uint64_t ahead = from - it->first;
    runs.push_back({it->first, ahead + (to - from), it->second.tier, it->second.state,
                    it->second.frame, it->second.copy, it->second.packed});
    if (ahead > 0) runs.back().skip(ahead);
    at = to;
  }
  if (at < end) runs.push_back({at, end - at, 0, PageState::deferred, 0});
}

void PageTable::map(PageNumber first, std::uint64_t pages, TierIndex tier, std::uint64_t frame,
                    Copy copy, std::uint32_t packed) {
  if (pages == 0) return;
  auto next = runs_.lower_bound(first);
  ensure(next == runs_.end() || next->first >= first + pages, "page mapped twice");
  ensure(next == runs_.begin() || std::prev(next)->first + std::prev(next)->second.count <= first,
         "page mapped twice");
  auto it =
      runs_.emplace_hint(next, first, Run{pages, frame, tier, PageState::resident, copy, packed});
  count(tier, static_cast<std::int64_t>(pages), packed > 0);
  merge_with_next(it);
  if (it != runs_.begin()) merge_with_next(std::prev(it));
}

void PageTable::set_state(PageNumber first, std::uint64_t pages, PageState state) {
  ensure(state != PageState::deferred, "pages become deferred by unmap");
  change(first, pages, [&](PageNumber, Run& run) { run.state = state; });
}

void PageTable::set_copy(PageNumber first, std::uint64_t pages, Copy copy) {
  change(first, pages, [&](PageNumber at, Run& run) { run.copy = copy.from(at - first); });
}

template <class Change>
void PageTable::change(PageNumber first, std::uint64_t pages, Change change) {
  if (pages == 0) return;
  cut(first);
  cut(first + pages);
  PageNumber at = first;
  auto it = runs_.find(first);
  while (at < first + pages) {
    ensure(it != runs_.end() && it->first == at, "change of a page that is not mapped");
    change(at, it->second);
    at += it->second.count;
    ++it;
  }
  it = runs_.find(first);
  if (it != runs_.begin()) --it;
  while (it != runs_.end() && it->first < first + pages) {
    const auto runs = runs_.size();
    merge_with_next(it);
    if (runs_.size() == runs) ++it;
  }
}

std::vector<PageRun> PageTable::unmap(PageNumber first, std::uint64_t pages) {
  if (pages == 0) return {};
  cut(first);
  cut(first + pages);
  std::vector<PageRun> gone;
  auto it = runs_.lower_bound(first);
  while (it != runs_.end() && it->first < first + pages) {
    gone.push_back({it->first, it->second.count, it->second.tier, it->second.state,
                    it->second.frame, it->second.copy, it->second.packed});
    count(it->second.tier, -static_cast<std::int64_t>(it->second.count), it->second.packed > 0);
    it = runs_.erase(it);
  }
  return gone;
}

std::uint64_t PageTable::resident(TierIndex tier) const {
  return tier < resident_.size() ? resident_[tier] : 0;
}

std::uint64_t PageTable::packed(TierIndex tier) const {
  return tier < packed_.size() ? packed_[tier] : 0;
}

std::uint64_t PageTable::peak(TierIndex tier) const {
  return tier < peak_.size() ? peak_[tier] : 0;
}

void PageTable::cut(PageNumber at) {
  auto it = runs_.upper_bound(at);
  if (it == runs_.begin()) return;
  --it;
  const std::uint64_t before = at - it->first;
  if (before == 0 || before >= it->second.count) return;
  Run rest = it->second;
  rest.count -= before;
  rest.frame += before * PageRun::stride(rest.packed);
  rest.copy = rest.copy.from(before);
  it->second.count = before;
  runs_.emplace_hint(std::next(it), at, rest);
}

/// Joins `it` with its successor when the two read as one.
void PageTable::merge_with_next(Runs::iterator it) {
  const auto next = std::next(it);
  if (next == runs_.end()) return;
  Run& a = it->second;
  const Run& b = next->second;
  if (it->first + a.count != next->first || a.tier != b.tier || a.state != b.state ||
      a.packed != b.packed || a.frame + a.count * PageRun::stride(a.packed) != b.frame ||
      a.copy.from(a.count) != b.copy)
    return;
  a.count += b.count;
  runs_.erase(next);
}

void PageTable::count(TierIndex tier, std::int64_t pages, bool packed) {
  if (tier >= resident_.size()) {
    resident_.resize(tier + 1u);
    peak_.resize(tier + 1u);
    packed_.resize(tier + 1u);
  }
  const auto add = [pages](std::uint64_t& to) {
    to = static_cast<std::uint64_t>(static_cast<std::int64_t>(to) + pages);
  };
  add(resident_[tier]);
  if (packed) add(packed_[tier]);
  peak_[tier] = std::max(peak_[tier], resident_[tier]);
}

} // namespace umf::memory
