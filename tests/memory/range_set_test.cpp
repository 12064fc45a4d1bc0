#include "model/base/random.h"
#include "model/memory/range_set.h"

#include <catch2/catch.hpp>

#include <set>

using namespace umf;
using memory::Range;

TEST_CASE("a set of ranges counts what was not there and what is") {
  memory::RangeSet set;
  CHECK(set.insert({10, 20}) == 10);
  CHECK(set.insert({30, 40}) == 10);
  CHECK(set.insert({15, 35}) == 10); // 20 to 30
  CHECK(set.insert({10, 40}) == 0);
  CHECK(set.insert({40, 41}) == 1);
  CHECK(set.insert({7, 7}) == 0);
  CHECK(set.covered({0, 100}) == 31);
  CHECK(set.covered({12, 13}) == 1);
  CHECK(set.covered({41, 50}) == 0);
}

TEST_CASE("a set of ranges is the set of its numbers") {
  RandomStream random(1, "range set");
  memory::RangeSet set;
  std::set<std::uint64_t> plain;
  for (int i = 0; i < 3000; ++i) {
    if (i % 300 == 0) { // small sets and full ones
      set = {};
      plain.clear();
    }
    const std::uint64_t begin = random.next_below(400);
    const Range range{begin, begin + random.next_below(12)};
    std::uint64_t there = 0, fresh = 0;
    for (std::uint64_t n = range.begin; n < range.end; ++n)
      there += plain.count(n);
    REQUIRE(set.covered(range) == there);
    for (std::uint64_t n = range.begin; n < range.end; ++n)
      fresh += plain.insert(n).second ? 1 : 0;
    REQUIRE(set.insert(range) == fresh);
    const std::uint64_t from = random.next_below(400);
    const Range taken{from, from + random.next_below(9)};
    std::uint64_t gone = 0, told = 0;
    for (std::uint64_t n = taken.begin; n < taken.end; ++n)
      gone += plain.erase(n);
    REQUIRE(set.erase(taken, [&](Range part) { told += part.size(); }) == gone);
    REQUIRE(told == gone);
    REQUIRE(set.empty() == plain.empty());
  }
}
