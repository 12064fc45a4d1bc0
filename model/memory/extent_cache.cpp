#include "model/memory/extent_cache.h"

#include "model/base/error.h"

#include <algorithm>

namespace umf::memory {

void ExtentCache::Outcome::clear() {
  hit = 0;
  missed.clear();
  written_back.clear();
}

ExtentCache::ExtentCache(std::uint64_t capacity, std::uint64_t dirty_limit)
    : capacity_(capacity), dirty_limit_(dirty_limit) {
  ensure(dirty_limit <= capacity, "extent cache: dirty limit above capacity");
}

namespace {
void append(std::vector<Range>& list, Range range) {
  if (!list.empty() && list.back().end == range.begin)
    list.back().end = range.end;
  else
    list.push_back(range);
}
} // namespace

void ExtentCache::access(Range range, bool write, Outcome& outcome) {
  outcome.clear();
  if (range.empty()) return;
  ensure(range.size() <= capacity_ || capacity_ == 0, "extent cache: access longer than capacity");
  if (capacity_ == 0) { // no cache: everything passes through
    (write ? outcome.written_back : outcome.missed).push_back(range);
    return;
  }
  isolate(range);

  scratch_.clear();
  std::uint64_t at = range.begin;
  bool stays_dirty = false;
  std::uint64_t old_dirty = 0;
  for (auto it = index_.lower_bound(range.begin); it != index_.end() && it->first < range.end;
       ++it) {
    const Node& node = nodes_[it->second];
    if (node.begin > at) append(outcome.missed, {at, node.begin});
    outcome.hit += node.end - node.begin;
    old_dirty += node.dirty ? node.end - node.begin : 0;
    at = node.end;
    scratch_.push_back(it->second);
  }
  if (at < range.end) append(outcome.missed, {at, range.end});

  stays_dirty = !write && old_dirty > 0;
  if (!stays_dirty) { // one state over the whole range: one fresh extent
    for (const auto id : scratch_)
      remove(id);
    insert_newest(range.begin, range.end, write);
  } else { // a read of partly dirty data: keep each piece's state
    for (const auto id : scratch_) {
      unlink(id);
      link_newest(id);
    }
    for (const Range& missed : outcome.missed)
      insert_newest(missed.begin, missed.end, false);
  }
  shrink_to_capacity(outcome.written_back);
  shrink_dirty(outcome.written_back);
}

void ExtentCache::clean(Range range, bool drop, std::vector<Range>& written_back) {
  if (range.empty()) return;
  isolate(range);
  scratch_.clear();
  for (auto it = index_.lower_bound(range.begin); it != index_.end() && it->first < range.end; ++it)
    scratch_.push_back(it->second);
  for (const auto id : scratch_) {
    Node node = nodes_[id];
    if (node.dirty) append(written_back, {node.begin, node.end});
    if (drop) {
      remove(id);
    } else if (node.dirty) {
      remove(id);
      add(node.begin, node.end, false, node.stamp, kNone);
    }
  }
}

std::uint64_t ExtentCache::discard(Range range) {
  std::vector<Range> dead;
  clean(range, true, dead);
  std::uint64_t units = 0;
  for (const Range& r : dead)
    units += r.size();
  return units;
}

/// Cuts extents at the range's borders so that every extent lies wholly inside or outside.
void ExtentCache::isolate(Range range) {
  for (const std::uint64_t cut : {range.begin, range.end}) {
    const auto id = first_overlap(cut);
    if (id == kNone || nodes_[id].begin == cut) continue;
    const Node old = nodes_[id];
    nodes_[id].end = cut;
    resident_ -= old.end - cut;
    if (old.dirty) dirty_ -= old.end - cut;
    add(cut, old.end, old.dirty, old.stamp, id);
  }
}

/// The extent holding unit `at`, or none.
std::uint32_t ExtentCache::first_overlap(std::uint64_t at) const {
  auto it = index_.upper_bound(at);
  if (it == index_.begin()) return kNone;
  --it;
  return nodes_[it->second].end > at ? it->second : kNone;
}

void ExtentCache::insert_newest(std::uint64_t begin, std::uint64_t end, bool dirty) {
  ++clock_;
  const auto newest = list_of(dirty).newest;
  if (newest != kNone && nodes_[newest].end == begin) { // a stream going on: one extent
    nodes_[newest].end = end;
    nodes_[newest].stamp = clock_;
    resident_ += end - begin;
    if (dirty) dirty_ += end - begin;
    return;
  }
  add(begin, end, dirty, clock_, kNone);
}

/// A new extent, ordered by `stamp`; `beside` names a node of equal stamp and state to sit next to.
std::uint32_t ExtentCache::add(std::uint64_t begin, std::uint64_t end, bool dirty,
                               std::uint64_t stamp, std::uint32_t beside) {
  std::uint32_t id;
  if (free_.empty()) {
    id = static_cast<std::uint32_t>(nodes_.size());
    nodes_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  nodes_[id] = {begin, end, stamp, kNone, kNone, dirty};
  std::uint32_t anchor = beside;
  if (anchor == kNone) {
    const Recency& list = list_of(dirty);
    if (list.newest != kNone && nodes_[list.newest].stamp <= stamp) {
      anchor = list.newest;
    } else { // remainders of victims are old: they belong near the oldest end
      auto next = list.oldest;
      while (next != kNone && nodes_[next].stamp <= stamp) {
        anchor = next;
        next = nodes_[next].newer;
      }
    }
  }
  link_newer_than(id, anchor);
  index_.emplace(begin, id);
  resident_ += end - begin;
  if (dirty) dirty_ += end - begin;
  return id;
}

void ExtentCache::remove(std::uint32_t id) {
  unlink(id);
  const Node& node = nodes_[id];
  index_.erase(node.begin);
  resident_ -= node.end - node.begin;
  if (node.dirty) dirty_ -= node.end - node.begin;
  free_.push_back(id);
}

void ExtentCache::link_newest(std::uint32_t id) {
  nodes_[id].stamp = ++clock_;
  link_newer_than(id, list_of(nodes_[id].dirty).newest);
}

/// Puts `id` right on the newer side of `anchor`; no anchor makes it the oldest.
void ExtentCache::link_newer_than(std::uint32_t id, std::uint32_t anchor) {
  Recency& list = list_of(nodes_[id].dirty);
  const std::uint32_t newer = anchor == kNone ? list.oldest : nodes_[anchor].newer;
  nodes_[id].older = anchor;
  nodes_[id].newer = newer;
  (anchor == kNone ? list.oldest : nodes_[anchor].newer) = id;
  (newer == kNone ? list.newest : nodes_[newer].older) = id;
}

void ExtentCache::unlink(std::uint32_t id) {
  Node& node = nodes_[id];
  Recency& list = list_of(node.dirty);
  (node.newer == kNone ? list.newest : nodes_[node.newer].older) = node.older;
  (node.older == kNone ? list.oldest : nodes_[node.older].newer) = node.newer;
  node.newer = node.older = kNone;
}

void ExtentCache::shrink_to_capacity(std::vector<Range>& written_back) {
  while (resident_ > capacity_) {
    const auto clean = clean_list_.oldest, dirty = dirty_list_.oldest;
    const bool take_dirty =
        clean == kNone || (dirty != kNone && nodes_[dirty].stamp < nodes_[clean].stamp);
    const auto id = take_dirty ? dirty : clean;
    const Node victim = nodes_[id];
    const std::uint64_t units = std::min(victim.end - victim.begin, resident_ - capacity_);
    if (victim.dirty) append(written_back, {victim.begin, victim.begin + units});
    remove(id);
    if (victim.begin + units < victim.end)
      add(victim.begin + units, victim.end, victim.dirty, victim.stamp, kNone);
  }
}

void ExtentCache::shrink_dirty(std::vector<Range>& written_back) {
  while (dirty_ > dirty_limit_) {
    const auto id = dirty_list_.oldest;
    const Node victim = nodes_[id];
    const std::uint64_t units = std::min(victim.end - victim.begin, dirty_ - dirty_limit_);
    append(written_back, {victim.begin, victim.begin + units});
    remove(id);
    add(victim.begin, victim.begin + units, false, victim.stamp, kNone);
    if (victim.begin + units < victim.end)
      add(victim.begin + units, victim.end, true, victim.stamp, kNone);
  }
}

} // namespace umf::memory
