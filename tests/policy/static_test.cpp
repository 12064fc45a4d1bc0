#include "tests/base/error_of.h"
#include "tests/policy/ground.h"

#include <catch2/catch.hpp>

using namespace umf;
using namespace umf::test;
using stream::Role;
using Pages = TestGround::Pages;

namespace {

std::unique_ptr<policy::Policy> fixed(const std::string& keys) {
  return make_policy(R"({"name": "static")" + (keys.empty() ? "" : ", " + keys) + "}");
}

} // namespace

TEST_CASE("static gives each role its share of HBM, the rest to the pool") {
  TestGround ground;
  ground.hbm(1000).pool(1000);
  const auto policy = fixed(
      R"("hbm_share": {"weight": 0.25, "kv-key": 0, "kv-value": 1}, "default_hbm_share": 0.5)");
  CHECK(ground.first_touch(*policy, Role::weight, 100) == Pages{{0, 25}, {1, 75}});
  CHECK(ground.first_touch(*policy, Role::kv_key, 100) == Pages{{1, 100}});
  CHECK(ground.first_touch(*policy, Role::kv_value, 100) == Pages{{0, 100}});
  CHECK(ground.first_touch(*policy, Role::expert, 100) == Pages{{0, 50}, {1, 50}});
}

TEST_CASE("a share is rounded up to whole pages, noise of doubles aside") {
  const auto [share, pages, in_hbm] = GENERATE(table<std::string, std::uint64_t, std::uint64_t>({
      {"0.25", 3, 1},   // 0.75
      {"0.5", 3, 2},    // 1.5
      {"0.07", 100, 7}, // 7.000000000000001 as doubles
      {"0.1", 10, 1},
      {"1", 7, 7},
  }));
  TestGround ground;
  ground.hbm(1000).pool(1000);
  const auto policy = fixed(R"("default_hbm_share": )" + share);
  CHECK(ground.first_touch(*policy, Role::weight, pages).front() ==
        std::pair<unsigned, std::uint64_t>(0, in_hbm));
}

TEST_CASE("the share is a leading part of the tensor, however it is touched") {
  // 40 of 100 pages are meant for HBM. Pages 30..49 straddle the border.
  const auto policy = fixed(R"("default_hbm_share": 0.4)");
  TestGround ground;
  ground.hbm(1000).pool(1000);
  CHECK(ground.place(*policy, Role::weight, 100, 0, 30, false) == Pages{{0, 30}});
  CHECK(ground.place(*policy, Role::weight, 100, 30, 20, false) == Pages{{0, 10}, {1, 10}});
  CHECK(ground.place(*policy, Role::weight, 100, 50, 50, false) == Pages{{1, 50}});
}

TEST_CASE("initial weights leave the reserve free, first touches use it") {
  TestGround ground;
  ground.hbm(100).pool(100);
  const auto policy = fixed(R"("hbm_reserve_ratio": 0.15)");
  CHECK(ground.initial(*policy, Role::weight, 80) == Pages{{0, 80}});
  CHECK(ground.initial(*policy, Role::weight, 20) == Pages{{0, 5}, {1, 15}}); // 85 of 100
  CHECK(ground.initial(*policy, Role::weight, 10) == Pages{{1, 10}});
  CHECK(ground.first_touch(*policy, Role::activation, 15) == Pages{{0, 15}});
}

TEST_CASE("what one side cannot hold goes to the other") {
  TestGround ground;
  ground.hbm(10).pool(10);
  SECTION("HBM is full: to the pool") {
    const auto policy = fixed("");
    CHECK(ground.first_touch(*policy, Role::kv_key, 15) == Pages{{0, 10}, {1, 5}});
  }
  SECTION("the pool is full: to HBM") {
    const auto policy = fixed(R"("default_hbm_share": 0)");
    CHECK(ground.first_touch(*policy, Role::kv_key, 15) == Pages{{0, 5}, {1, 10}});
  }
  SECTION("the pool is full: initial weights take the reserve") {
    const auto policy = fixed(R"("hbm_reserve_ratio": 1)");
    CHECK(ground.initial(*policy, Role::weight, 15) == Pages{{0, 5}, {1, 10}});
  }
}

TEST_CASE("static refuses when nothing is left") {
  TestGround ground;
  ground.hbm(10).pool(10);
  const auto policy = fixed("");
  ground.first_touch(*policy, Role::kv_key, 15);
  // 6 pages are 393216 B; 5 of 20 pages are free: 327680 B of 1310720 B
  CHECK(
      error_of([&] { ground.first_touch(*policy, Role::kv_key, 6); }) ==
      "tensor \"wte\" does not fit: it needs 393216 B more in HBM and the pool, which has 327680 B "
      "free of 1310720 B; expected a larger capacity or a policy that spills");
}

TEST_CASE("several pools fill in order, SRAM and host memory are left alone") {
  TestGround ground;
  ground.pool(4)
      .tier(policy::TierClass::sram, 100)
      .hbm(2)
      .pool(4)
      .tier(policy::TierClass::host, 100);
  const auto policy = fixed(R"("default_hbm_share": 0)");
  CHECK(ground.first_touch(*policy, Role::kv_key, 6) == Pages{{0, 4}, {3, 2}});
  CHECK(ground.first_touch(*policy, Role::kv_key, 4) == Pages{{2, 2}, {3, 2}});
  CHECK_FALSE(error_of([&] { ground.first_touch(*policy, Role::kv_key, 1); }).empty());
}

TEST_CASE("a role's share of SRAM is the first part of its tensors, as far as there is room") {
  TestGround ground;
  ground.hbm(1000).tier(policy::TierClass::sram, 60).pool(1000);
  const auto policy = fixed(R"("sram_share": {"kv-value": 0.5}, "default_hbm_share": 0.75)");
  // 50 of 100 pages are meant for SRAM; of the others those below 75 for HBM.
  CHECK(ground.first_touch(*policy, Role::kv_value, 100) == Pages{{1, 50}, {0, 25}, {2, 25}});
  // 10 pages are left in SRAM; pages 10..74 are the ones meant for HBM.
  CHECK(ground.first_touch(*policy, Role::kv_value, 100) == Pages{{1, 10}, {0, 65}, {2, 25}});
  CHECK(ground.first_touch(*policy, Role::kv_value, 4) == Pages{{0, 3}, {2, 1}});
  // Other roles have no share.
  CHECK(ground.first_touch(*policy, Role::kv_key, 4) == Pages{{0, 3}, {2, 1}});
}

TEST_CASE("pages behind a tensor's share of SRAM do not go there") {
  TestGround ground;
  ground.hbm(1000).tier(policy::TierClass::sram, 1000);
  const auto policy = fixed(R"("sram_share": {"activation": 0.4})");
  CHECK(ground.place(*policy, Role::activation, 100, 30, 20, false) == Pages{{1, 10}, {0, 10}});
  CHECK(ground.place(*policy, Role::activation, 100, 50, 50, false) == Pages{{0, 50}});
}

TEST_CASE("an unknown role is an error at its name, with a hint") {
  CHECK(error_of([] { fixed(R"("hbm_share": {"weight": 0.5, "kv-kye": 0.5})"); }) ==
        "f.json:1:49: /hbm_share/kv-kye: unknown role \"kv-kye\", did you mean \"kv-key\"?");
  CHECK(error_of([] {
          fixed(R"("hbm_share": {"value": {"wieght": 0.5}, "from": "measured"})");
        }).find("f.json:1:44: /hbm_share/value/wieght: unknown role \"wieght\"") == 0);
  CHECK_FALSE(error_of([] { fixed(R"("sram_share": {"wieght": 0.5})"); }).empty());
}

TEST_CASE("shares and ratios are from 0 to 1") {
  const std::string key = GENERATE("\"hbm_reserve_ratio\": 1.5", "\"default_hbm_share\": -0.1",
                                   "\"hbm_share\": {\"weight\": 2}");
  CAPTURE(key);
  CHECK(error_of([&] { fixed(key); }).find("is out of range, expected 0 to 1") !=
        std::string::npos);
}
