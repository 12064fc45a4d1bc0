#include "tests/system/fault_campaign.h"

#include <catch2/catch.hpp>

using namespace umf::test;

/// Few of the seeds of slow_fault_campaign_test, for sanitizers.
TEST_CASE("links that fail at random times leave no books unbalanced: 50 seeds") {
  const Campaign all = fault_campaign(1, 50);
  CHECK(all.failures == "");
  CHECK(all.degraded > 10);
  CHECK(all.moved > 0);
}
