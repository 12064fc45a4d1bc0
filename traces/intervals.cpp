#include "traces/intervals.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>

namespace umf::traces {

std::int64_t saturating_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? std::numeric_limits<std::int64_t>::min()
               : std::numeric_limits<std::int64_t>::max();
}

std::int64_t length_ns(const Interval& interval) {
  std::int64_t length = 0;
  return __builtin_sub_overflow(interval.end_ns, interval.start_ns, &length)
             ? std::numeric_limits<std::int64_t>::max()
             : length;
}

std::int64_t union_ns(const std::vector<std::vector<Interval>>& lists) {
  using Next = std::tuple<std::int64_t, std::size_t, std::size_t>; // start, list, position
  std::priority_queue<Next, std::vector<Next>, std::greater<>> nexts;
  for (std::size_t list = 0; list < lists.size(); ++list)
    if (!lists[list].empty()) nexts.emplace(lists[list][0].start_ns, list, 0);

  std::int64_t covered = 0;
  std::int64_t covered_to = std::numeric_limits<std::int64_t>::min();
  while (!nexts.empty()) {
    const auto [start, list, position] = nexts.top();
    nexts.pop();
    const Interval fresh{std::max(start, covered_to), lists[list][position].end_ns};
    if (fresh.end_ns > fresh.start_ns) {
      covered = saturating_sum(covered, length_ns(fresh));
      covered_to = fresh.end_ns;
    }
    if (position + 1 < lists[list].size())
      nexts.emplace(lists[list][position + 1].start_ns, list, position + 1);
  }
  return covered;
}

Overlaps overlaps_of(const std::vector<Interval>& sorted) {
  Overlaps overlaps;
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i].start_ns >= sorted[i - 1].end_ns) continue;
    ++overlaps.count;
    overlaps.longest_ns =
        std::max(overlaps.longest_ns, length_ns({sorted[i].start_ns, sorted[i - 1].end_ns}));
  }
  return overlaps;
}

} // namespace umf::traces
