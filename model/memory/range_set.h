#pragma once

#include "model/memory/extent_cache.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>

namespace umf::memory {

/// A set of numbers as disjoint ranges: what of a tensor has been touched.
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
