#include "model/base/error.h"
#include "model/scheduler/brain.h"

#include <catch2/catch.hpp>

#include <functional>
#include <memory>
#include <vector>

using namespace umf;
using namespace umf::scheduler;
using memory::PageState;
using policy::TierIndex;

namespace {

constexpr Bytes kPage = 64_KiB;

/// Places everything in one tier and orders what the test asks for.
struct ObedientPolicy : policy::Policy {
  TierIndex home = 0;
  std::uint64_t short_by = 0; ///< pages it forgets to place
  std::vector<policy::Order> next;
  std::vector<policy::Need> needs;
  std::vector<policy::Touch> touches;

  void place(const policy::Need& need, const policy::Ground&,
             std::vector<policy::Grant>& grants) override {
    needs.push_back(need);
    grants.push_back({home, need.pages - short_by});
  }
  void touched(const policy::Touch& touch, const policy::Ground&,
               std::vector<policy::Order>& orders) override {
    touches.push_back(touch);
    orders.insert(orders.end(), next.begin(), next.end());
    next.clear();
  }
};

/// HBM, pool, host of 10 frames each; one tensor of 4 pages.
struct Bench {
  memory::FrameAllocator frames[3] = {memory::FrameAllocator(10), memory::FrameAllocator(10),
                                      memory::FrameAllocator(10)};
  ObedientPolicy* policy = new ObedientPolicy; // owned by the brain
  Brain brain{{kPage,
               {{"hbm", policy::TierClass::hbm, &frames[0]},
                {"pool", policy::TierClass::pool, &frames[1]},
                {"host", policy::TierClass::host, &frames[2]}}},
              std::unique_ptr<policy::Policy>(policy)};
  std::uint64_t base = 0;
  PageNumber first = 0;

  Bench() {
    declare(1, 4 * kPage.count);
    base = brain.space().at(1).base;
    first = base / kPage.count;
  }
  void declare(stream::TensorId id, std::uint64_t bytes) {
    stream::Tensor tensor;
    tensor.id = id;
    tensor.bytes = {bytes};
    brain.declare(tensor);
  }
  std::vector<PageRun> touch(std::uint64_t from, std::uint64_t pages, bool write = false) {
    std::vector<PageRun> runs;
    brain.touch(base + from * kPage.count, {pages * kPage.count}, write, 7_ns, runs);
    return runs;
  }
  std::vector<PageRun> look() {
    std::vector<PageRun> runs;
    brain.look(base, {4 * kPage.count}, runs);
    return runs;
  }
  /// The whole tensor is ordered to a tier; the command that comes of it.
  Command order(TierIndex to) {
    policy->next = {{first, 4, to}};
    touch(0, 4);
    const auto command = brain.next_command();
    REQUIRE(command.has_value());
    return *command;
  }
  void move(TierIndex to) {
    const Command command = order(to);
    brain.suspend(command);
    brain.quiesced(command);
    brain.completed(command);
  }
};

} // namespace

TEST_CASE("a declared tensor costs nothing until it is touched") {
  Bench bench;
  CHECK(bench.frames[0].used() == 0);
  CHECK(bench.look().front().state == PageState::deferred);
  const auto runs = bench.touch(1, 2);
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].first == bench.first + 1);
  CHECK(runs[0].count == 2);
  CHECK(bench.frames[0].used() == 2);
  REQUIRE(bench.policy->needs.size() == 1);
  CHECK(bench.policy->needs[0].first_page == 1);
  CHECK_FALSE(bench.policy->needs[0].initial);
  CHECK(bench.brain.counters().first_touches == 2);
  CHECK(bench.policy->touches[0].now == 7_ns);
}

TEST_CASE("a policy is told whether a write asks for pages, and up to where") {
  Bench bench;
  bench.brain.reserve(bench.base + 100, {50}, true);
  bench.brain.reserve(bench.base + kPage.count, {70'000});
  REQUIRE(bench.policy->needs.size() == 2);
  CHECK(bench.policy->needs[0].write);
  CHECK(bench.policy->needs[0].until == bench.base + 150);
  CHECK_FALSE(bench.policy->needs[1].write);
  CHECK(bench.policy->needs[1].until == bench.base + kPage.count + 70'000);
  bench.touch(3, 1, true);
  CHECK(bench.policy->needs.back().write);
}

TEST_CASE("bytes of a page touch the whole page") {
  Bench bench;
  std::vector<PageRun> runs;
  bench.brain.touch(bench.base + kPage.count - 1, {2}, false, {}, runs); // straddles two pages
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].count == 2);
}

TEST_CASE("preload places all of a tensor as initial") {
  Bench bench;
  bench.brain.preload(1);
  CHECK(bench.frames[0].used() == 4);
  CHECK(bench.policy->needs[0].initial);
  CHECK(bench.brain.counters().first_touches == 0);
}

TEST_CASE("a touch outside every live tensor is loud") {
  Bench bench;
  CHECK_THROWS_AS(bench.touch(4, 1), InvariantError);
  CHECK_THROWS_AS(bench.touch(3, 2), InvariantError);
}

TEST_CASE("a policy that miscounts or names no tier is loud") {
  Bench bench;
  SECTION("grants too little") {
    bench.policy->short_by = 1;
  }
  SECTION("grants from nowhere") {
    bench.policy->home = 3;
  }
  SECTION("orders to nowhere") {
    bench.policy->next = {{bench.first, 1, 3}};
  }
  CHECK_THROWS_AS(bench.touch(0, 4), InvariantError);
}

TEST_CASE("a move keeps the old place until quiesced") {
  Bench bench;
  const Command command = bench.order(1);
  CHECK(bench.look().front().state == PageState::moving);
  CHECK(bench.look().front().tier == 0);
  CHECK(bench.frames[1].used() == 4); // reserved from the order on
  bench.brain.suspend(command);
  CHECK(bench.look().front().state == PageState::suspended);
  bench.brain.quiesced(command);
  CHECK(bench.look().front().state == PageState::resident);
  CHECK(bench.look().front().tier == 1);
  CHECK(bench.frames[0].used() == 0);
  CHECK(bench.brain.busy(1)); // until completed
  bench.brain.completed(command);
  CHECK_FALSE(bench.brain.busy(1));
  CHECK(bench.brain.counters().moved.count == 4 * kPage.count);
}

TEST_CASE("a refused move leaves everything as it was") {
  Bench bench;
  const Command command = bench.order(1);
  bench.brain.refused(command);
  CHECK(bench.look().front().state == PageState::resident);
  CHECK(bench.look().front().tier == 0);
  CHECK(bench.frames[1].used() == 0);
  CHECK_FALSE(bench.brain.busy(1));
  CHECK(bench.brain.counters().refused == 1);
  CHECK(bench.brain.counters().completed == 0);
}

TEST_CASE("command events come in one order only") {
  using Event = std::function<void(Brain&, const Command&)>;
  const Event refused = [](Brain& b, const Command& c) { b.refused(c); };
  const Event suspend = [](Brain& b, const Command& c) { b.suspend(c); };
  const Event quiesced = [](Brain& b, const Command& c) { b.quiesced(c); };
  const Event completed = [](Brain& b, const Command& c) { b.completed(c); };
  const Event all[] = {refused, suspend, quiesced, completed};
  // After so many of suspend, quiesced, completed, only these may follow (by index in `all`):
  const std::vector<std::vector<std::size_t>> allowed = {{0, 1}, {2}, {3}, {}};
  for (std::size_t done = 0; done <= 3; ++done)
    for (std::size_t event = 0; event < 4; ++event) {
      CAPTURE(done, event);
      Bench bench;
      const Command command = bench.order(1);
      for (std::size_t e = 1; e <= done; ++e)
        all[e](bench.brain, command);
      const auto& good = allowed[done];
      if (std::find(good.begin(), good.end(), event) != good.end())
        CHECK_NOTHROW(all[event](bench.brain, command));
      else
        CHECK_THROWS_AS(all[event](bench.brain, command), InvariantError);
    }
}

TEST_CASE("orders that cannot be met now are dropped") {
  Bench bench;
  bench.touch(0, 2); // pages 2 and 3 stay deferred
  SECTION("pages already there, or nowhere yet") {
    bench.policy->next = {{bench.first, 2, 0}, {bench.first + 2, 2, 1}};
    bench.touch(0, 1);
    CHECK_FALSE(bench.brain.next_command().has_value());
  }
  SECTION("no frames at the destination") {
    bench.frames[1].take(9);
    bench.policy->next = {{bench.first, 2, 1}};
    bench.touch(0, 1);
    CHECK_FALSE(bench.brain.next_command().has_value());
    CHECK(bench.look().front().state == PageState::resident);
  }
  SECTION("pages already on their way") {
    bench.policy->next = {{bench.first, 2, 1}, {bench.first, 2, 2}};
    bench.touch(0, 1);
    CHECK(bench.brain.next_command()->to == 1);
    CHECK_FALSE(bench.brain.next_command().has_value());
  }
}

TEST_CASE("a move to scattered frames is one command a run") {
  Bench bench;
  bench.frames[1].take(10);
  bench.frames[1].give_back({1, 3});
  bench.frames[1].give_back({6, 1});
  const Command a = bench.order(1);
  const auto b = bench.brain.next_command();
  REQUIRE(b.has_value());
  CHECK(a.to_frame == 1);
  CHECK(a.from.count == 3);
  CHECK(b->to_frame == 6);
  CHECK(b->from.first == bench.first + 3);
  CHECK(b->from.frame == a.from.frame + 3);
}

TEST_CASE("a tensor is released only when no command holds its pages") {
  Bench bench;
  const auto release = [&] { bench.brain.release(1); };
  SECTION("ordered, not taken up") {
    bench.policy->next = {{bench.first, 4, 1}};
    bench.touch(0, 4);
    CHECK_THROWS_AS(release(), InvariantError);
  }
  SECTION("in progress") {
    bench.order(1);
    CHECK_THROWS_AS(release(), InvariantError);
  }
  SECTION("done: all frames return") {
    bench.move(1);
    release();
    CHECK(bench.frames[0].used() + bench.frames[1].used() == 0);
    CHECK(bench.brain.space().find(1) == nullptr);
  }
}

TEST_CASE("moves towards the GPU are promotions, away from it demotions") {
  Bench bench;
  bench.move(1); // hbm → pool
  bench.move(2); // pool → host
  CHECK(bench.brain.counters().demotions == 8);
  CHECK(bench.brain.counters().promotions == 0);
  bench.move(1); // host → pool
  bench.move(0); // pool → hbm
  CHECK(bench.brain.counters().demotions == 8);
  CHECK(bench.brain.counters().promotions == 8);
}

TEST_CASE("accesses outside HBM are remote hits") {
  Bench bench;
  bench.touch(0, 4);
  CHECK(bench.brain.counters().remote_hits == 0);
  bench.move(1);
  bench.touch(0, 4);
  CHECK(bench.brain.counters().remote_hits == 1);
  CHECK(bench.brain.counters().touches == 3); // first, the one that ordered, and this
}

TEST_CASE("padding is the bytes of pages beyond those of tensors, at its peak") {
  Bench bench;
  bench.declare(2, 1); // 65535 B of padding
  bench.declare(3, kPage.count + 1);
  bench.brain.release(2);
  bench.declare(4, kPage.count - 10);
  CHECK(bench.brain.peak_padding().count == 2 * (kPage.count - 1));
}

TEST_CASE("frames are taken for the region of the tensor, and a move takes the region along") {
  Bench bench;
  stream::Tensor weight;
  weight.id = 2;
  weight.role = stream::Role::weight;
  weight.bytes = {3 * kPage.count};
  bench.brain.declare(weight);
  bench.brain.preload(2);
  bench.touch(0, 4);
  using memory::Region;
  CHECK(bench.frames[0].used(Region::weight) == 3);
  CHECK(bench.frames[0].used(Region::activation) == 4);

  const Command command = bench.order(1);
  CHECK(bench.frames[1].used(Region::activation) == 4); // taken from the order on
  CHECK(bench.frames[0].used(Region::activation) == 4);
  bench.brain.suspend(command);
  bench.brain.quiesced(command);
  bench.brain.completed(command);
  CHECK(bench.frames[0].used(Region::activation) == 0);
  bench.brain.release(1);
  CHECK(bench.frames[1].used(Region::activation) == 0);
  CHECK(bench.frames[0].used(Region::weight) == 3);
}

namespace {

/// A bench whose pages came from the pool to HBM and left copies.
struct WithCopies : Bench {
  WithCopies() {
    policy->home = 1;
    touch(0, 4);
    policy->next = {{.first = first, .pages = 4, .to = 0, .keep = true}};
    touch(0, 4);
    const Command command = *brain.next_command();
    CHECK(command.copies());
    brain.suspend(command);
    brain.quiesced(command);
    brain.completed(command);
  }
};

} // namespace

TEST_CASE("what comes with a copy left behind goes back without being moved") {
  WithCopies bench;
  CHECK(bench.frames[1].used() == 0); // a copy takes no room
  CHECK(bench.frames[1].kept() == 4);
  CHECK(bench.brain.counters().moved == Bytes{4 * kPage.count});
  const Command back = bench.order(1);
  CHECK(back.back);
  CHECK_FALSE(back.copies());
  bench.brain.suspend(back);
  bench.brain.quiesced(back);
  bench.brain.completed(back);
  CHECK(bench.brain.counters().returned == 4);
  CHECK(bench.brain.counters().moved == Bytes{4 * kPage.count}); // as before
  CHECK(bench.frames[0].used() == 0);
  CHECK(bench.frames[1].used() == 4);
  CHECK(bench.look().front().tier == 1);
}

TEST_CASE("a refused way back leaves the copy as it was") {
  WithCopies bench;
  for (int round = 0; round < 2; ++round) {
    const Command back = bench.order(1);
    CHECK(back.back);
    bench.brain.refused(back);
    CHECK(bench.frames[1].kept() == 4);
    CHECK(bench.look().front().tier == 0);
  }
}

TEST_CASE("a write makes the copies of its pages worthless") {
  WithCopies bench;
  bench.touch(1, 2, true);
  CHECK(bench.frames[1].kept() == 2);
  bench.policy->next = {{bench.first, 4, 1}};
  bench.touch(0, 4);
  std::uint64_t copied = 0, returned = 0;
  while (const auto command = bench.brain.next_command())
    (command->copies() ? copied : returned) += command->from.count;
  CHECK(copied == 2);
  CHECK(returned == 2);
}

TEST_CASE("a copy whose frames were taken is copied like anything else") {
  WithCopies bench;
  bench.frames[1].take(7); // the six that hold nothing, and one of the copy
  const Command command = bench.order(1 + 1);
  bench.brain.refused(command); // to the host: the copy is not there
  bench.policy->next = {{bench.first, 4, 1}};
  bench.touch(0, 4);
  const auto again = bench.brain.next_command();
  REQUIRE_FALSE(again); // three frames are free, four are wanted
  CHECK(bench.frames[1].kept() == 0);
}

TEST_CASE("prefetched pages are useful, late or wasted") {
  Bench bench;
  bench.policy->home = 1;
  bench.touch(0, 4);
  const auto prefetch = [&](std::uint64_t from, std::uint64_t pages) {
    bench.policy->next = {{.first = bench.first + from,
                           .pages = pages,
                           .to = 0,
                           .why = policy::Order::Why::prefetch}};
    bench.touch(3, 1); // by an access to another page
    return *bench.brain.next_command();
  };
  const auto finish = [&](const Command& command) {
    bench.brain.suspend(command);
    bench.brain.quiesced(command);
    bench.brain.completed(command);
  };
  const auto& counted = bench.brain.counters().prefetch;
  const Command command = prefetch(0, 3);
  CHECK_FALSE(command.demand());
  CHECK(counted.issued == 3);
  bench.touch(0, 1); // is read in the pool, while it comes
  CHECK(counted.late == 1);
  finish(command);
  bench.touch(0, 2);
  CHECK(counted.useful == 1); // 1; 0 was late
  bench.touch(1, 1);
  CHECK(counted.useful == 1); // once
  bench.policy->next = {{bench.first, 3, 1}};
  bench.touch(3, 1);
  finish(*bench.brain.next_command());
  CHECK(counted.wasted == 1); // 2 left before anybody read it
  const Command refused = prefetch(0, 2);
  bench.brain.refused(refused);
  CHECK(counted.refused == 2);
  CHECK(counted.issued == counted.useful + counted.late + counted.wasted + counted.refused);
}

TEST_CASE("an access over two tensors that lie side by side is one of each") {
  Bench bench; // four pages to the last byte
  bench.declare(2, 2 * kPage.count);
  REQUIRE(bench.brain.space().at(2).base == bench.base + 4 * kPage.count);
  const auto runs = bench.touch(3, 3);
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].count == 1);
  CHECK(runs[1].count == 2);
  REQUIRE(bench.policy->touches.size() == 2);
  CHECK(bench.policy->touches[0].tensor->tensor.id == 1);
  CHECK(bench.policy->touches[1].tensor->tensor.id == 2);
}

TEST_CASE("sensors count pages of a window") {
  struct Watcher : ObedientPolicy {
    std::vector<policy::Sensors> seen;
    std::optional<Femtoseconds> sensor_window() const override { return 1000_ns; }
    void sensed(const policy::Sensors& sensors, const policy::Ground&,
                std::vector<policy::Order>&) override {
      seen.push_back(sensors);
    }
  };
  auto* policy = new Watcher;
  policy->home = 1;
  memory::FrameAllocator hbm(10), pool(10);
  Brain brain{
      {kPage, {{"hbm", policy::TierClass::hbm, &hbm}, {"pool", policy::TierClass::pool, &pool}}},
      std::unique_ptr<policy::Policy>(policy)};
  stream::Tensor tensor;
  tensor.id = 1;
  tensor.bytes = {4 * kPage.count};
  brain.declare(tensor);
  std::vector<PageRun> runs;
  brain.touch(brain.space().at(1).base, {4 * kPage.count}, false, 1_ns, runs);
  CHECK(brain.sensor_window() == 1000_ns);
  brain.sense({.now = 2000_ns, .window = 2000_ns, .hbm_utilisation = 0.5});
  brain.sense({.now = 4000_ns, .window = 2000_ns});
  REQUIRE(policy->seen.size() == 2);
  CHECK(policy->seen[0].hbm_utilisation == 0.5);
  CHECK(policy->seen[0].remote_reads_per_s == Approx(2e6)); // 4 pages in 2 us
  CHECK(policy->seen[1].remote_reads_per_s == 0.0);
}
