#include "tests/hw/scheduler/bench.h"

#include <catch2/catch.hpp>

#include <utility>

/// A scan reads lines of 16 page-table entries; each takes a walker the time of a walk (500 ns), of
/// 32 walkers.
namespace umf::test {

namespace {

/// The first touch orders a scan; when it was over.
Femtoseconds scanned_at(Bench& bench, std::uint64_t entries, std::uint64_t base,
                        std::uint64_t pages = 1) {
  Femtoseconds at{-1};
  bench.policy->on_touch = [=, done = false](const policy::Touch&,
                                             std::vector<policy::Order>& orders) mutable {
    if (std::exchange(done, true)) return;
    orders.emplace_back();
    orders.back().scan = entries;
  };
  bench.policy->on_scan = [&](std::uint64_t read, Femtoseconds now) {
    CHECK(read == entries);
    at = now;
  };
  bench.at(0_ns, [&] { bench.asker->ask({false, base, pages * kPage}); });
  bench.run();
  return at;
}

} // namespace

TEST_CASE("a scan takes a walk a line, so many at a time as there are walkers") {
  // 2^20 entries are 65,536 lines: 2,048 rounds of 32, of 500 ns: 1.024 ms. The one page that is
  // read walks too, ahead of it: 500 ns of one of 32 walkers.
  Bench bench({}, true, 500_ns);
  const Femtoseconds at = scanned_at(bench, 1 << 20, bench.tensor(1, 1));
  CHECK(at >= 1'024'000_ns);
  CHECK(at <= 1'024'000_ns + 500_ns);
  CHECK(bench.unit->statistics().scanning == at);
  CHECK_FALSE(bench.unit->busy());
  CHECK(bench.brain->counters().completed == 1);
  CHECK(bench.brain->counters().moved.count == 0);
}

TEST_CASE("a few entries take one walk at least") {
  Bench bench({}, true, 500_ns);
  const Femtoseconds at = scanned_at(bench, 1, bench.tensor(1, 1));
  CHECK(at >= 500_ns);
  CHECK(at <= 1000_ns);
}

TEST_CASE("a read is as fast beside a scan") {
  hw::SchedulerConfig config;
  config.walkers = 1;
  Bench bench(config, true, 500_ns);
  const auto base = bench.tensor(1, 100);
  scanned_at(bench, 1 << 16, base, 100); // 4,096 lines, 2 ms
  // 100 pages of 655.36 ns each, as without.
  CHECK((*bench.asker)[0].answered.count == 100 * 655'360'000LL);
}

} // namespace umf::test
