#pragma once

#include <compare>
#include <cstdint>
#include <vector>

namespace umf::traces {

/// From start_ns up to, not including, end_ns; start_ns ≤ end_ns.
struct Interval {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  auto operator<=>(const Interval&) const = default;
};

/// Sums and lengths stop at the highest value instead of overflowing.
std::int64_t saturating_sum(std::int64_t, std::int64_t);
std::int64_t length_ns(const Interval&);

/// Time covered by at least one interval. Each list must be sorted.
std::int64_t union_ns(const std::vector<std::vector<Interval>>& sorted_lists);

/// Kernels of one stream that start before their predecessor ends.
struct Overlaps {
  std::uint64_t count = 0;
  std::int64_t longest_ns = 0; ///< predecessor's end minus successor's start
};

/// The predecessor is the one before in order of (start, end), whatever its end.
Overlaps overlaps_of(const std::vector<Interval>& sorted);

} // namespace umf::traces
