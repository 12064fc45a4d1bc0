#include "tests/base/error_of.h"
#include "tests/policy/ground.h"

#include <catch2/catch.hpp>

using namespace umf;
using namespace umf::test;
using stream::Role;
using Pages = TestGround::Pages;

TEST_CASE("hbm-only puts everything into HBM") {
  TestGround ground;
  ground.pool(100).hbm(10);
  const auto policy = make_policy(R"({"name": "hbm-only"})");
  CHECK(ground.initial(*policy, Role::weight, 6) == Pages{{1, 6}});
  CHECK(ground.first_touch(*policy, Role::activation, 4) == Pages{{1, 4}});
}

TEST_CASE("hbm-only fills one HBM after the other") {
  TestGround ground;
  ground.hbm(4).hbm(4);
  const auto policy = make_policy(R"({"name": "hbm-only"})");
  CHECK(ground.initial(*policy, Role::weight, 7) == Pages{{0, 4}, {1, 3}});
}

TEST_CASE("hbm-only refuses what does not fit, with the tensor's name and both numbers") {
  TestGround ground;
  ground.hbm(10).pool(100);
  const auto policy = make_policy(R"({"name": "hbm-only"})");
  ground.initial(*policy, Role::weight, 7);
  // 4 pages of 65536 B are 262144 B; 3 of 10 pages are free: 196608 B of 655360 B
  CHECK(error_of([&] { ground.first_touch(*policy, Role::activation, 4); }) ==
        "tensor \"wte\" does not fit: it needs 262144 B more in HBM, which has 196608 B free of "
        "655360 B; expected a larger capacity or a policy that spills");
}

TEST_CASE("hbm-only takes no keys") {
  CHECK(error_of([] {
          make_policy(R"({"name": "hbm-only", "hbm_share": {}})");
        }).find("f.json:1:22: /hbm_share: unknown key \"hbm_share\"") == 0);
}
