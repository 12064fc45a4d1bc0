#include "tests/scheduler/reference_machine.h"

#include <catch2/catch.hpp>

using namespace umf;
using namespace umf::test;

TEST_CASE("no interleaving of accesses and moves loses a page or its data") {
  // 4 × 30,000 operations; ownership is counted after each, data is checked at each access.
  const std::uint64_t seed = GENERATE(1u, 2u, 3u, 4u);
  CAPTURE(seed);
  ReferenceMachine machine(seed);
  for (int step = 0; step < 30'000; ++step) {
    CAPTURE(step);
    REQUIRE_NOTHROW(machine.step());
    REQUIRE_NOTHROW(machine.check_ownership());
    if (step % 5'000 != 4'999) continue;
    REQUIRE_NOTHROW(machine.drain());
    REQUIRE_NOTHROW(machine.check_every_page());
  }
  // The dice did try what they are for.
  CHECK(machine.moves() > 300);
  CHECK(machine.refusals() > 80);
  CHECK(machine.parked() > 300);
  const auto& counters = machine.brain().counters();
  CHECK(counters.commands == counters.refused + counters.completed);
  CHECK(counters.completed == machine.moves());
  CHECK(counters.refused == machine.refusals());

  machine.release_all();
  for (policy::TierIndex tier = 0; tier < 3; ++tier) {
    CHECK(machine.used(tier) == 0);
    CHECK(machine.brain().table().resident(tier) == 0);
  }
  CHECK(machine.brain().table().runs() == 0);
}
