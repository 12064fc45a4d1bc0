#include "tests/hw/scheduler/bench.h"

#include "model/base/error.h"

#include <catch2/catch.hpp>

#include <utility>

/// Commands: accepted, copied in the background, quiesced, switched, completed, or refused.
/// A page is 65536 B: 655.36 ns at the pool's 100 GB/s, 65.536 ns at HBM's 1 TB/s. A read takes
/// 100 ns of the memory itself besides, which a move waits for too; writes are posted.
namespace umf::test {

namespace {
constexpr Femtoseconds kPoolPage{655'360'000}, kHbmPage{65'536'000};
constexpr Femtoseconds kMedia = 100_ns;

/// The first touch of a page range orders it to HBM, once.
void move_once(Bench& bench, std::uint64_t base, std::uint64_t pages) {
  bench.policy->on_touch = [=, done = false](const policy::Touch&,
                                             std::vector<policy::Order>& orders) mutable {
    if (!std::exchange(done, true)) orders.push_back({base / kPage, pages, 0});
  };
}
} // namespace

TEST_CASE(
    "a move reads the old frames after demand is served, writes the new ones, then switches") {
  Bench bench;
  const auto base = bench.tensor(1, 8);
  move_once(bench, base, 8);
  Femtoseconds done{-1};
  bench.unit->on_command_done([&] { done = hw::sim_now(); });
  bench.at(0_ns, [&] { bench.asker->ask({false, base, 4 * kPage}); });
  bench.run();

  // Demand first: the read has the whole pool, as if nothing moved.
  CHECK((*bench.asker)[0].answered == kPoolPage * 4);
  // Then one burst of 8 pages is read, then written.
  CHECK(done == kPoolPage * 12 + kMedia + kHbmPage * 8);
  const auto& s = bench.unit->statistics();
  CHECK(s.copied_read == 8 * kPage);
  CHECK(s.copied_written == 8 * kPage);
  CHECK(bench.brain->counters().moved == Bytes{8 * kPage});
  CHECK(bench.brain->counters().promotions == 8);
  CHECK(bench.brain->table().resident(0) == 8);
  CHECK(bench.brain->table().resident(1) == 0);
  CHECK(bench.pool_frames->used() == 0);
  CHECK_FALSE(bench.unit->busy());
  CHECK(bench.pool->in_flight() == 0);
}

TEST_CASE("after the move reads go to the new place") {
  Bench bench;
  const auto base = bench.tensor(1, 8);
  move_once(bench, base, 8);
  bench.at(0_ns, [&] { bench.asker->ask({false, base, kPage}); });
  bench.at(100000_ns, [&] { bench.asker->ask({false, base, kPage}); });
  bench.run();
  CHECK((*bench.asker)[1].answered == 100000_ns + kHbmPage);
}

TEST_CASE("reads go on at the old place while pages are copied") {
  Bench bench;
  const auto base = bench.tensor(1, 8);
  move_once(bench, base, 8);
  bench.at(0_ns, [&] { bench.asker->ask({false, base, kPage}); });
  bench.at(1000_ns, [&] { bench.asker->ask({false, base + kPage, kPage}); });
  bench.run();
  CHECK((*bench.asker)[1].answered == 1000_ns + kPoolPage);
  CHECK(bench.unit->statistics().parked == 0);
  CHECK(bench.cxl->statistics().demand_read_bytes == 2 * kPage);
}

TEST_CASE("a write to pages that are copied waits and lands at the new place") {
  Bench bench;
  const auto base = bench.tensor(1, 8);
  move_once(bench, base, 8);
  bench.at(0_ns, [&] { bench.asker->ask({false, base, kPage}); });
  bench.at(1000_ns, [&] {
    bench.asker->ask({true, base, kPage, hw::kNoId, hw::Purpose::write_back});
  });
  bench.run();
  const Femtoseconds switched = kPoolPage * 9 + kMedia + kHbmPage * 8;
  CHECK((*bench.asker)[1].answered == switched + kHbmPage);
  CHECK(bench.unit->statistics().parked == 1);
  CHECK(bench.cxl->statistics().write_bytes == 0);
  CHECK(bench.hbm->statistics().write_bytes == 9 * kPage);
}

TEST_CASE("copying waits for a write that was on its way when the command came") {
  Bench bench;
  const auto base = bench.tensor(1, 8);
  move_once(bench, base, 8);
  Femtoseconds done{-1};
  bench.unit->on_command_done([&] { done = hw::sim_now(); });
  const auto slow = bench.clock->add_resource("slow", 1e9, hw::Cause::idle);
  bench.at(0_ns, [&] { bench.asker->ask({true, base, kPage, slow, hw::Purpose::write_back}); });
  bench.run();
  CHECK(done == Femtoseconds{65'536'000'000} + kPoolPage * 8 + kMedia + kHbmPage * 8);
  CHECK(bench.cxl->statistics().write_bytes == kPage);
}

TEST_CASE("a command beyond the queue is refused and its pages stay where they are") {
  hw::SchedulerConfig config;
  config.command_queue = 1;
  Bench bench(config);
  const auto base = bench.tensor(1, 8);
  // Every touch orders the touched pages to HBM.
  bench.policy->on_touch = [](const policy::Touch& touch, std::vector<policy::Order>& orders) {
    if (touch.pages.tier == 1) orders.push_back({touch.pages.first, touch.pages.count, 0});
  };
  bench.at(0_ns, [&] {
    bench.asker->ask({false, base, kPage});
    bench.asker->ask({false, base + 4 * kPage, kPage});
  });
  bench.at(50000_ns, [&] { // the policy sees them again at the next touch
    CHECK(bench.brain->counters().refused == 1);
    CHECK(bench.brain->table().resident(0) == 1);
    CHECK(bench.hbm_frames->used() == 1);
    bench.asker->ask({false, base + 4 * kPage, kPage});
  });
  bench.run();
  CHECK(bench.brain->counters().commands == 3);
  CHECK(bench.brain->counters().completed == 2);
  CHECK(bench.brain->table().resident(0) == 2);
  CHECK(bench.unit->statistics().copied_read == 2 * kPage);
}

TEST_CASE("a tensor cannot be released while its pages move, and can when told so") {
  Bench bench;
  const auto base = bench.tensor(1, 4);
  move_once(bench, base, 4);
  bool released = false;
  bench.unit->on_command_done([&] {
    REQUIRE_FALSE(bench.brain->busy(1));
    bench.brain->release(1);
    released = true;
  });
  bench.at(0_ns, [&] { bench.asker->ask({false, base, kPage}); });
  bench.at(100_ns, [&] {
    CHECK(bench.brain->busy(1));
    CHECK_THROWS_AS(bench.brain->release(1), InvariantError);
  });
  bench.run();
  CHECK(released);
  CHECK(bench.hbm_frames->used() == 0);
  CHECK(bench.pool_frames->used() == 0);
}

} // namespace umf::test
