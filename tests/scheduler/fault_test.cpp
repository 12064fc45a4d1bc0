#include "model/base/error.h"
#include "model/scheduler/brain.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <vector>

/// Faults: who waits, when room is made, and what happens where none can be.
namespace {

using namespace umf;
using namespace umf::scheduler;
using memory::PageState;
using policy::Order;
using policy::TierIndex;

constexpr Bytes kPage = 64_KiB;

/// New pages go to tier 1, blank if so told; everything outside tier 0 faults and is filled page
/// by page; `victims` leave in order when room is wanted.
struct Pager : policy::Policy {
  bool blank = false, fill = true;
  std::uint64_t fill_pages = 1;
  std::vector<PageNumber> victims, in_place;
  std::vector<std::uint64_t> wanted; ///< what make_room was asked for

  void place(const policy::Need& need, const policy::Ground& ground,
             std::vector<policy::Grant>& grants) override {
    const std::uint64_t home = need.initial ? std::min(need.pages, ground.free_pages(0)) : 0;
    grants.push_back({0, home, false});
    grants.push_back({1, need.pages - home, blank});
  }
  bool faults(const policy::Touch& touch, const policy::Ground&) override {
    return touch.pages.tier != 0 &&
           std::find(in_place.begin(), in_place.end(), touch.pages.first) == in_place.end();
  }
  void resolve(const policy::Touch& touch, const policy::Ground&,
               std::vector<Order>& orders) override {
    if (fill) orders.push_back({touch.pages.first, fill_pages, 0, Order::Why::fill});
  }
  void make_room(TierIndex, std::uint64_t pages, const policy::Ground&,
                 std::vector<Order>& orders) override {
    wanted.push_back(pages);
    while (pages > 0 && !victims.empty()) {
      orders.push_back({victims.front(), 1, 1, Order::Why::room, TierIndex{0}});
      victims.erase(victims.begin());
      --pages;
    }
  }
  void unmet(const PageRun& run, const policy::Ground&) override {
    for (std::uint64_t p = 0; p < run.count; ++p)
      in_place.push_back(run.first + p);
  }
};

/// HBM of two frames, a pool of ten. Tensor 1 has four pages, the first two of them in HBM.
struct Bench {
  memory::FrameAllocator hbm{2}, pool{10};
  Pager* policy = new Pager; // owned by the brain
  Brain brain{
      {kPage, {{"hbm", policy::TierClass::hbm, &hbm}, {"pool", policy::TierClass::pool, &pool}}},
      std::unique_ptr<policy::Policy>(policy)};
  std::uint64_t base = 0;
  PageNumber first = 0;

  Bench() {
    stream::Tensor tensor;
    tensor.id = 1;
    tensor.bytes = {4 * kPage.count};
    brain.declare(tensor);
    brain.preload(1);
    base = brain.space().at(1).base;
    first = base / kPage.count;
  }
  std::vector<PageRun> touch(std::uint64_t page, std::uint64_t pages = 1) {
    std::vector<PageRun> runs;
    brain.touch(base + page * kPage.count, {pages * kPage.count}, false, {}, runs);
    return runs;
  }
  PageRun at(std::uint64_t page) const {
    std::vector<PageRun> runs;
    brain.look(base + page * kPage.count, kPage, runs);
    return runs.front();
  }
  std::vector<Command> take() {
    std::vector<Command> commands;
    while (const auto command = brain.next_command())
      commands.push_back(*command);
    return commands;
  }
  void finish(const Command& command) {
    brain.suspend(command);
    brain.quiesced(command);
    brain.completed(command);
  }
};

} // namespace

TEST_CASE("an access with no valid mapping waits from the fault on") {
  Bench bench;
  CHECK(bench.touch(2).front().state == PageState::suspended);
  CHECK(bench.brain.counters().faults == 1);
  CHECK(bench.brain.counters().remote_hits == 0);
  CHECK(bench.brain.faults_waiting() == 1);
  CHECK(bench.brain.busy(1));
  CHECK(bench.take().empty()); // nothing is decided before the fault's turn
  bench.touch(2);              // another access to the same page waits for the same fault
  CHECK(bench.brain.counters().faults == 1);
}

TEST_CASE("a fill waits for the room that is made for it") {
  Bench bench;
  bench.policy->victims = {bench.first + 1, bench.first};
  bench.touch(2);
  bench.brain.serve_faults(1, {});
  CHECK(bench.policy->wanted == std::vector<std::uint64_t>{1});
  auto commands = bench.take();
  REQUIRE(commands.size() == 1);
  CHECK(commands[0].from.first == bench.first + 1);
  CHECK(commands[0].demand());
  CHECK(bench.at(1).state == PageState::moving); // a victim is read until it has left
  bench.finish(commands[0]);

  commands = bench.take();
  REQUIRE(commands.size() == 1);
  CHECK(commands[0].from.first == bench.first + 2);
  CHECK(commands[0].why == Order::Why::fill);
  CHECK(bench.at(2).state == PageState::suspended);
  bench.finish(commands[0]);
  CHECK(bench.at(2).state == PageState::resident);
  CHECK(bench.at(2).tier == 0);
  CHECK(bench.brain.counters().moved.count == 2 * kPage.count);
  CHECK(bench.brain.counters().promotions == 1);
  CHECK(bench.brain.counters().demotions == 1);
  CHECK_FALSE(bench.brain.busy(1));
}

TEST_CASE("faults are served oldest first and as many pages as fit a batch") {
  Bench bench;
  bench.policy->victims = {bench.first, bench.first + 1};
  bench.policy->fill_pages = 1;
  bench.touch(2, 2);
  CHECK(bench.brain.faults_waiting() == 2);
  bench.brain.serve_faults(1, {});
  CHECK(bench.brain.faults_waiting() == 1);
  bench.brain.serve_faults(8, {});
  CHECK(bench.brain.faults_waiting() == 0);
  CHECK(bench.take().size() == 2); // both victims
}

TEST_CASE("a fill takes along what else of its pages faulted or lies still") {
  Bench bench;
  bench.policy->victims = {bench.first, bench.first + 1};
  bench.policy->fill_pages = 2;
  bench.touch(2);
  SECTION("the neighbour faulted too") {
    bench.touch(3);
  }
  bench.brain.serve_faults(1, {});
  CHECK(bench.brain.faults_waiting() == 0);
  CHECK(bench.at(3).state == PageState::suspended);
  for (const Command& command : bench.take())
    bench.finish(command);
  for (const Command& command : bench.take())
    bench.finish(command);
  CHECK(bench.brain.table().resident(0) == 2);
  CHECK(bench.at(2).tier == 0);
  CHECK(bench.at(3).tier == 0);
}

TEST_CASE("a blank page comes without a copy") {
  Bench bench;
  bench.policy->blank = true;
  stream::Tensor fresh;
  fresh.id = 2;
  fresh.bytes = kPage;
  bench.brain.declare(fresh);
  std::vector<PageRun> runs;
  bench.brain.touch(bench.brain.space().at(2).base, kPage, true, {}, runs);
  CHECK(runs.front().state == PageState::suspended);
  bench.policy->victims = {bench.first};
  bench.brain.serve_faults(1, {});
  for (const Command& command : bench.take()) {
    CHECK_FALSE(command.blank); // the victim
    bench.finish(command);
  }
  const auto commands = bench.take();
  REQUIRE(commands.size() == 1);
  CHECK(commands[0].blank);
  bench.finish(commands[0]);
  CHECK(bench.brain.counters().moved == kPage); // the victim's
  CHECK(bench.brain.counters().promotions == 0);
}

TEST_CASE("where no room can be made pages are accessed where they are") {
  Bench bench;
  bench.touch(2, 2);
  SECTION("nobody leaves") {
    bench.brain.serve_faults(8, {});
    CHECK(bench.brain.counters().unmet == 2);
    CHECK(bench.at(2).state == PageState::resident);
    CHECK(bench.at(3).state == PageState::resident);
  }
  SECTION("one leaves, for the first") {
    bench.policy->victims = {bench.first};
    bench.brain.serve_faults(8, {});
    const auto commands = bench.take();
    REQUIRE(commands.size() == 1);
    CHECK(bench.brain.counters().unmet == 0);
    bench.finish(commands[0]);
    CHECK_FALSE(bench.brain.make_room()); // the first is arriving, and might leave again
    CHECK(bench.brain.counters().unmet == 0);
    CHECK(bench.at(2).state == PageState::suspended);
    for (const Command& command : bench.take())
      bench.finish(command);
    CHECK(bench.brain.make_room()); // the second: nothing leaves or arrives any more
    CHECK(bench.brain.counters().unmet == 1);
    CHECK(bench.at(2).tier == 0);
    CHECK(bench.at(3).state == PageState::resident);
  }
  SECTION("the policy wants none of it moved") {
    bench.policy->fill = false;
    bench.brain.serve_faults(8, {});
    CHECK(bench.brain.counters().unmet == 2);
  }
  CHECK(bench.brain.faults_waiting() == 0);
  std::vector<PageRun> runs; // who waited looks again and does not fault a second time
  bench.brain.again(bench.base + 3 * kPage.count, kPage, false, {}, runs);
  CHECK(runs.front().state == PageState::resident);
  CHECK(runs.front().tier == 1);
}

TEST_CASE("who waited for a page that left meanwhile faults again") {
  Bench bench;
  bench.policy->victims = {bench.first};
  bench.touch(2);
  bench.brain.serve_faults(1, {});
  bench.finish(bench.take().front());
  std::vector<PageRun> runs;
  bench.brain.again(bench.base, kPage, false, {}, runs); // page 0 is in the pool now
  CHECK(runs.front().state == PageState::suspended);
  CHECK(bench.brain.counters().faults == 2);
}

TEST_CASE("what has come stays until who waited for it has looked") {
  Bench bench;
  bench.policy->victims = {bench.first, bench.first + 1, bench.first + 2};
  bench.touch(2, 2);
  bench.brain.serve_faults(8, {});
  for (const Command& command : bench.take()) // pages 0 and 1 leave
    bench.finish(command);
  const auto fills = bench.take();
  REQUIRE(fills.size() == 2);
  bench.touch(0); // wants a frame: the next victim is page 2
  bench.brain.suspend(fills[0]);
  bench.brain.quiesced(fills[0]);
  bench.brain.serve_faults(8, {});
  CHECK(bench.at(2).state == PageState::resident);
  bench.brain.completed(fills[0]);
  CHECK(bench.at(2).state == PageState::resident); // who waited looks now
  CHECK_FALSE(bench.brain.make_room());
  CHECK(bench.at(2).state == PageState::moving);
}

TEST_CASE("a machine that is too busy refuses background commands only") {
  Bench bench;
  bench.policy->victims = {bench.first};
  bench.touch(2);
  bench.brain.serve_faults(1, {});
  CHECK_FALSE(bench.brain.next_background().has_value());
  const auto command = bench.brain.next_command();
  REQUIRE(command.has_value());
  CHECK_THROWS_AS(bench.brain.refused(*command), InvariantError);
}
