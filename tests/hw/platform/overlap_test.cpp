#include "tests/hw/support/machine.h"

#include <catch2/catch.hpp>

/// Arithmetic runs on what has arrived, in tiles of a sixteenth. A piece of 4 MiB is longer
/// than the window, so the pieces of a 64 MiB read come one after the other.
namespace umf::test {

using hw::Cause;
using F = Figures;

namespace {
constexpr double kBytes = 64 << 20;
} // namespace

TEST_CASE("a memory-bound kernel adds the arithmetic of its last tile only") {
  const Femtoseconds work = 32000_ns; // 2 µs a tile, which takes 4.2 µs to come
  const Outcome run = replay(
      machine(), {tensor(1, 64_MiB), kernel(1, {reads(1, 64_MiB)}, work.seconds() * F::peak)});

  const Femtoseconds bytes = time_of(kBytes, F::hbm);
  const Femtoseconds tile{work.count / F::tiles};
  CHECK(distance(run[0].end, F::start + bytes + F::hbm_read + tile) <= kRounding);
  CHECK(distance(run[0].causes.of(Cause::compute), work) <= kRounding);
}

TEST_CASE("a compute-bound kernel adds the transfer of its first tile only") {
  const Femtoseconds work = 160000_ns; // 10 µs a tile
  const Outcome run = replay(
      machine(), {tensor(1, 64_MiB), kernel(1, {reads(1, 64_MiB)}, work.seconds() * F::peak)});

  const Femtoseconds tile = time_of(kBytes / F::tiles, F::hbm);
  CHECK(distance(run[0].end, F::start + tile + F::hbm_read + work) <= kRounding);
  CHECK(distance(run[0].causes.of(Cause::compute), work) <= kRounding);
  CHECK(run[0].causes.total() == run[0].end - run[0].start);
}

TEST_CASE("a kernel with arithmetic and no bytes takes its arithmetic") {
  const Outcome run = replay(machine(), {kernel(1, {}, 1e9)});
  CHECK(distance(run[0].end, F::start + time_of(1e9, F::peak)) <= kRounding);
}

TEST_CASE("a launch of half the SMs has half the arithmetic rate") {
  stream::Kernel half = kernel(1, {}, 1e9);
  half.grid = {50, 1, 1};
  half.block = {128, 1, 1};
  const Outcome run = replay(machine(), {half});
  CHECK(distance(run[0].end, F::start + time_of(1e9, F::peak / 2)) <= kRounding);
}

TEST_CASE("a kernel of which nothing is known costs its launch and is counted apart") {
  const Outcome run = replay(machine(), {kernel(1, {})});
  CHECK(run[0].end == F::start);
  CHECK(run.rows[0].unknown);
  CHECK(run.totals.unknown_kernels == 1);
  CHECK(run.platform->gpu(0).causes().of(Cause::launch) == run.makespan);
}

TEST_CASE("every block but the first ones is preceded by a turnover") {
  // Two blocks of 32 warps fit an SM, 10,000 are to run: 49 times one follows another, after 233 ns
  // and 3 ns a warp. All but the first window's worth of bytes waits for room at the latency.
  stream::Kernel many = kernel(1, {reads(1, 64_MiB)});
  many.grid = {10'000, 1, 1};
  many.block = {1024, 1, 1};
  const Outcome run =
      replay(machine(R"({"gpu": {"bytes_in_flight_per_sm": "1KiB", "block_turnover": "233ns"}})"),
             {tensor(1, 64_MiB), many});
  const double window = 100 * 1024;
  const Femtoseconds refills = time_of(kBytes - window, window / F::hbm_read.seconds());
  const Femtoseconds turnovers = (233_ns + 3_ns * 31) * 49;
  CHECK(distance(run[0].end, F::start + refills + turnovers + F::hbm_read).count <=
        (10_ns).count); // of_block is whole bytes
}

} // namespace umf::test
