#include "tests/scheduler/carry_out.h"

#include "model/base/json.h"
#include "model/policy/registry.h"

#include <catch2/catch.hpp>

#include <deque>
#include <memory>
#include <string>
#include <vector>

/// S7: when a pool becomes read only and when not, and what every policy makes of it.
using namespace umf;
using namespace umf::test;
using namespace umf::scheduler;
using policy::TierClass;
using stream::Role;

namespace {

constexpr Bytes kPage = 64_KiB;
constexpr Condition kGood{}, kHalf{.rate = 0.5};
/// Below 0.6, back at 0.9 after 10 us, errors from 1e-3.
constexpr Degrading kSettings{0.6, 0.9, 10000_ns, 1e-3};

/// HBM, pool and host of so many pages under a policy; commands are carried out at once.
struct Bench {
  std::deque<memory::FrameAllocator> frames;
  Brain brain;
  Femtoseconds now{0};

  Bench(std::vector<std::uint64_t> pages, const std::string& policy, Coherence coherence = {})
      : frames(pages.begin(), pages.end()), brain({kPage,
                                                   {{"hbm", TierClass::hbm, &frames[0]},
                                                    {"pool", TierClass::pool, &frames[1]},
                                                    {"host", TierClass::host, &frames[2]}}},
                                                  made(policy), coherence, kSettings) {}

  static std::unique_ptr<policy::Policy> made(const std::string& json) {
    const JsonValue object = parse_json(json, "p.json");
    KeyContext context;
    auto policy = policy::kind_named(object.find(policy::kNameKey)->text()).make(object, context);
    context.throw_if_faulty();
    return policy;
  }
  void declare(stream::TensorId id, std::uint64_t pages, Role role = Role::kv_key) {
    stream::Tensor tensor;
    tensor.id = id;
    tensor.name = "t";
    tensor.role = role;
    tensor.bytes = {pages * kPage.count};
    brain.declare(tensor);
  }
  void touch(stream::TensorId id, std::uint64_t first, std::uint64_t pages, bool write = false) {
    now += 1000_ns;
    std::vector<PageRun> runs;
    brain.touch(brain.space().at(id).base + first * kPage.count, {pages * kPage.count}, write, now,
                runs);
    carry_out(brain, now);
  }
  void pool_is(const Condition& condition) {
    now += 1000_ns;
    brain.link_changed(1, condition, now);
  }
  std::uint64_t used(TierIndex tier) const { return frames[tier].used(); }
  const DegradeCounters& counters() const { return brain.counters().degrade; }
};

const char* const kAnyPolicy[] = {
    R"({"name":"remote-read"})", R"({"name":"lru","block":"64KiB"})",
    R"({"name":"belady","block":"64KiB"})", R"({"name":"best-static"})",
    R"({"name":"umf","block":"64KiB","hbm_reserve_ratio":0,"demote_watermark":0})"};

} // namespace

TEST_CASE("a way closes below its limit, and each reason has its name") {
  Degrade way(kSettings);
  CHECK(!way.set({.rate = 0.6}, 1_ns)); // at the limit it is good enough
  CHECK(way.set({.rate = 0.599}, 2_ns) == Trigger::rate);
  CHECK(way.closed());
  CHECK(!way.set({.rate = 0.3}, 3_ns)); // closed already
  CHECK(Degrade(kSettings).set({.errors = 1e-3}, 1_ns) == Trigger::errors);
  CHECK(!Degrade(kSettings).set({.errors = 0.9e-3}, 1_ns));
  CHECK(Degrade(kSettings).set({.hot = true}, 1_ns) == Trigger::heat);
  CHECK(Degrade(kSettings).set({0.1, 0.5, true}, 1_ns) == Trigger::rate);
  const Degrading never{0, 0.9, 0_ns, 0};
  CHECK(!Degrade(never).set({0.01, 0.5, false}, 1_ns));
  CHECK(Degrade(never).set({0.01, 0.5, true}, 1_ns) == Trigger::heat);
}

TEST_CASE("a way opens when nothing has been wrong with it for long enough") {
  Degrade way(kSettings);
  way.set(kHalf, 0_ns);
  CHECK(way.due() == kNever);
  way.set({.rate = 0.89}, 1000_ns); // not bad, not good
  CHECK(way.due() == kNever);
  way.set({.rate = 0.9}, 2000_ns);
  CHECK(way.due() == 12000_ns);
  way.set(kGood, 5000_ns); // still good: since then
  CHECK(way.due() == 12000_ns);
  way.set({.rate = 1, .errors = 1e-3}, 6000_ns);
  CHECK(way.due() == kNever);
  way.set({.rate = 1, .errors = 1e-4}, 7000_ns);
  CHECK(way.due() == 17000_ns);
  way.open();
  CHECK(!way.closed());
}

TEST_CASE("a link that comes and goes makes the pool read only once") {
  Bench bench({4, 40, 0}, kAnyPolicy[0]);
  // 20 times down for 1 us, up for 1 us, then good: 39 us after the first, and 10 us more.
  for (int turn = 0; turn < 20; ++turn) {
    bench.pool_is(kHalf);
    bench.pool_is(kGood);
  }
  CHECK(bench.counters().entered[0] == 1);
  CHECK(bench.brain.ground().tiers[1].read_only);
  CHECK(bench.brain.read_only_for(bench.now) == 39000_ns);
  // Found late by an access 1 ms on, it still opened when it was due.
  bench.now += 1000000_ns;
  CHECK(bench.brain.read_only_for(bench.now) == 49000_ns);
  bench.declare(1, 1);
  bench.touch(1, 0, 1);
  CHECK(!bench.brain.ground().tiers[1].read_only);
  CHECK(bench.brain.read_only_for(bench.now) == 49000_ns);
}

TEST_CASE("only pools become read only: what the host has no room for has nowhere else to go") {
  Bench bench({4, 4, 4}, kAnyPolicy[0]);
  bench.brain.link_changed(0, kHalf, 1_ns);
  bench.brain.link_changed(2, kHalf, 1_ns);
  CHECK(!bench.brain.ground().tiers[0].read_only);
  CHECK(!bench.brain.ground().tiers[2].read_only);
  CHECK(bench.counters().entered[0] == 0);
}

TEST_CASE("new pages go to HBM and the host, and to a pool that is read only when all is full") {
  const std::string policy = GENERATE(from_range(std::begin(kAnyPolicy), std::end(kAnyPolicy)));
  CAPTURE(policy);
  Bench bench({8, 8, 8}, policy);
  bench.pool_is(kHalf);
  bench.declare(1, 16, Role::weight);
  bench.touch(1, 0, 16); // 8 pages of HBM, 8 of the host
  CHECK(bench.used(1) == 0);
  CHECK(bench.counters().forced_pages == 0);
  bench.declare(2, 5);
  bench.touch(2, 0, 5);
  CHECK(bench.used(0) + bench.used(1) + bench.used(2) == 21);
  CHECK(bench.counters().forced_pages == 5);
  // Read there or written there, it is served.
  bench.touch(2, 0, 5, true);
  bench.touch(1, 0, 16, true);
  CHECK(bench.used(0) + bench.used(1) + bench.used(2) == 21);
  // 4 more do not fit: that is the end under any policy, link or not.
  bench.declare(3, 4);
  CHECK_THROWS_AS(bench.touch(3, 0, 4), UserError);
}

TEST_CASE("fixed shares: HBM has what the pool would, though a share of nothing was asked for") {
  Bench bench({8, 8, 8}, R"({"name":"static","hbm_share":{"kv-key":0}})");
  bench.pool_is(kHalf);
  bench.declare(1, 8);
  bench.touch(1, 0, 8, true);
  CHECK(bench.used(0) == 8);
  bench.declare(2, 2);
  bench.touch(2, 0, 2, true); // this policy knows no host
  CHECK(bench.used(1) == 2);
  CHECK(bench.counters().forced_pages == 2);
  CHECK(bench.counters().forced_writes == 1);
  bench.pool_is(kGood);
  bench.now += 10000_ns;
  bench.declare(3, 2);
  bench.touch(3, 0, 2, true);
  CHECK(bench.used(1) == 4);
  CHECK(bench.counters().forced_pages == 2);
}

TEST_CASE("staged writes to a pool that is read only are counted once each") {
  Bench bench({16, 8, 0}, R"({"name":"static","hbm_share":{"kv-key":0}})",
              {PoolWrites::staged, false, kPage});
  bench.declare(1, 4);
  bench.touch(1, 0, 4);
  bench.pool_is(kHalf);
  bench.touch(1, 0, 1, true);
  bench.touch(1, 1, 1, true);
  CHECK(bench.counters().forced_writes == 2);
  CHECK(bench.brain.counters().syncs == 2);
}

TEST_CASE("paging stops sending victims to it, and begins again") {
  // Two pages of HBM, four read in turn: each read exchanges one with the pool.
  Bench bench({2, 8, 0}, R"({"name":"lru","block":"64KiB"})");
  bench.declare(1, 4, Role::weight);
  bench.brain.preload(1);
  for (std::uint64_t page = 0; page < 8; ++page)
    bench.touch(1, page % 4, 1);
  const std::uint64_t before = bench.brain.counters().demotions;
  CHECK(before > 0);
  bench.pool_is(kHalf);
  for (std::uint64_t page = 0; page < 8; ++page)
    bench.touch(1, page % 4, 1);
  CHECK(bench.brain.counters().demotions == before);
  CHECK(bench.brain.counters().unmet > 0); // read where they are
  bench.pool_is(kGood);
  bench.now += 10000_ns;
  for (std::uint64_t page = 0; page < 8; ++page)
    bench.touch(1, page % 4, 1);
  CHECK(bench.brain.counters().demotions > before);
}

namespace {

/// Orders what a test wants, and remembers what became of it.
class Ordering : public policy::Policy {
public:
  std::vector<policy::Order> next;
  std::vector<bool> moved;

  void place(const policy::Need& need, const policy::Ground& ground,
             std::vector<policy::Grant>& grants) override {
    const bool first = ground.free_pages(TierClass::pool) >= need.pages;
    policy::grant(ground, first ? TierClass::pool : TierClass::hbm, need.pages, grants);
  }
  void touched(const policy::Touch&, const policy::Ground&,
               std::vector<policy::Order>& orders) override {
    orders.swap(next);
  }
  void settled(const policy::Settled& move, const policy::Ground&,
               std::vector<policy::Order>&) override {
    moved.push_back(move.moved);
  }
};

} // namespace

TEST_CASE("a pool that is read only is a cache: what has a clean copy there goes back to it") {
  std::deque<memory::FrameAllocator> frames;
  for (const std::uint64_t pages : {8u, 8u})
    frames.emplace_back(pages);
  auto owned = std::make_unique<Ordering>();
  Ordering& policy = *owned;
  Brain brain({kPage, {{"hbm", TierClass::hbm, &frames[0]}, {"pool", TierClass::pool, &frames[1]}}},
              std::move(owned), {}, kSettings);
  stream::Tensor tensor;
  tensor.id = 1;
  tensor.name = "t";
  tensor.bytes = {2 * kPage.count};
  brain.declare(tensor);
  const std::uint64_t base = brain.space().at(1).base;
  const PageNumber first = base / kPage.count;
  Femtoseconds now{0};
  const auto touch = [&](std::uint64_t page, bool write) {
    now += 1000_ns;
    std::vector<PageRun> runs;
    brain.touch(base + page * kPage.count, kPage, write, now, runs);
    carry_out(brain, now);
    return runs.front();
  };
  const auto order = [&](policy::TierIndex to) {
    policy.next = {{.first = first, .pages = 2, .to = to, .keep = to == 0}};
    touch(0, false);
  };
  touch(0, false);
  touch(1, false); // both in the pool
  brain.link_changed(1, kHalf, now);
  order(0); // comes home: a read of the pool
  CHECK(frames[0].used() == 2);
  touch(1, true); // its copy is worth nothing any more
  policy.moved.clear();
  order(1);
  CHECK(policy.moved == std::vector{false, true}); // told at once; the other goes back
  CHECK(brain.counters().returned == 1);
  CHECK(brain.counters().degrade.declined == 1);
  CHECK(brain.counters().moved == Bytes{2 * kPage.count}); // only what came home was copied
  CHECK(frames[0].used() == 1);
  CHECK(frames[1].used() == 1);
  touch(0, true); // is written all the same
  CHECK(brain.counters().degrade.forced_writes == 1);
}
