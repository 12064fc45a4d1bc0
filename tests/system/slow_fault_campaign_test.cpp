#include "tests/system/fault_campaign.h"

#include <catch2/catch.hpp>

using namespace umf::test;

TEST_CASE("links that fail at random times leave no books unbalanced: 1000 seeds") {
  const Campaign all = fault_campaign(1, 1000);
  CHECK(all.failures == "");
  CHECK(all.runs == 1000);
  // They did meet what they are for.
  CHECK(all.degraded > 300);
  CHECK(all.moved > 0);
  CHECK(all.synced > 1000);
  CHECK(all.forced > 1000);
}
