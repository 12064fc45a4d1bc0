#include "tests/hw/scheduler/bench.h"

#include <catch2/catch.hpp>

/// Write-backs come from the L2, which knows addresses and no tensors.
namespace umf::test {

namespace {
hw::Purpose constexpr kWriteBack = hw::Purpose::write_back;
} // namespace

TEST_CASE("a write-back over two neighbouring tensors is cut at their border") {
  Bench bench;
  const auto first = bench.tensor(1, 2), second = bench.tensor(2, 2);
  REQUIRE(second == first + 2 * kPage);
  bench.at(0_ns, [&] { bench.asker->ask({true, first, 4 * kPage, hw::kNoId, kWriteBack}); });
  bench.run();
  CHECK((*bench.asker)[0].phases == "begin end respond");
  CHECK(bench.cxl->statistics().write_bytes == 4 * kPage);
  CHECK(bench.unit->statistics().write_backs == 4 * kPage);
}

TEST_CASE("a write-back that comes when its tensor is gone is answered and goes nowhere") {
  Bench bench;
  const auto base = bench.tensor(1, 2);
  bench.at(0_ns, [&] {
    bench.brain->release(1);
    bench.asker->ask({true, base, 2 * kPage, hw::kNoId, kWriteBack});
  });
  bench.run();
  CHECK((*bench.asker)[0].phases == "begin end respond");
  CHECK(bench.cxl->statistics().write_bytes == 0);
  CHECK(bench.unit->statistics().write_backs == 0);
  CHECK(bench.unit->statistics().dead_writes == 2 * kPage);
  CHECK(bench.pool->in_flight() == 0);
}

TEST_CASE("of a write-back that is half dead the other half is written") {
  Bench bench;
  const auto first = bench.tensor(1, 2);
  bench.tensor(2, 2);
  bench.at(0_ns, [&] {
    bench.brain->release(1);
    bench.asker->ask({true, first, 4 * kPage, hw::kNoId, kWriteBack});
  });
  bench.run();
  CHECK(bench.unit->statistics().write_backs == 2 * kPage);
  CHECK(bench.unit->statistics().dead_writes == 2 * kPage);
  CHECK(bench.cxl->statistics().write_bytes == 2 * kPage);
}

} // namespace umf::test
