#include "model/base/error.h"
#include "model/scheduler/brain.h"

#include <catch2/catch.hpp>

#include <memory>
#include <vector>

/// S1: bytes of a tensor die before it, down to one token's key.
namespace umf::test {

namespace {

using memory::PageNumber;
using memory::PageRun;
using memory::PageState;
using scheduler::Brain;
using scheduler::Command;

constexpr Bytes kPage = 64_KiB;
constexpr std::uint64_t kKey = 2'048; // 8 heads of 128 halves: 32 keys a page
constexpr std::uint64_t kKeys = kPage.count / kKey;

/// Places everything in HBM, moves what it is told to, and notes what it hears.
struct NotingPolicy : policy::Policy {
  std::vector<policy::Order> next;
  std::vector<std::pair<PageNumber, std::uint64_t>> gone;
  int dead = 0;

  void place(const policy::Need& need, const policy::Ground&,
             std::vector<policy::Grant>& grants) override {
    grants.push_back({0, need.pages});
  }
  void touched(const policy::Touch&, const policy::Ground&,
               std::vector<policy::Order>& orders) override {
    orders.insert(orders.end(), next.begin(), next.end());
    next.clear();
  }
  void released(const memory::AddressSpace::Entry&, const PageRun& run,
                const policy::Ground&) override {
    gone.emplace_back(run.first, run.count);
  }
  void died(const memory::AddressSpace::Entry&) override { ++dead; }
};

/// HBM and pool of 10 frames each; keys of 3 pages and a third of one.
struct Bench {
  memory::FrameAllocator frames[2] = {memory::FrameAllocator(10), memory::FrameAllocator(10)};
  NotingPolicy* policy = new NotingPolicy; // owned by the brain
  Brain brain{{kPage,
               {{"hbm", policy::TierClass::hbm, &frames[0]},
                {"pool", policy::TierClass::pool, &frames[1]}}},
              std::unique_ptr<policy::Policy>(policy)};
  std::uint64_t base = 0;
  PageNumber first = 0;

  Bench() {
    stream::Tensor keys;
    keys.id = 1;
    keys.role = stream::Role::kv_key;
    keys.bytes = {(3 * kKeys + 11) * kKey};
    brain.declare(keys);
    base = brain.space().at(1).base;
    first = base / kPage.count;
  }
  std::vector<PageRun> touch(std::uint64_t page, std::uint64_t pages) {
    std::vector<PageRun> runs;
    brain.touch(base + page * kPage.count, {pages * kPage.count}, false, {}, runs);
    return runs;
  }
  PageState state(std::uint64_t page) {
    std::vector<PageRun> runs;
    brain.look(base + page * kPage.count, kPage, runs);
    return runs.front().state;
  }
  memory::Range free(std::uint64_t key, std::uint64_t keys = 1) {
    return brain.reclaim(base + key * kKey, {keys * kKey});
  }
  Command order(std::uint64_t page, std::uint64_t pages, policy::TierIndex to, bool keep = false) {
    policy->next = {{.first = first + page, .pages = pages, .to = to, .keep = keep}};
    touch(page, pages);
    return brain.next_command().value();
  }
  void finish(const Command& command) {
    brain.suspend(command);
    brain.quiesced(command);
    brain.completed(command);
  }
};

} // namespace

TEST_CASE("a page's frame returns with the last key on it, and not before") {
  Bench bench;
  bench.touch(0, 4);
  for (std::uint64_t key = 0; key + 1 < kKeys; ++key) {
    bench.free(key);
    REQUIRE(bench.frames[0].used() == 4);
    REQUIRE(bench.brain.holes().count == (key + 1) * kKey); // to the byte
  }
  CHECK(bench.policy->gone.empty());
  bench.free(kKeys - 1);
  CHECK(bench.frames[0].used() == 3);
  CHECK(bench.frames[0].used(memory::Region::kv) == 3);
  CHECK(bench.state(0) == PageState::deferred);
  CHECK(bench.state(1) == PageState::resident);
  CHECK(bench.brain.table().resident(0) == 3);
  CHECK(bench.policy->gone == std::vector<std::pair<PageNumber, std::uint64_t>>{{bench.first, 1}});
  CHECK(bench.policy->dead == 0);
  CHECK(bench.brain.holes().count == 0);
  CHECK(bench.brain.peak_holes().count == (kKeys - 1) * kKey);
  CHECK(bench.brain.counters().reclaimed.count == kPage.count);
  CHECK(bench.brain.counters().reclaimed_pages == 1);
}

TEST_CASE("one free of many pages leaves those that hold a live byte at either end") {
  Bench bench;
  bench.touch(0, 4);
  bench.free(kKeys - 1, kKeys + 2); // the last of page 0, page 1, the first of page 2
  CHECK(bench.frames[0].used() == 3);
  CHECK(bench.state(1) == PageState::deferred);
  CHECK(bench.brain.holes().count == 2 * kKey);
  CHECK(bench.policy->gone ==
        std::vector<std::pair<PageNumber, std::uint64_t>>{{bench.first + 1, 1}});
}

TEST_CASE("padding behind the last key keeps no page") {
  Bench bench;
  bench.touch(0, 4);
  const Bytes padding = bench.brain.peak_padding();
  CHECK(padding.count == (kKeys - 11) * kKey);
  bench.free(3 * kKeys, 10);
  CHECK(bench.frames[0].used() == 4);
  CHECK(bench.brain.holes().count == 10 * kKey); // padding is counted apart
  bench.free(3 * kKeys + 10);
  CHECK(bench.frames[0].used() == 3);
  CHECK(bench.brain.holes().count == 0);
}

TEST_CASE("holes are counted on pages that have frames, whenever those come") {
  Bench bench;
  bench.free(0, kKeys + 3); // nothing was touched: page 0 and a part of page 1
  CHECK(bench.brain.holes().count == 0);
  CHECK(bench.brain.counters().reclaimed_pages == 0);
  bench.touch(1, 1);
  CHECK(bench.brain.holes().count == 3 * kKey);
  CHECK(bench.brain.peak_holes().count == 3 * kKey);
  bench.finish(bench.order(1, 1, 1)); // a move changes nothing
  CHECK(bench.brain.holes().count == 3 * kKey);
}

TEST_CASE("the stretch of dead bytes grows with its neighbours") {
  Bench bench;
  const auto keys = [&](std::uint64_t from, std::uint64_t to) {
    return memory::Range{bench.base + from * kKey, bench.base + to * kKey};
  };
  CHECK(bench.free(4) == keys(4, 5));
  CHECK(bench.free(6) == keys(6, 7));
  CHECK(bench.free(5) == keys(4, 7));
}

TEST_CASE("a copy dies with its page") {
  Bench bench;
  bench.touch(0, 4);
  bench.finish(bench.order(0, 4, 1, true)); // HBM's frames keep what they held
  CHECK(bench.frames[0].kept() == 4);
  CHECK(bench.frames[1].used() == 4);
  bench.free(0, 2 * kKeys);
  CHECK(bench.frames[0].kept() == 2);
  CHECK(bench.frames[1].used() == 2);
}

TEST_CASE("pages in a command are busy until it is over, their neighbours are not") {
  Bench bench;
  bench.touch(0, 4);
  const Command command = bench.order(1, 1, 1);
  const auto busy = [&](std::uint64_t key, std::uint64_t keys) {
    return bench.brain.busy(bench.base + key * kKey, {keys * kKey});
  };
  CHECK_FALSE(busy(0, kKeys));
  CHECK(busy(0, kKeys + 1));
  CHECK(busy(2 * kKeys - 1, 1));
  CHECK_FALSE(busy(2 * kKeys, 1));
  bench.free(0, kKeys);
  CHECK_THROWS_AS(bench.free(kKeys), InvariantError);
  bench.finish(command);
  CHECK_FALSE(busy(kKeys, kKeys));
  bench.free(kKeys, kKeys);
  CHECK(bench.frames[0].used() == 2);
  CHECK(bench.frames[1].used() == 0);
}

TEST_CASE("a prefetched page that dies unread was fetched in vain") {
  Bench bench;
  bench.touch(0, 4);
  bench.finish(bench.order(0, 1, 1));
  bench.policy->next = {
      {.first = bench.first, .pages = 1, .to = 0, .why = policy::Order::Why::prefetch}};
  bench.touch(3, 1);
  bench.finish(bench.brain.next_command().value());
  bench.free(0, kKeys);
  CHECK(bench.brain.counters().prefetch.issued == 1);
  CHECK(bench.brain.counters().prefetch.wasted == 1);
}

TEST_CASE("bytes die once, and inside their tensor") {
  Bench bench;
  bench.touch(0, 4);
  bench.free(3, 2);
  CHECK_THROWS_WITH(bench.free(4), Catch::Contains("freed twice"));
  CHECK_THROWS_WITH(bench.free(3 * kKeys + 11), Catch::Contains("beyond their tensor"));
  CHECK_THROWS_WITH(bench.brain.reclaim(1, {1}), Catch::Contains("outside every live tensor"));
}

TEST_CASE("a released tensor leaves neither holes nor dead bytes to who comes after it") {
  Bench bench;
  bench.touch(0, 4);
  bench.free(0, kKeys + 1);
  bench.brain.release(1);
  CHECK(bench.policy->dead == 1);
  CHECK(bench.brain.holes().count == 0);
  CHECK(bench.frames[0].used() == 0);
  stream::Tensor next;
  next.id = 2;
  next.role = stream::Role::kv_key;
  next.bytes = {4 * kPage.count};
  bench.brain.declare(next);
  REQUIRE(bench.brain.space().at(2).base == bench.base);
  bench.touch(0, 4);
  CHECK(bench.brain.holes().count == 0);
  bench.free(0); // not twice
  CHECK(bench.frames[0].used() == 4);
}

} // namespace umf::test
