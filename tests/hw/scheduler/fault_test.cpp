#include "tests/hw/scheduler/bench.h"

#include <catch2/catch.hpp>

#include <utility>

/// Faults: what a batch costs, what its moves take, who waits.
/// A page is 65536 B: 655.36 ns at the pool's 100 GB/s, 65.536 ns at HBM's 1 TB/s.
namespace umf::test {

namespace {

constexpr Femtoseconds kPoolPage{655'360'000}, kHbmPage{65'536'000};
constexpr Femtoseconds kMedia = 100_ns; ///< of a read, moves included
constexpr Femtoseconds kService = 20000_ns;

hw::SchedulerConfig config(std::uint32_t batch = 256) {
  hw::SchedulerConfig config;
  config.fault_latency = kService;
  config.fault_batch = batch;
  return config;
}

} // namespace

TEST_CASE("a faulting read waits for the service and the move, then reads at home") {
  Bench bench(config());
  bench.policy->paging = true;
  const auto base = bench.tensor(1, 8);
  bench.at(0_ns, [&] { bench.asker->ask({false, base, 4 * kPage}); });
  bench.run();

  // Service, four pages from the pool, written to HBM, read there.
  CHECK((*bench.asker)[0].answered == kService + kPoolPage * 4 + kMedia + kHbmPage * 8);
  CHECK(bench.brain->counters().faults == 4);
  CHECK(bench.brain->counters().remote_hits == 0);
  CHECK(bench.unit->statistics().fault_batches == 1);
  CHECK(bench.unit->statistics().copied_read == 4 * kPage);
  CHECK(bench.cxl->statistics().demand_read_bytes == 0);
  CHECK_FALSE(bench.unit->busy());
  CHECK(bench.pool->in_flight() == 0);
}

TEST_CASE("faults that come together share a batch, later ones make the next") {
  Bench bench(config());
  bench.policy->paging = true;
  const auto base = bench.tensor(1, 8);
  bench.at(0_ns, [&] {
    bench.asker->ask({false, base, kPage});
    bench.asker->ask({false, base + kPage, kPage}); // too late for the first batch: it has begun
  });
  bench.at(100_ns, [&] { bench.asker->ask({false, base + 2 * kPage, kPage}); });
  bench.run();
  CHECK(bench.unit->statistics().fault_batches == 2);
  CHECK((*bench.asker)[0].answered == kService + kPoolPage + kMedia + kHbmPage * 2);
  // The second batch starts when the first service ends, while its page moves.
  CHECK((*bench.asker)[2].answered >= kService * 2 + kPoolPage);
}

TEST_CASE("a batch holds so many pages and no more") {
  Bench bench(config(2));
  bench.policy->paging = true;
  const auto base = bench.tensor(1, 8);
  bench.at(0_ns, [&] { bench.asker->ask({false, base, 5 * kPage}); });
  bench.run();
  CHECK(bench.unit->statistics().fault_batches == 3); // 2 + 2 + 1
  CHECK((*bench.asker)[0].answered == kService * 3 + kPoolPage + kMedia + kHbmPage * 2);
}

TEST_CASE("a fault's move is demand and shares the pool with other reads") {
  Bench bench(config());
  const auto base = bench.tensor(1, 8);
  bench.policy->paging = true;
  bench.policy->paging_from = base / kPage + 4; // the first four pages are read in the pool
  bench.at(0_ns, [&] { bench.asker->ask({false, base + 4 * kPage, 4 * kPage}); });
  bench.at(kService, [&] { bench.asker->ask({false, base, 4 * kPage}); });
  bench.run();
  // Both take half the pool's rate; a background move would have waited for all of the read.
  CHECK((*bench.asker)[1].answered == kService + kPoolPage * 8);
  CHECK((*bench.asker)[0].answered == kService + kPoolPage * 8 + kMedia + kHbmPage * 8);
}

TEST_CASE("room is made first, and a victim is read until it has left") {
  Bench bench(config());
  const auto base = bench.tensor(1, 8);
  bench.hbm_frames->take(4092);
  // Four pages of the tensor come home and fill HBM.
  bench.policy->paging = true;
  bench.at(0_ns, [&] { bench.asker->ask({false, base, 4 * kPage}); });
  const Femtoseconds full = 100000_ns;
  bench.at(full, [&] {
    REQUIRE(bench.hbm_frames->free() == 0);
    bench.policy->first_victim = base / kPage;
    bench.policy->victims = 1;
    bench.asker->ask({false, base + 4 * kPage, kPage});
  });
  // While page 0 is copied out (from `full` + service on, 655 ns) it is read.
  bench.at(full + kService + 100_ns, [&] { bench.asker->ask({false, base, kPage}); });
  bench.run();
  const Femtoseconds start = full + kService;
  const Femtoseconds out = kHbmPage + kMedia + kPoolPage; // page 0 is read, then written
  CHECK((*bench.asker)[2].answered == start + 100_ns + kHbmPage);
  CHECK((*bench.asker)[1].answered == start + out + kPoolPage + kMedia + kHbmPage * 2);
  CHECK(bench.brain->counters().demotions == 1);
  CHECK(bench.brain->counters().promotions == 5);
  CHECK(bench.brain->table().resident(0) == 4);
}

TEST_CASE("where no room can be made the page is read where it is") {
  Bench bench(config());
  const auto base = bench.tensor(1, 8);
  bench.policy->paging = true;
  bench.policy->fill = false;
  bench.at(0_ns, [&] { bench.asker->ask({false, base, 2 * kPage}); });
  bench.run();
  CHECK((*bench.asker)[0].answered == kService + kPoolPage * 2);
  CHECK(bench.brain->counters().unmet == 2);
  CHECK(bench.cxl->statistics().demand_read_bytes == 2 * kPage);
  CHECK_FALSE(bench.unit->busy());
}

TEST_CASE("fills wait for the command queue and are never refused") {
  hw::SchedulerConfig one = config();
  one.command_queue = 1;
  Bench bench(one);
  const auto first = bench.tensor(1, 2), second = bench.tensor(2, 2), third = bench.tensor(3, 2);
  bench.policy->paging = true;
  bench.at(0_ns, [&] {
    for (const auto base : {first, second, third})
      bench.asker->ask({false, base, kPage});
  });
  bench.run();
  CHECK(bench.brain->counters().refused == 0);
  CHECK(bench.brain->counters().completed == 3);
  CHECK(bench.brain->table().resident(0) == 3);
  CHECK(bench.pool->in_flight() == 0);
}

namespace {

/// 256 pages move in bursts of 64, two under way at once: the first two are read by 84 us. A read
/// of 64 pages comes at 100 us and takes 42 us if only background moves stand beside it.
Femtoseconds read_beside_a_move(bool write_waits) {
  Bench bench(config());
  const auto base = bench.tensor(1, 256), other = bench.tensor(2, 64);
  bool ordered = false;
  bench.policy->on_touch = [&](const policy::Touch&, std::vector<policy::Order>& orders) {
    if (!std::exchange(ordered, true)) orders.push_back({base / kPage, 256, 0});
  };
  bench.at(0_ns, [&] { bench.asker->ask({false, other, kPage}); });
  if (write_waits)
    bench.at(1000_ns, [&] {
      bench.asker->ask({true, base, kPage, hw::kNoId, hw::Purpose::write_back});
    });
  bench.at(100000_ns, [&] { bench.asker->ask({false, other, 64 * kPage}); });
  bench.run();
  return (*bench.asker)[write_waits ? 2 : 1].answered - 100000_ns;
}

} // namespace

TEST_CASE("a background move leaves a read the whole pool") {
  CHECK(read_beside_a_move(false) == kPoolPage * 64);
}

TEST_CASE("what is left of a background move goes as demand once a write waits for it") {
  CHECK(read_beside_a_move(true) > kPoolPage * 64 * 2); // two bursts of it share the pool
}

} // namespace umf::test
