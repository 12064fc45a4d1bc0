#include "tests/hw/support/machine.h"

#include <catch2/catch.hpp>

/// One kernel and HBM: end = launch + overhead + bytes / rate + unloaded latency.
namespace umf::test {

using hw::Cause;
using F = Figures;

TEST_CASE("a kernel reads many tensors that lie side by side") {
  // More than are read at once, so that a lane reads one behind the other; whole pages each.
  std::vector<stream::Record> records;
  std::vector<stream::Access> all;
  for (stream::TensorId t = 0; t < 40; ++t) {
    records.emplace_back(tensor(t, 1_MiB));
    all.push_back(reads(t, 1_MiB));
  }
  records.emplace_back(kernel(1, all));
  const Outcome run = replay(machine(), std::move(records));
  CHECK(run[0].read == 40_MiB);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("a kernel that reads HBM ends after launch, bytes over bandwidth and one latency") {
  const Bytes n = 64_MiB;
  const Outcome run = replay(machine(), {tensor(1, n), kernel(1, {reads(1, n)})});

  const Femtoseconds expected = F::start + time_of(64 << 20, F::hbm) + F::hbm_read;
  CHECK(distance(run[0].end, expected) <= kRounding);
  CHECK(run.makespan == run[0].end);
  CHECK(run[0].start == F::launch);
  CHECK(run[0].read == n);
  CHECK(run[0].dram == n);
  CHECK(run.unbalanced() == "");

  // Where it went: the launch's two parts, and 16 pieces one after the other. Each is the
  // oldest access until its last line has travelled back, while the next is streaming.
  const auto& causes = run.platform->gpu(0).causes();
  CHECK(causes.of(Cause::launch) == F::start);
  CHECK(distance(causes.of(Cause::hbm_bandwidth),
                 time_of(64 << 20, F::hbm) - F::hbm_read * (F::tiles - 1)) <= kRounding);
  CHECK(distance(causes.of(Cause::hbm_latency), F::media * F::tiles) <= kRounding);
  CHECK(distance(causes.of(Cause::l2_fabric), (F::hit + F::miss) * F::tiles) <= kRounding);
  CHECK(causes.total() == run.makespan);
}

TEST_CASE("too few bytes in flight bind a read by latency: rate = window / latency") {
  const Bytes n = 64_MiB;
  const double window = 100 * 1024; // SMs × bytes each
  const Outcome run = replay(machine(R"({"gpu": {"bytes_in_flight_per_sm": "1KiB"}})"),
                             {tensor(1, n), kernel(1, {reads(1, n)})});

  const double rate = window / F::hbm_read.seconds(); // 292.6 GB/s of 1000
  CHECK(distance(run[0].end, F::start + time_of(64 << 20, rate) + F::hbm_read) <= kRounding);
  // No bandwidth was short: the time is that of the path's parts, 250 and 100 of 350 ns.
  const auto& causes = run[0].causes;
  CHECK(causes.of(Cause::hbm_bandwidth).count == 0);
  const double ratio =
      causes.of(Cause::l2_fabric).seconds() / causes.of(Cause::hbm_latency).seconds();
  CHECK(ratio == Approx(2.5).epsilon(1e-9));
}

TEST_CASE("loads wait behind batches that hold a channel as long as its pins take") {
  // 160 pseudo-channels of 6.25 GB/s: 625 B take 100 ns. At half load a load waits 100 ns × 0.5 /
  // (2 × 0.5) = 50 ns, so a window of 0.5 TB/s × (350 + 50) ns = 200 kB carries half of the peak.
  const Bytes n = 64_MiB;
  const Outcome run = replay(machine(R"({"gpu": {"bytes_in_flight_per_sm": "2000B"},
                                         "tiers": {"hbm": {"batch": "625B"}}})"),
                             {tensor(1, n), kernel(1, {reads(1, n)})});
  const Femtoseconds expected = F::start + time_of(64 << 20, 0.5e12) + F::hbm_read;
  CHECK(run[0].end.seconds() == Approx(expected.seconds()).epsilon(1e-4));
}

TEST_CASE("what was read before is served by the L2 at its own rate and latency") {
  const Bytes n = 8_MiB; // of 32 MiB
  const Outcome run =
      replay(machine(), {tensor(1, n), kernel(1, {reads(1, n)}), kernel(2, {reads(1, n)})});

  const Femtoseconds took = run[1].end - run[1].ready;
  CHECK(distance(took, F::start + time_of(8 << 20, F::l2) + F::hit) <= kRounding);
  CHECK(run[1].dram.count == 0);
  CHECK(run[1].read == n);
  CHECK(run.platform->gpu(0).l2().statistics().hits == n.count);
  CHECK(run[1].causes.of(Cause::hbm_latency).count == 0);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("stores below the dirty limit stay in the L2") {
  const Bytes n = 8_MiB; // the limit is 16 MiB
  const Outcome run = replay(machine(), {tensor(1, n), kernel(1, {writes(1, n)})});

  CHECK(distance(run[0].end, F::start + time_of(8 << 20, F::l2) + F::hit) <= kRounding);
  CHECK(run[0].written == n);
  CHECK(run[0].dram.count == 0);
  CHECK(run.platform->gpu(0).l2().dirty() == n.count);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("stores above the dirty limit end when the write-backs have left") {
  const Bytes n = 32_MiB;
  const Outcome run = replay(machine(), {tensor(1, n), kernel(1, {writes(1, n)})});

  // 16 of 32 MiB stay dirty; the rest goes to HBM, posted, once the stores that push it out have
  // gone: not before the first half has, at the L2's rate, less what is in flight.
  const Femtoseconds least = F::start + time_of(16 << 20, F::hbm);
  CHECK(run[0].end > least);
  CHECK(run[0].end <= least + time_of(16 << 20, F::l2) + F::hit);
  CHECK(run[0].dram == 16_MiB);
  CHECK(run.platform->tiers()[0].module->statistics().write_bytes == (16_MiB).count);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("an L2 of no size passes everything through") {
  const Bytes n = 16_MiB;
  const Outcome run = replay(machine(R"({"gpu": {"l2": {"capacity": "0B"}}})"),
                             {tensor(1, n), kernel(1, {writes(1, n)}), kernel(2, {reads(1, n)}),
                              kernel(3, {reads(1, n)})});

  CHECK(distance(run[0].end, F::start + time_of(16 << 20, F::hbm)) <= kRounding);
  CHECK(distance(run[2].end - run[2].ready, F::start + time_of(16 << 20, F::hbm) + F::hbm_read) <=
        kRounding);
  CHECK(run[2].dram == n);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("a TLB that misses every page walks: walker time bounds the rate") {
  // 1024 pages of 64 KiB, one walker, 1 µs a walk: 1.024 ms, against 67 µs of HBM.
  const Bytes n = 64_MiB;
  const Outcome run = replay(machine(R"({"scheduler": {"walk_latency": "1000ns", "walkers": 1}})"),
                             {tensor(1, n), kernel(1, {reads(1, n)})});

  const Femtoseconds walks = 1000_ns * 1024;
  CHECK(distance(run[0].end, F::start + walks + F::hbm_read + 1000_ns) <= kRounding);
  const auto& unit = run.platform->scheduler(0).statistics();
  CHECK(unit.translations == 1024);
  CHECK(unit.tlb_hits == 0);
  // Of each piece's 1350 ns of travel, which hide the start of the next, 1000 are a walk.
  CHECK(distance(run[0].causes.of(Cause::translation),
                 walks - (F::hbm_read + 1000_ns) * (F::tiles - 1) + 1000_ns * F::tiles) <=
        kRounding);
}

} // namespace umf::test
