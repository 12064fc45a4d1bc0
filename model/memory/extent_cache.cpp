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
  if (capacity_ == 0) {
    (write ? outcome.written_back : outcome.missed).push_back(range);
    return;
  }
  ensure(range.size() <= capacity_, "extent cache: access longer than capacity");
  const auto [first, last] = isolate(range);
  plan(range, write, first, last, outcome);
  auto it = first;
  for (const Piece& piece : pieces_) {
    const bool starts_one = it != last && it->first == piece.range.begin;
    const NodeId reused = starts_one ? (it++)->second : kNone;
    while (it != last && it->first < piece.range.end)
      remove((it++)->second);
    make_newest(piece, reused, it);
  }
  shrink_to_capacity(outcome.written_back);
  shrink_dirty(outcome.written_back);
}

/// What is there and what is missing, and the pieces of one state that will be there
/// afterwards: a write makes all dirty, a read leaves each unit's state.
void ExtentCache::plan(Range range, bool write, Index::iterator first, Index::iterator last,
                       Outcome& outcome) {
  pieces_.clear();
  const auto put = [&](Range part, bool dirty) {
    if (!pieces_.empty() && pieces_.back().dirty == dirty)
      pieces_.back().range.end = part.end;
    else
      pieces_.push_back({part, dirty});
  };
  const auto miss = [&](Range part) {
    if (part.empty()) return;
    outcome.missed.push_back(part);
    put(part, write);
  };
  std::uint64_t at = range.begin;
  for (auto it = first; it != last; ++it) {
    const Node& node = nodes_[it->second];
    miss({at, node.begin});
    outcome.hit += node.size();
    put({node.begin, node.end}, write || node.is_dirty);
    at = node.end;
  }
  miss({at, range.end});
}

void ExtentCache::clean(Range range, bool drop, std::vector<Range>& written_back) {
  if (range.empty()) return;
  const auto [first, last] = isolate(range);
  for (auto it = first; it != last;) {
    const NodeId id = (it++)->second;
    const Node& node = nodes_[id];
    if (node.is_dirty) append(written_back, {node.begin, node.end});
    if (drop)
      remove(id);
    else if (node.is_dirty)
      set_clean(id);
  }
}

std::uint64_t ExtentCache::discard(Range range) {
  if (range.empty()) return 0;
  const std::uint64_t dirty_before = dirty_;
  const auto [first, last] = isolate(range);
  for (auto it = first; it != last;)
    remove((it++)->second);
  return dirty_before - dirty_;
}

/// Cuts extents at the range's borders so that each lies wholly inside or outside;
/// returns those inside.
std::pair<ExtentCache::Index::iterator, ExtentCache::Index::iterator>
ExtentCache::isolate(Range range) {
  auto first = index_.lower_bound(range.begin);
  if (first != index_.begin()) {
    const NodeId before = std::prev(first)->second;
    if (nodes_[before].end > range.begin) first = split(before, range.begin);
  }
  auto last = first;
  for (; last != index_.end() && last->first < range.end; ++last)
    if (nodes_[last->second].end > range.end) return {first, split(last->second, range.end)};
  return {first, last};
}

/// The part from `at` on becomes an extent of its own, next newer, and is returned.
ExtentCache::Index::iterator ExtentCache::split(NodeId id, std::uint64_t at) {
  const std::uint64_t end = nodes_[id].end;
  set_end(id, at);
  return insert({at, end}, nodes_[id].is_dirty, std::next(nodes_[id].at), id, id);
}

/// `reused`: an extent that begins where the piece does, or kNone; `next`: the one behind.
void ExtentCache::make_newest(Piece piece, NodeId reused, Index::iterator next) {
  const auto [range, dirty] = piece;
  const NodeId newest = all_.newest;
  if (newest != kNone && newest != reused && nodes_[newest].end == range.begin &&
      nodes_[newest].is_dirty == dirty) { // a stream going on: one extent
    if (reused != kNone) remove(reused);
    set_end(newest, range.end);
  } else if (reused != kNone) {
    set_clean(reused);
    unlink(all_, reused);
    link(all_, reused, all_.newest);
    set_end(reused, range.end);
    if (dirty) set_dirty(reused, dirty_list_.newest);
  } else {
    insert(range, dirty, next, all_.newest, dirty_list_.newest);
  }
}

void ExtentCache::set_end(NodeId id, std::uint64_t end) {
  const std::uint64_t units = end - nodes_[id].end; // modulo 2^64 where it shrinks
  nodes_[id].end = end;
  resident_ += units;
  if (nodes_[id].is_dirty) dirty_ += units;
}

ExtentCache::Index::iterator ExtentCache::insert(Range range, bool dirty, Index::iterator next,
                                                 NodeId older, NodeId older_dirty) {
  NodeId id;
  if (free_.empty()) {
    id = static_cast<NodeId>(nodes_.size());
    nodes_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  nodes_[id] = {range.begin, range.end, index_.emplace_hint(next, range.begin, id), {}, {}, false};
  link(all_, id, older);
  resident_ += range.size();
  if (dirty) set_dirty(id, older_dirty);
  return nodes_[id].at;
}

void ExtentCache::remove(NodeId id) {
  set_clean(id);
  unlink(all_, id);
  index_.erase(nodes_[id].at);
  resident_ -= nodes_[id].size();
  free_.push_back(id);
}

void ExtentCache::drop_front(NodeId id, std::uint64_t units) {
  Node& node = nodes_[id];
  const auto after = std::next(node.at);
  auto entry = index_.extract(node.at);
  node.begin += units;
  entry.key() = node.begin;
  node.at = index_.insert(after, std::move(entry));
  resident_ -= units;
  if (node.is_dirty) dirty_ -= units;
}

void ExtentCache::set_dirty(NodeId id, NodeId older_dirty) {
  nodes_[id].is_dirty = true;
  link(dirty_list_, id, older_dirty);
  dirty_ += nodes_[id].size();
}

void ExtentCache::set_clean(NodeId id) {
  Node& node = nodes_[id];
  if (!node.is_dirty) return;
  unlink(dirty_list_, id);
  node.is_dirty = false;
  dirty_ -= node.size();
}

/// Puts `id` right on the newer side of `older`; kNone makes it the oldest.
void ExtentCache::link(Ages& ages, NodeId id, NodeId older) {
  const auto links = ages.links;
  const NodeId newer = older == kNone ? ages.oldest : (nodes_[older].*links).newer;
  nodes_[id].*links = {newer, older};
  (older == kNone ? ages.oldest : (nodes_[older].*links).newer) = id;
  (newer == kNone ? ages.newest : (nodes_[newer].*links).older) = id;
}

void ExtentCache::unlink(Ages& ages, NodeId id) {
  const auto links = ages.links;
  const auto [newer, older] = nodes_[id].*links;
  (newer == kNone ? ages.newest : (nodes_[newer].*links).older) = older;
  (older == kNone ? ages.oldest : (nodes_[older].*links).newer) = newer;
}

void ExtentCache::shrink_to_capacity(std::vector<Range>& written_back) {
  while (resident_ > capacity_) {
    const NodeId id = all_.oldest;
    const Node& node = nodes_[id];
    const std::uint64_t units = std::min(node.size(), resident_ - capacity_);
    if (node.is_dirty) append(written_back, {node.begin, node.begin + units});
    if (units == node.size())
      remove(id);
    else
      drop_front(id, units);
  }
}

void ExtentCache::shrink_dirty(std::vector<Range>& written_back) {
  while (dirty_ > dirty_limit_) {
    const NodeId id = dirty_list_.oldest;
    const Range victim{nodes_[id].begin, nodes_[id].end};
    const std::uint64_t units = std::min(victim.size(), dirty_ - dirty_limit_);
    append(written_back, {victim.begin, victim.begin + units});
    if (units < victim.size()) split(id, victim.begin + units);
    set_clean(id);
    // Next to a clean extent that it continues, both in age and address, it joins it.
    const NodeId older = nodes_[id].all.older;
    if (older == kNone || nodes_[older].is_dirty || nodes_[older].end != victim.begin) continue;
    remove(id);
    set_end(older, victim.begin + units);
  }
}

} // namespace umf::memory
