#include "tests/base/error_of.h"
#include "tests/policy/ground.h"

#include <catch2/catch.hpp>

using namespace umf;
using namespace umf::test;
using policy::Order;
using stream::Role;
using Pages = TestGround::Pages;

/// Blocks of two pages of 64 KiB.
namespace {

std::unique_ptr<policy::Policy> lru(const std::string& keys = R"("block": "128KiB")") {
  return make_policy(R"({"name": "lru", )" + keys + "}");
}

policy::Touch touch(memory::PageNumber first, std::uint64_t pages, policy::TierIndex tier) {
  policy::Touch touch;
  touch.pages = {first, pages, tier, memory::PageState::resident, 0};
  touch.bytes = {pages * kPage.count};
  return touch;
}

std::vector<memory::PageNumber> victims(policy::Policy& policy, const policy::Ground& ground,
                                        std::uint64_t pages) {
  std::vector<Order> orders;
  policy.make_room(0, pages, ground, orders);
  std::vector<memory::PageNumber> first;
  for (const Order& order : orders) {
    CHECK(order.why == Order::Why::room);
    CHECK(order.from == policy::TierIndex{0});
    CHECK(order.to == 1);
    first.push_back(order.first);
  }
  return first;
}

} // namespace

TEST_CASE("lru places weights up to the reserve and first touches into what is left") {
  TestGround ground;
  ground.hbm(20).pool(100);
  const auto policy = lru(R"("hbm_reserve_ratio": 0.25)");
  CHECK(ground.initial(*policy, Role::weight, 20) == Pages{{0, 15}, {1, 5}});
  CHECK(ground.first_touch(*policy, Role::activation, 8) == Pages{{0, 5}, {1, 3}});
}

TEST_CASE("lru backs pages by the pool first or the host first") {
  TestGround ground;
  ground.tier(policy::TierClass::host, 10).hbm(2).pool(10);
  CHECK(ground.first_touch(*lru(), Role::activation, 14) == Pages{{1, 2}, {2, 10}, {0, 2}});
  TestGround other;
  other.tier(policy::TierClass::host, 10).hbm(2).pool(10);
  CHECK(other.first_touch(*lru(R"("backing": "host")"), Role::activation, 14) ==
        Pages{{1, 2}, {0, 10}, {2, 2}});
}

TEST_CASE("pages outside HBM are blank until touched and initial ones are not") {
  TestGround test;
  test.hbm(2).pool(10);
  const auto policy = lru();
  memory::AddressSpace::Entry entry;
  entry.pages = 4;
  for (const bool initial : {false, true}) {
    std::vector<policy::Grant> grants;
    policy->place({&entry, 0, 4, initial}, test.ground(), grants);
    REQUIRE(grants.size() == 2);
    CHECK_FALSE(grants[0].blank); // in HBM
    CHECK(grants[1].blank == !initial);
  }
}

TEST_CASE("an access outside HBM faults and brings its whole blocks in") {
  TestGround test;
  test.hbm(10).pool(10);
  const auto policy = lru();
  CHECK_FALSE(policy->faults(touch(3, 2, 0), test.ground()));
  REQUIRE(policy->faults(touch(3, 2, 1), test.ground()));
  std::vector<Order> orders;
  policy->resolve(touch(3, 2, 1), test.ground(), orders);
  REQUIRE(orders.size() == 2); // pages 3 and 4 lie in blocks 2..3 and 4..5
  for (const std::size_t n : {0u, 1u}) {
    CHECK(orders[n].first == 2 + 2 * n);
    CHECK(orders[n].pages == 2);
    CHECK(orders[n].to == 0);
    CHECK(orders[n].why == Order::Why::fill);
  }
}

TEST_CASE("the block used longest ago leaves first") {
  TestGround test;
  test.hbm(6).pool(10);
  const auto policy = lru();
  test.first_touch(*policy, Role::activation, 6); // pages 0 to 5: blocks 0, 1, 2
  std::vector<Order> none;
  policy->touched(touch(0, 2, 0), test.ground(), none);
  CHECK(victims(*policy, test.ground(), 1) == std::vector<memory::PageNumber>{2});
  // What leaves already is not asked for twice; three pages are two blocks.
  CHECK(victims(*policy, test.ground(), 3) == std::vector<memory::PageNumber>{4, 0});
  CHECK(victims(*policy, test.ground(), 1).empty());
}

TEST_CASE("blocks follow moves and releases") {
  TestGround test;
  test.hbm(4).pool(10);
  const auto policy = lru();
  test.first_touch(*policy, Role::activation, 4);
  std::vector<Order> none;
  policy->settled({{0, 2, 0, {}, 0}, 1, true, {}}, test.ground(), none); // 0 and 1 have left
  policy->settled({{8, 1, 1, {}, 0}, 0, true, {}}, test.ground(), none); // 8 has come
  policy->released({}, {2, 2, 0, {}, 0}, test.ground());                 // 2 and 3 are gone
  CHECK(victims(*policy, test.ground(), 6) == std::vector<memory::PageNumber>{8});
}

TEST_CASE("nothing leaves where nothing can take it, and what is unmet is read where it is") {
  TestGround test;
  test.hbm(4).pool(1); // a block has two pages
  const auto policy = lru();
  test.first_touch(*policy, Role::activation, 4);
  CHECK(victims(*policy, test.ground(), 2).empty());
  policy->unmet({9, 1, 1, {}, 0}, test.ground());
  CHECK_FALSE(policy->faults(touch(9, 1, 1), test.ground()));
  policy->released({}, {0, 1, 0, {}, 0}, test.ground()); // there is room again
  CHECK(policy->faults(touch(9, 1, 1), test.ground()));
}

TEST_CASE("lru refuses what no memory holds") {
  TestGround ground;
  ground.hbm(4).pool(4);
  CHECK(error_of([&] { ground.first_touch(*lru(), Role::activation, 9); })
            .find("does not fit: it needs 589824 B more in HBM and the memories behind it, which "
                  "has 524288 B free of 524288 B") != std::string::npos);
}
