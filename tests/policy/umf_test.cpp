#include "tests/base/error_of.h"
#include "tests/policy/ground.h"

#include <catch2/catch.hpp>

using namespace umf;
using namespace umf::test;
using policy::Order;
using policy::TierIndex;
using stream::Role;

/// Blocks are single pages; tier 0 is HBM, tier 1 the pool. Nothing is kept free unless a test
/// says so.
namespace {

struct Machine {
  memory::FrameAllocator hbm, pool;
  policy::Ground ground;
  std::unique_ptr<policy::Policy> policy;
  std::map<memory::PageNumber, TierIndex> home;
  std::vector<Order> orders; ///< not carried out yet
  Femtoseconds now{0};

  Machine(std::uint64_t hbm_pages, std::uint64_t pool_pages, const std::string& keys = {})
      : hbm(hbm_pages), pool(pool_pages), ground{kPage,
                                                 {{"hbm", policy::TierClass::hbm, &hbm},
                                                  {"cxl", policy::TierClass::pool, &pool}}},
        policy(make_policy(text_of(keys))) {}

  /// These keys and, where they say nothing, what the tests start from.
  static std::string text_of(const std::string& keys) {
    std::string text = R"({"name": "umf")";
    for (const std::string base :
         {R"("block": "64KiB")", R"("hbm_reserve_ratio": 0)", R"("demote_watermark": 0)",
          R"("promote_margin": 0)", R"("window": "1us")", R"("review": "0ns")"})
      if (keys.find(base.substr(0, base.find(':'))) == std::string::npos)
        text.append(", ").append(base);
    if (!keys.empty()) text.append(", ").append(keys);
    return text.append("}");
  }

  memory::AddressSpace::Entry entry(Role role, std::uint64_t base, std::uint64_t pages) const {
    memory::AddressSpace::Entry entry;
    entry.tensor.name = "t";
    entry.tensor.role = role;
    entry.base = base * kPage.count;
    entry.pages = pages;
    entry.tensor.bytes = {pages * kPage.count};
    return entry;
  }
  /// Places a tensor at pages `base` on; returns how many of them are in HBM.
  std::uint64_t place(Role role, std::uint64_t base, std::uint64_t pages, bool initial = false) {
    const auto tensor = entry(role, base, pages);
    std::vector<policy::Grant> grants;
    policy->place({&tensor, 0, pages, initial}, ground, grants);
    std::uint64_t in_hbm = 0, at = base;
    for (const auto& grant : grants) {
      ground.tiers[grant.tier].frames->take(grant.pages);
      for (std::uint64_t p = 0; p < grant.pages; ++p)
        home[at++] = grant.tier;
      if (grant.tier == 0) in_hbm += grant.pages;
    }
    return in_hbm;
  }
  void release(Role role, std::uint64_t base, std::uint64_t pages) {
    for (std::uint64_t p = base; p < base + pages; ++p) {
      const TierIndex tier = home.at(p);
      policy->released(entry(role, base, pages), {p, 1, tier, {}, 0}, ground);
      home.erase(p);
      tier == 0 ? give(hbm) : give(pool);
    }
  }
  static void give(memory::FrameAllocator& frames) { // any used frame will do for counting
    frames.give_back({frames.used() - 1, 1});
  }
  void read(memory::PageNumber page, memory::PageState state = memory::PageState::resident) {
    now += 10_ns;
    policy::Touch touch;
    touch.pages = {page, 1, home.at(page), state, 0};
    touch.bytes = kPage;
    touch.begin = page * kPage.count;
    touch.now = now;
    policy->touched(touch, ground, orders);
  }
  /// Carries out, or refuses, every order; returns "page>tier" of each.
  std::string carry_out(bool accept = true) {
    std::string text;
    while (!orders.empty()) {
      const Order order = orders.front();
      orders.erase(orders.begin());
      if (!text.empty()) text += ' ';
      text += std::to_string(order.first);
      text += '>';
      text += std::to_string(order.to);
      const TierIndex from = home.at(order.first);
      if (accept) {
        ground.tiers[order.to].frames->take(1);
        from == 0 ? give(hbm) : give(pool);
        home[order.first] = order.to;
      }
      policy->settled({{order.first, 1, from, {}, 0}, order.to, accept, now}, ground, orders);
    }
    return text;
  }
};

} // namespace

TEST_CASE("weights leave the reserve and what lives shortly takes all that is free") {
  Machine m(20, 100, R"("hbm_reserve_ratio": 0.25)");
  CHECK(m.place(Role::weight, 0, 20, true) == 15);
  CHECK(m.place(Role::activation, 100, 8) == 5);
}

TEST_CASE("what lives shortly goes to SRAM first and everything else never") {
  TestGround ground;
  ground.hbm(10).tier(policy::TierClass::sram, 4).pool(10);
  const auto policy = make_policy(R"({"name": "umf", "demote_watermark": 0})");
  using Pages = TestGround::Pages;
  CHECK(ground.place(*policy, Role::weight, 3, 0, 3, false) == Pages{{0, 3}});
  CHECK(ground.place(*policy, Role::activation, 6, 0, 6, false) == Pages{{1, 4}, {0, 2}});
}

TEST_CASE("a short-lived page that found no room waits for a long-lived block to leave") {
  Machine m(4, 100);
  m.place(Role::weight, 0, 4);
  REQUIRE(m.place(Role::activation, 100, 1) == 0);
  m.read(100, memory::PageState::blank);
  REQUIRE_FALSE(m.orders.empty());
  CHECK(m.orders[0].first == 100);
  CHECK(m.orders[0].why == Order::Why::fill);
  CHECK(m.orders[0].to == 0);
  std::vector<Order> room;
  m.orders.clear();
  Machine other(4, 100);
  other.place(Role::weight, 0, 4);
  other.policy->make_room(0, 2, other.ground, room);
  REQUIRE(room.size() == 2);
  for (const Order& order : room) {
    CHECK(order.why == Order::Why::room);
    CHECK(order.to == 1);
  }
}

TEST_CASE("what lives shortly is never sent out") {
  Machine m(2, 100);
  m.place(Role::activation, 0, 2);
  std::vector<Order> room;
  m.policy->make_room(0, 1, m.ground, room);
  CHECK(room.empty());
}

TEST_CASE("the peak of what lives shortly is kept free by demotion") {
  Machine m(10, 100);
  m.place(Role::weight, 0, 8, true);
  m.place(Role::activation, 100, 5); // 2 in HBM, 3 outside: the peak is 5
  m.release(Role::activation, 100, 5);
  m.read(0);
  // 2 frames are free and 5 will be wanted. Block 0 was read and has not recurred: it goes first,
  // then those whose turn is farthest off.
  CHECK(m.carry_out() == "0>1 7>1 6>1");
  m.read(1);
  CHECK(m.carry_out() == "");
  CHECK(m.place(Role::activation, 100, 5) == 5);
}

TEST_CASE("a refused demotion is ordered again at a later access, not at once") {
  Machine m(4, 100);
  m.place(Role::weight, 0, 4, true);
  m.place(Role::activation, 100, 1);
  m.release(Role::activation, 100, 1);
  m.read(3);
  CHECK(m.carry_out(false) == "3>1");
  m.read(2); // which is now the one read last
  CHECK(m.carry_out() == "2>1");
}

TEST_CASE("a block outside that is read twice within the window comes into free frames") {
  Machine m(4, 100, R"("hbm_reserve_ratio": 0.5)");
  m.place(Role::weight, 0, 6, true); // 0 and 1 in HBM
  m.read(4);
  CHECK(m.carry_out() == "");
  m.read(4);
  CHECK(m.carry_out() == "4>0");
  CHECK(m.home.at(4) == 0);
}

TEST_CASE("reads farther apart than the window are no reuse") {
  Machine m(4, 100, R"("hbm_reserve_ratio": 0.5)");
  m.place(Role::weight, 0, 6, true);
  m.read(4);
  m.now += 2000_ns;
  m.read(4);
  CHECK(m.carry_out() == "");
}

TEST_CASE("a cyclic scan longer than HBM moves nothing once HBM is full") {
  Machine m(4, 100);
  m.place(Role::weight, 0, 8, true);
  for (int round = 0; round < 10; ++round)
    for (memory::PageNumber page = 0; page < 8; ++page) {
      m.read(page);
      CHECK(m.carry_out() == "");
    }
}

TEST_CASE("a cyclic scan that begins outside HBM moves nothing either") {
  // Blocks 4 to 7 have recurred before 0 to 3 have had the chance to.
  Machine m(4, 100);
  m.place(Role::weight, 0, 8, true);
  for (int round = 0; round < 10; ++round)
    for (const memory::PageNumber page : {4u, 5u, 6u, 7u, 0u, 1u, 2u, 3u}) {
      m.read(page);
      CHECK(m.carry_out() == "");
    }
}

TEST_CASE("a hot block replaces a colder one, and only with enough to gain") {
  // Pages 0 to 3 are scanned, with page 5 read after each: it is read every 20 ns, each of the
  // others every 80.
  const auto [ratio, comes] = GENERATE(table<std::string, bool>({{"2", true}, {"100", false}}));
  Machine m(4, 100, R"("swap_ratio": )" + ratio);
  m.place(Role::weight, 0, 6, true);
  std::string moves;
  for (int round = 0; round < 6; ++round)
    for (memory::PageNumber page = 0; page < 4; ++page) {
      m.read(page);
      if (round >= 2) m.read(5); // once it is known that the others recur
      moves += m.carry_out();
    }
  CAPTURE(ratio, moves);
  CHECK((m.home.at(5) == 0) == comes);
  CHECK(moves.empty() != comes);
}

TEST_CASE("no more than in_flight is on its way") {
  Machine m(10, 100, R"("in_flight": "128KiB")");
  m.place(Role::weight, 0, 10, true);
  m.place(Role::activation, 100, 6);
  m.release(Role::activation, 100, 6);
  m.read(0);
  CHECK(m.orders.size() == 2); // two blocks of 64 KiB, of the six to leave
}

TEST_CASE("what HBM does not hold is spread as the ways to the memories read") {
  const auto [keys, in_pool] =
      GENERATE(table<std::string, std::uint64_t>({{"", 20}, {R"(, "spread": false)", 30}}));
  memory::FrameAllocator hbm(3), pool(100), host(100);
  const policy::Ground ground{kPage,
                              {{"hbm", policy::TierClass::hbm, &hbm, {8e9}},
                               {"cxl", policy::TierClass::pool, &pool, {2e9}},
                               {"host", policy::TierClass::host, &host, {1e9}}}};
  const auto policy = make_policy(
      R"({"name": "umf", "block": "64KiB", "demote_watermark": 0, "hbm_reserve_ratio": 0)" + keys +
      "}");
  memory::AddressSpace::Entry entry;
  entry.tensor.role = Role::weight;
  entry.tensor.bytes = {33 * kPage.count};
  entry.pages = 33;
  std::vector<policy::Grant> grants;
  policy->place({&entry, 0, 33, true}, ground, grants);
  std::uint64_t pages[3] = {};
  for (const auto& grant : grants)
    pages[grant.tier] += grant.pages;
  CAPTURE(keys);
  CHECK(pages[0] == 3);
  CHECK(pages[1] == in_pool); // of 30, two to one
  CHECK(pages[2] == 30 - in_pool);
}

TEST_CASE("umf refuses unknown roles and impossible shares") {
  CHECK(error_of([] {
          make_policy(R"({"name": "umf", "role_priority": {"wieght": 1}})");
        }).find("unknown role \"wieght\"") != std::string::npos);
  CHECK(error_of([] {
          make_policy(R"({"name": "umf", "demote_watermark": 1.5})");
        }).find("is out of range, expected 0 to 1") != std::string::npos);
}
