#include "model/base/random.h"
#include "model/policy/room.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

using namespace umf;

TEST_CASE("room is the least that is free at any step") {
  RandomStream random(1, "room");
  for (int round = 0; round < 50; ++round) {
    const std::size_t steps = 1 + random.next_below(40);
    policy::Room room(steps, 1000);
    std::vector<std::uint64_t> plain(steps, 1000);
    for (int i = 0; i < 60; ++i) {
      const std::size_t begin = random.next_below(steps);
      const std::size_t end = begin + 1 + random.next_below(steps - begin);
      const auto from = plain.begin() + static_cast<std::ptrdiff_t>(begin);
      const auto to = plain.begin() + static_cast<std::ptrdiff_t>(end);
      REQUIRE(room.least(begin, end) == *std::min_element(from, to));
      const std::uint64_t taken = random.next_below(15);
      room.take(begin, end, taken);
      std::for_each(from, to, [&](std::uint64_t& free) { free -= taken; });
    }
  }
}
