#include "traces/intervals.h"

#include <catch2/catch.hpp>
#include <limits>

using namespace umf::traces;

namespace {
constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
} // namespace

TEST_CASE("a union counts covered time once") {
  REQUIRE(union_ns({}) == 0);
  REQUIRE(union_ns({{{0, 10}, {10, 15}}}) == 15);
  REQUIRE(union_ns({{{0, 10}, {2, 3}, {4, 12}}}) == 12);
  REQUIRE(union_ns({{{0, 10}, {20, 30}}, {{5, 22}}}) == 30); // the second list fills the gap
  REQUIRE(union_ns({{{5, 5}}, {{7, 7}}}) == 0);
  REQUIRE(union_ns({{{-10, -5}}, {{-7, 3}}}) == 13);
}

TEST_CASE("an overlap is a start before the predecessor's end") {
  REQUIRE(overlaps_of({}).count == 0);
  REQUIRE(overlaps_of({{0, 10}, {10, 20}}).count == 0); // touching is not overlapping
  const auto overlaps = overlaps_of({{0, 10}, {4, 6}, {8, 9}});
  REQUIRE(overlaps.count == 1); // 8 is before 10, but its predecessor ended at 6
  REQUIRE(overlaps.longest_ns == 6);
}

TEST_CASE("sums and lengths stop at the highest value") {
  REQUIRE(length_ns({kLowest, kHighest}) == kHighest);
  REQUIRE(saturating_sum(kHighest, 1) == kHighest);
  REQUIRE(saturating_sum(kLowest, -1) == kLowest);
  REQUIRE(union_ns({{{kLowest, kHighest}}}) == kHighest);
}
