#include "hw/gpu/occupancy.h"

#include <catch2/catch.hpp>

#include <limits>

/// An SM of 2048 threads, 32 blocks, 65536 registers, 228 KiB of shared memory; 132 of them.
namespace umf::test {

namespace {

struct Launch {
  const char* what;
  std::uint64_t blocks, threads;
  std::uint32_t registers;
  Bytes shared;
  std::uint64_t resident_per_sm; ///< expected
};

hw::Operation operation(const Launch& launch) {
  hw::Operation result;
  result.blocks = launch.blocks;
  result.threads_per_block = launch.threads;
  result.registers_per_thread = launch.registers;
  result.shared_memory = launch.shared;
  result.accesses.push_back({0, 1_GiB, false, true});
  return result;
}

} // namespace

TEST_CASE("the scarcest of threads, blocks, registers and shared memory limits residence") {
  const Launch launch = GENERATE(
      Launch{"threads: 2048 / 1024", 100'000, 1024, 0, {}, 2},
      Launch{"threads: 2048 / 256", 100'000, 256, 32, {}, 8},
      Launch{"threads round up to warps: 2048 / 128", 100'000, 100, 0, {}, 16},
      Launch{"blocks: 32 of 32 threads", 100'000, 32, 0, {}, 32},
      Launch{"registers: 65536 / (64 × 256)", 100'000, 256, 64, {}, 4},
      Launch{"registers: 65536 / (255 × 1024) is none, yet it ran", 100'000, 1024, 255, {}, 1},
      Launch{"shared memory: 228 / 100", 100'000, 128, 0, 100_KiB, 2},
      Launch{"shared memory: 228 / 229 is none, yet it ran", 100'000, 128, 0, 229_KiB, 1},
      Launch{"more threads than an SM holds, yet it ran", 100'000, 4096, 0, {}, 1});
  INFO(launch.what);
  const auto fit = hw::occupancy({}, operation(launch));
  CHECK(fit.resident_blocks == launch.resident_per_sm * 132);
  CHECK(fit.resident_threads == launch.resident_per_sm * 132 * launch.threads);
  CHECK(fit.active_sms == 132);
  CHECK(fit.turns_over);
}

TEST_CASE("a small grid keeps as many SMs busy as it has blocks, and does not turn over") {
  const auto fit = hw::occupancy({}, operation({"", 10, 256, 0, {}, 0}));
  CHECK(fit.resident_blocks == 10);
  CHECK(fit.active_sms == 10);
  CHECK_FALSE(fit.turns_over);
}

TEST_CASE("a grid that just fits does not turn over, one block more does") {
  CHECK_FALSE(hw::occupancy({}, operation({"", 2 * 132, 1024, 0, {}, 0})).turns_over);
  CHECK(hw::occupancy({}, operation({"", 2 * 132 + 1, 1024, 0, {}, 0})).turns_over);
}

TEST_CASE("a grid that is not recorded fills the device") {
  const auto fit = hw::occupancy({}, {});
  CHECK(fit.active_sms == 132);
  CHECK(fit.resident_threads == 132 * 2048);
  CHECK_FALSE(fit.turns_over);
  CHECK(fit.in_flight == Bytes{132 * 2048 * 16});
}

TEST_CASE("bytes in flight") {
  hw::GpuConfig config; // 16 B a thread, 64 KiB an SM
  SECTION("16 B a resident thread") {
    const auto fit = hw::occupancy(config, operation({"", 132, 1024, 0, {}, 0}));
    CHECK(fit.in_flight == Bytes{132 * 1024 * 16});
  }
  SECTION("no more than a thread moves in its life") {
    hw::Operation op = operation({"", 132, 1024, 0, {}, 0});
    op.accesses[0].length = {132 * 1024 * 4};
    CHECK(hw::occupancy(config, op).in_flight == Bytes{132 * 1024 * 4});
  }
  SECTION("staged through shared memory") {
    const auto fit = hw::occupancy(config, operation({"", 132, 128, 0, 48_KiB, 0}));
    CHECK(fit.in_flight == Bytes{132 * 48 * 1024});
  }
  SECTION("never more than the SM's part") {
    const auto fit = hw::occupancy(config, operation({"", 132, 128, 0, 100_KiB, 0}));
    CHECK(fit.in_flight == Bytes{132 * 64 * 1024});
  }
  SECTION("never less than a sector") {
    hw::Operation op = operation({"", 1, 1, 0, {}, 0});
    op.accesses[0].length = {1};
    CHECK(hw::occupancy(config, op).in_flight == Bytes{32});
  }
}

TEST_CASE("a grid beyond 64 bits of threads is taken as it comes") {
  hw::Operation op = operation({"", std::uint64_t{1} << 60, 1024, 0, {}, 0});
  CHECK(hw::occupancy({}, op).in_flight == Bytes{132 * 2048});
}

TEST_CASE("the first window's worth of bytes does not wait for room") {
  const hw::GpuConfig config;
  // 132 × 2 blocks of 1024 threads load 16 B a thread at a time: 4.3 MB of the gigabyte.
  const auto fit = hw::occupancy(config, operation({"", 10'000, 1024, 0, {}, 0}));
  CHECK(fit.refills ==
        Approx(1 - double(fit.in_flight.count) / double((1_GiB).count)).epsilon(1e-4));
  hw::Operation little = operation({"", 100, 1024, 0, {}, 0});
  little.accesses[0].length = {100 * 1024 * 4};
  CHECK(hw::occupancy(config, little).refills == 0);
  CHECK(hw::occupancy(config, {}).refills == 1); // not known how its bytes come
}

TEST_CASE("what a kernel loads is in flight, not what it stores, unless it only stores") {
  const hw::GpuConfig config;
  hw::Operation op = operation({"", 132, 1024, 0, {}, 0});
  op.accesses = {{0, {132 * 1024 * 8}, false, true}, {1 << 30, {132 * 1024 * 8}, true, true}};
  CHECK(hw::occupancy(config, op).in_flight == Bytes{132 * 1024 * 8});
  op.accesses.erase(op.accesses.begin());
  CHECK(hw::occupancy(config, op).in_flight == Bytes{132 * 1024 * 8});
}

TEST_CASE("a turnover is shared by what its block has in flight one after the other") {
  hw::GpuConfig config;
  config.block_turnover = 300_ns;
  config.warp_start = 0_ns;
  hw::Operation op = operation({"", 132 * 2 * 100, 1024, 0, {}, 0});
  op.accesses[0].length = {std::uint64_t{132} * 2 * 100 * 1024 * 16}; // a window a block
  CHECK(hw::occupancy(config, op).turnover.nanoseconds() == Approx(300));
  op.accesses[0].length = {std::uint64_t{132} * 2 * 100 * 1024 * 64}; // four of them
  CHECK(hw::occupancy(config, op).turnover.nanoseconds() == Approx(75).epsilon(0.01));
  config.warp_start = 3_ns; // 31 more warps
  CHECK(hw::occupancy(config, op).turnover.nanoseconds() == Approx(393 / 4.0).epsilon(0.01));
}

} // namespace umf::test
