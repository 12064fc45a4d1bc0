#pragma once

#include "model/memory/extent_cache.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>

namespace umf::memory {

/// A set of numbers as disjoint ranges.
class RangeSet {
public:
  /// Adds the range; how much of it was not there.
  std::uint64_t insert(Range range) {
    if (range.empty()) return 0;
    std::uint64_t fresh = range.size();
    auto it = ranges_.upper_bound(range.begin);
    if (it != ranges_.begin() && std::prev(it)->second >= range.begin) --it;
    while (it != ranges_.end() && it->first <= range.end) {
      const std::uint64_t from = std::max(it->first, range.begin);
      const std::uint64_t to = std::min(it->second, range.end);
      if (to > from) fresh -= to - from;
      range = {std::min(it->first, range.begin), std::max(it->second, range.end)};
      it = ranges_.erase(it);
    }
    ranges_.emplace_hint(it, range.begin, range.end);
    return fresh;
  }

  /// Takes the range out; how much of it was there. Calls on_gone(part) with each part that was.
  std::uint64_t erase(Range range) {
    return erase(range, [](Range) {});
  }
  template <class Gone>
  std::uint64_t erase(Range range, Gone on_gone) {
    if (range.empty()) return 0;
    std::uint64_t gone = 0;
    auto it = ranges_.upper_bound(range.begin);
    if (it != ranges_.begin()) --it;
    while (it != ranges_.end() && it->first < range.end) {
      const auto [begin, end] = *it;
      const std::uint64_t from = std::max(begin, range.begin), to = std::min(end, range.end);
      if (from >= to) {
        ++it;
        continue;
      }
      gone += to - from;
      on_gone(Range{from, to});
      it = ranges_.erase(it);
      if (begin < from) ranges_.emplace_hint(it, begin, from);
      if (to < end) it = std::next(ranges_.emplace_hint(it, to, end));
    }
    return gone;
  }

  bool empty() const { return ranges_.empty(); }

  /// The whole range that holds the number, or an empty one.
  Range around(std::uint64_t number) const {
    const auto behind = ranges_.upper_bound(number);
    if (behind == ranges_.begin()) return {};
    const auto [begin, end] = *std::prev(behind);
    return number < end ? Range{begin, end} : Range{};
  }

  /// How much of the range is there.
  std::uint64_t covered(Range range) const {
    std::uint64_t there = 0;
    auto it = ranges_.upper_bound(range.begin);
    if (it != ranges_.begin()) --it;
    for (; it != ranges_.end() && it->first < range.end; ++it) {
      const std::uint64_t from = std::max(it->first, range.begin);
      const std::uint64_t to = std::min(it->second, range.end);
      if (to > from) there += to - from;
    }
    return there;
  }

private:
  std::map<std::uint64_t, std::uint64_t> ranges_; ///< begin → end
};

} // namespace umf::memory
