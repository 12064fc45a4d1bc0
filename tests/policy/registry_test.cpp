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
    CHECK(names.insert(kind.info->name).second);
    CHECK(make_policy(R"({"name": ")" + kind.info->name.substr(7) + R"("})") != nullptr);
  }
  CHECK(names.count("policy.hbm-only") == 1);
  CHECK(names.count("policy.static") == 1);
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
