#include "tests/hw/scheduler/bench.h"

#include <catch2/catch.hpp>

#include <utility>

/// Suspended pages: a slow read keeps a finished copy from being switched; what comes for those
/// pages meanwhile waits in a finite queue.
namespace umf::test {

namespace {

constexpr Femtoseconds kHbmPage{65'536'000};
/// One page through the asker's own 1 GB/s: 65.536 µs, long after the copy is done.
constexpr Femtoseconds kSlow{65'536'000'000};
/// A page written to the pool beside that read: 65536 B at 99 GB/s, rounded up.
constexpr Femtoseconds kWrite{661'979'798};
constexpr Femtoseconds kLater = 30000_ns; ///< the copy of four pages takes under 4 µs

struct Suspended : Bench {
  explicit Suspended(hw::SchedulerConfig config = {}) : Bench(config) {
    base = tensor(1, 4);
    other = tensor(2, 4);
    slow = clock->add_resource("slow", 1e9, hw::Cause::idle);
    policy->on_touch = [this](const policy::Touch&, std::vector<policy::Order>& orders) {
      if (!std::exchange(ordered, true)) orders.push_back({base / kPage, 4, 0});
    };
    at(0_ns, [this] { asker->ask({false, base, kPage, slow}); });
  }
  std::uint64_t base = 0, other = 0;
  hw::ResourceId slow = hw::kNoId;
  bool ordered = false;
};

} // namespace

TEST_CASE("a posted write passes a read that waits for pages in motion") {
  Suspended bench;
  bench.at(kLater, [&] {
    bench.asker->ask({false, bench.base + kPage, kPage});
    bench.asker->ask({true, bench.other, kPage, hw::kNoId, hw::Purpose::write_back});
  });
  bench.run();

  const auto& read = (*bench.asker)[1];
  const auto& write = (*bench.asker)[2];
  CHECK(write.answered == kLater + kWrite);
  CHECK(read.answered == kSlow + kHbmPage); // answered from the new place
  CHECK(bench.unit->statistics().parked == 1);
  CHECK(bench.brain->counters().completed == 1);
  CHECK(bench.pool->in_flight() == 0);
}

TEST_CASE("a full queue withholds END_REQ, and drains in order when the pages have moved") {
  hw::SchedulerConfig config;
  config.queue_depth = 2;
  Suspended bench(config);
  bench.at(kLater, [&] {
    bench.asker->ask({false, bench.base, kPage});
    bench.asker->ask({false, bench.base + kPage, kPage});
    CHECK_FALSE(bench.asker->blocked(false));
    bench.asker->ask({false, bench.other, kPage}); // its pages lie still, yet it stands behind
    CHECK(bench.asker->blocked(false));
  });
  bench.run();

  CHECK((*bench.asker)[1].taken == kLater);
  CHECK((*bench.asker)[3].taken == kSlow);
  // Two pages from HBM at once, the held one from the pool beside them.
  CHECK((*bench.asker)[1].answered == kSlow + kHbmPage * 2);
  CHECK((*bench.asker)[2].answered == kSlow + kHbmPage * 2);
  CHECK((*bench.asker)[3].answered == kSlow + Femtoseconds{655'360'000});
  for (std::size_t n = 0; n < 4; ++n)
    CHECK((*bench.asker)[n].phases == "begin end respond");
  CHECK(bench.pool->in_flight() == 0);
}

TEST_CASE("a queue full of reads does not hold a posted write") {
  hw::SchedulerConfig config;
  config.queue_depth = 1;
  Suspended bench(config);
  bench.at(kLater, [&] {
    bench.asker->ask({false, bench.base, kPage});
    bench.asker->ask({false, bench.base + kPage, kPage});
    REQUIRE(bench.asker->blocked(false));
    bench.asker->ask({true, bench.other, kPage, hw::kNoId, hw::Purpose::write_back});
    CHECK_FALSE(bench.asker->blocked(true));
  });
  bench.run();
  CHECK((*bench.asker)[3].answered == kLater + kWrite);
  CHECK((*bench.asker)[2].phases == "begin end respond");
}

TEST_CASE("a burst that spans still and moving pages waits for the moving part only") {
  Suspended bench;
  bench.policy->on_touch = [&](const policy::Touch&, std::vector<policy::Order>& orders) {
    if (!std::exchange(bench.ordered, true)) orders.push_back({bench.base / kPage, 2, 0});
  };
  std::uint64_t served = 0;
  bench.at(kLater, [&] { bench.asker->ask({false, bench.base, 4 * kPage}); });
  bench.at(kSlow - 1000_ns, [&] { served = bench.cxl->statistics().demand_read_bytes; });
  bench.run();
  CHECK(served == 2 * kPage); // the still half; the slow first read is not done
  CHECK((*bench.asker)[1].answered == kSlow + kHbmPage * 2);
}

TEST_CASE("what waits for pages in motion counts as migration") {
  hw::SchedulerConfig config;
  config.queue_depth = 1;
  Suspended bench(config);
  bench.at(kLater, [&] {
    auto& payload = bench.pool->acquire(false, bench.base, {kPage});
    hw::burst_of(payload).add_latency(hw::Cause::l2_fabric, 200_ns);
    hw::CauseShares shares{};
    bench.unit->explain(payload, shares); // not taken yet
    CHECK(shares[static_cast<std::size_t>(hw::Cause::migration)] == 1.0);
    CHECK(shares[static_cast<std::size_t>(hw::Cause::l2_fabric)] == 0.0);
    payload.release();
  });
  bench.run();
}

} // namespace umf::test
