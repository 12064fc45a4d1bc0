#include "tests/policy/ground.h"

#include <catch2/catch.hpp>

using namespace umf;
using namespace umf::test;
using stream::Role;
using Pages = TestGround::Pages;

TEST_CASE("remote-read fills HBM by first touch and then the pool and then the host") {
  TestGround ground;
  ground.tier(policy::TierClass::host, 4).hbm(10).pool(6);
  const auto policy = make_policy(R"({"name": "remote-read", "hbm_reserve_ratio": 0.2})");
  CHECK(ground.initial(*policy, Role::weight, 10) == Pages{{1, 8}, {2, 2}}); // 2 of 10 kept
  CHECK(ground.first_touch(*policy, Role::kv_key, 8) == Pages{{1, 2}, {2, 4}, {0, 2}});
}

TEST_CASE("remote-read never faults and never moves") {
  TestGround test;
  test.hbm(2).pool(10);
  const auto policy = make_policy(R"({"name": "remote-read"})");
  test.first_touch(*policy, Role::activation, 4);
  policy::Touch touch;
  touch.pages = {2, 2, 1, memory::PageState::resident, 0};
  CHECK_FALSE(policy->faults(touch, test.ground()));
  std::vector<policy::Order> orders;
  for (int n = 0; n < 100; ++n)
    policy->touched(touch, test.ground(), orders);
  CHECK(orders.empty());
}
