#include "tests/policy/ground.h"

#include <catch2/catch.hpp>

#include <set>

using namespace umf;
using namespace umf::test;

TEST_CASE("policies have names of their own and can be made from no keys at all") {
  std::set<std::string> names;
  for (const policy::Kind& kind : policy::kinds()) {
    INFO(kind.info->name);
    CHECK(kind.info->name.rfind("policy.", 0) == 0);
    CHECK_FALSE(kind.info->help.empty());
    CHECK(kind.sentence.back() == '.');
    CHECK(names.insert(kind.info->name).second);
    CHECK(make_policy(R"({"name": ")" + kind.info->name.substr(7) + R"("})") != nullptr);
  }
  for (const std::string name :
       {"hbm-only", "static", "lru", "remote-read", "umf", "best-static", "belady"})
    CHECK(names.count("policy." + name) == 1);
}

TEST_CASE("every key of a policy says where its default is from") {
  for (const policy::Kind& kind : policy::kinds())
    for (const KeyInfo& key : kind.info->keys) {
      INFO(kind.info->name << " " << key.name);
      CHECK_FALSE(key.help.empty());
      CHECK_FALSE(key.source.empty());
    }
}

TEST_CASE("the ground counts pages by class of tier") {
  TestGround test;
  test.hbm(10).pool(5).hbm(3);
  const policy::Ground ground = test.ground();
  CHECK(ground.first(policy::TierClass::pool) == &ground.tiers[1]);
  CHECK(ground.first(policy::TierClass::host) == nullptr);
  ground.tiers[0].frames->take(4);
  CHECK(ground.free_pages(policy::TierIndex{0}) == 6);
  CHECK(ground.free_pages(policy::TierClass::hbm) == 9);
  CHECK(ground.all_pages(policy::TierClass::hbm) == 13);
  CHECK(ground.free_pages(policy::TierClass::host) == 0);
}

TEST_CASE("another GPU's memory has no frames and is never the first of its class") {
  // As the second GPU of two sees the tiers: the first one's HBM keeps its index.
  TestGround test;
  test.hbm(0).hbm(10).pool(5);
  const policy::Ground ground = test.ground();
  CHECK(ground.first(policy::TierClass::hbm) == &ground.tiers[1]);
  CHECK(ground.index(policy::TierClass::hbm) == policy::TierIndex{1});
  CHECK_FALSE(ground.index(policy::TierClass::sram).has_value());
  CHECK(ground.free_pages(policy::TierClass::hbm) == 10);
  CHECK(ground.all_pages(policy::TierClass::hbm) == 10);
  CHECK_FALSE(ground.tiers[0].in_reach());
  std::vector<policy::Grant> grants;
  policy::grant(ground, policy::TierClass::hbm, 4, grants);
  REQUIRE(grants.size() == 1);
  CHECK(grants[0].tier == 1);
}
