#include "hw/platform/longest.h"
#include "hw/platform/windows.h"

#include "model/base/error.h"
#include "model/base/random.h"

#include <catch2/catch.hpp>

#include <numeric>

using namespace umf;
using namespace umf::hw;
using Kind = Windows::Kind;

namespace {

Windows windows(std::uint64_t most) {
  return {10_ns, most, {{"c", Kind::counted}, {"l", Kind::level}, {"s", Kind::spread}}};
}

} // namespace

TEST_CASE("a window holds what a counter gained, a level as it ended, and what was added") {
  Windows w = windows(8);
  CHECK(w.border() == 10_ns);
  w.add(2, 9_ns, 4);
  w.close({7, 5, 0});
  w.add(2, 10_ns, 1);
  w.add(2, 19_ns, 2);
  w.close({9, 3, 0});
  w.finish(25_ns, {9, 4, 0});

  REQUIRE(w.rows() == 3);
  const std::uint64_t expected[3][3] = {{7, 5, 4}, {2, 3, 3}, {0, 4, 0}};
  for (std::size_t r = 0; r < 3; ++r)
    for (std::size_t c = 0; c < 3; ++c)
      CHECK(w.at(r, c) == expected[r][c]);
  CHECK(w.start(2) == 20_ns);
  CHECK(w.length(1) == 10_ns);
  CHECK(w.length(2) == 5_ns); // the last one is cut short
  CHECK(w.sum(0) == 9);
}

TEST_CASE("when all rows are full pairs are joined and windows last twice as long") {
  Windows w = windows(4);
  for (std::uint64_t i = 1; i <= 3; ++i)
    w.close({i * i, i, 0}); // gains 1, 3, 5
  w.add(2, 31_ns, 9);
  w.close({16, 4, 0}); // 7, the fourth
  CHECK(w.rows() == 2);
  CHECK(w.width() == 20_ns);
  CHECK(w.border() == 60_ns);
  CHECK(w.at(0, 0) == 4);
  CHECK(w.at(1, 0) == 12);
  CHECK(w.at(0, 1) == 2); // the level of the later half
  CHECK(w.at(1, 2) == 9);
  w.add(2, 45_ns, 1);
  w.finish(50_ns, {17, 0, 0});
  REQUIRE(w.rows() == 3);
  CHECK(w.at(2, 0) == 1);
  CHECK(w.at(2, 2) == 1);
}

TEST_CASE("what happens at the very last instant belongs to the window that ends with it") {
  Windows w = windows(4);
  w.close({5, 1, 0});
  w.finish(10_ns, {6, 2, 0});
  REQUIRE(w.rows() == 1);
  CHECK(w.at(0, 0) == 6);
  CHECK(w.at(0, 1) == 2);
  CHECK(w.length(0) == 10_ns);
}

TEST_CASE("a run without time is one window without length") {
  Windows w = windows(4);
  w.finish({}, {3, 0, 0});
  REQUIRE(w.rows() == 1);
  CHECK(w.length(0) == Femtoseconds{0});
  CHECK(w.sum(0) == 3);
}

TEST_CASE("joining never changes a sum, and rows stay within bounds") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    RandomStream random(seed, "windows");
    const std::uint64_t most = 2 + 2 * (random.next() % 8);
    Windows w = windows(most);
    std::uint64_t counter = 0, added = 0;
    // Few rows double their length often: until simulated time, 64 bits of it, would end.
    for (int i = 0; i < 1000 && w.border().count < INT64_MAX / 4; ++i) {
      const auto within = static_cast<std::int64_t>(random.next() % 10'000'000);
      const std::uint64_t amount = random.next() % 1000;
      w.add(2, w.border() - Femtoseconds{1 + within}, amount);
      added += amount;
      counter += random.next() % 1000;
      w.close({counter, 0, 0});
      REQUIRE(w.rows() < most);
    }
    w.finish(w.border(), {counter + 1, 0, 0});
    CHECK(w.sum(0) == counter + 1);
    CHECK(w.sum(2) == added);
  }
}

TEST_CASE("a counter that falls is a broken invariant") {
  Windows w = windows(4);
  w.close({5, 0, 0});
  CHECK_THROWS_AS(w.close({4, 0, 0}), InvariantError);
}

TEST_CASE("the longest spans stay, of equals the first, in the order they came") {
  Longest<int> longest(3);
  const int lengths[] = {5, 1, 5, 9, 5};
  for (int i = 0; i < 5; ++i)
    longest.add(Femtoseconds{lengths[i]}, i);
  CHECK(longest.kept() == std::vector<int>{0, 2, 3});
  CHECK(longest.seen() == 5);
  CHECK(longest.left_out() == 2);
  Longest<int> none(0);
  none.add(1_ns, 1);
  CHECK(none.kept().empty());
  CHECK(none.left_out() == 1);
}
