#include "hw/sram/sram.h"
#include "model/base/quantity.h"
#include "tests/hw/support/machine.h"

#include <catch2/catch.hpp>

#include <algorithm>

/// SRAM behind the L2: banks × width × clock, unless the L2 delivers less.
namespace umf::test {

using hw::Boundary;
using hw::Cause;
using F = Figures;

namespace {

/// 48 MiB of the claimed 12.8 TB/s, all tensors in it.
const char* const kSram = R"({
  "tiers": {"sram": {"kind": "sram", "capacity": "48MiB", "banks": 100, "bank_width": "64B/clk",
                     "clock": "2GHz", "bank_latency": "5ns"}},
  "policy": {"name": "static", "sram_share": {"activation": 1.0}}})";
/// SMs that keep enough in flight for any of it, and an L2 of 40 TB/s.
const char* const kFast = R"({
  "gpu": {"bytes_in_flight_per_thread": "256B", "bytes_in_flight_per_sm": "1MiB",
          "l2": {"slice_bandwidth": "500B/clk", "crossbar_bandwidth": "40000B/clk"}}})";

const Bytes kRead = 32_MiB;
constexpr double kBytes = 32 << 20;
constexpr Femtoseconds kPath = F::hit + F::miss + 5_ns;

Outcome read_sram(const std::string& patch) {
  return replay(machine(both(kSram, patch)), {tensor(1, kRead), kernel(1, {reads(1, kRead)})});
}

std::uint64_t median(const Outcome& run, std::size_t tier, Boundary boundary) {
  return run.platform->tiers()[tier]
      .module->statistics()
      .latency[static_cast<std::size_t>(boundary)]
      .percentile(50);
}

} // namespace

TEST_CASE("SRAM behind a faster L2 delivers banks times width times clock") {
  const Outcome run = read_sram(kFast);
  CHECK(distance(run[0].end, F::start + time_of(kBytes, 100 * 64 * 2e9) + kPath) <= kRounding);
  // 2 MiB at 12.8 TB/s are 164 ns, less than the 255 ns of travel: pieces overlap.
  CHECK(run[0].causes.of(Cause::sram).count > 0);
  CHECK(run.platform->tiers()[1].module->statistics().read_bytes == kRead.count);
  CHECK(run.platform->tiers()[0].module->statistics().read_bytes == 0);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("12.8 TB per s of SRAM behind an L2 of 4 TB per s deliver what the L2 does") {
  const Outcome run = read_sram(R"({"gpu": {"bytes_in_flight_per_thread": "256B",
                                            "bytes_in_flight_per_sm": "1MiB"}})");
  CHECK(distance(run[0].end, F::start + time_of(kBytes, F::l2) + kPath) <= kRounding);
  // The banks are never what is waited for: only their 5 ns of 255 show.
  CHECK(run[0].causes.of(Cause::sram) <= 5_ns * F::tiles);
  CHECK(run[0].causes.of(Cause::l2_fabric) > run[0].causes.of(Cause::sram) * 50);
}

TEST_CASE("half the banks, half the width or half the clock are half the rate") {
  const std::string patch = GENERATE(R"({"tiers": {"sram": {"banks": 50}}})",
                                     R"({"tiers": {"sram": {"bank_width": "32B/clk"}}})",
                                     R"({"tiers": {"sram": {"clock": "1GHz"}}})");
  const auto scenario = machine(both(both(kSram, kFast), patch));
  hw::SramConfig config;
  for (const auto& record : scenario.keys.records()) {
    if (record.pointer == "/tiers/sram/banks")
      config.banks = static_cast<std::uint32_t>(std::stoul(record.value));
    if (record.pointer == "/tiers/sram/bank_width")
      config.bank_width = parse_quantity<BytesPerClock>(record.value);
    if (record.pointer == "/tiers/sram/clock") config.clock = parse_quantity<Hertz>(record.value);
  }
  CHECK(hw::sram_peak(config).value == Approx(6.4e12));
}

TEST_CASE("a read of SRAM: 5 ns at the array, its port and all that lies above at the SM") {
  const Outcome run =
      replay(machine(both(kSram, R"({"tiers": {"sram": {"port_latency": "3ns"}}})")),
             {tensor(1, 64_KiB), kernel(1, {reads(1, Bytes{64})})});
  const auto exactly = [](double ns) { return Approx(ns * 1000).epsilon(0.01); };
  CHECK(static_cast<double>(median(run, 1, Boundary::media)) == exactly(5));
  CHECK(static_cast<double>(median(run, 1, Boundary::port)) == exactly(5 + 2 * 3));
  CHECK(static_cast<double>(median(run, 1, Boundary::scheduler)) == exactly(11));
  CHECK(static_cast<double>(median(run, 1, Boundary::l2_miss)) == exactly(11 + 50));
  CHECK(static_cast<double>(median(run, 1, Boundary::sm)) == exactly(11 + 50 + 200));
}

namespace {

/// The first write-back goes once its store has.
constexpr Femtoseconds kFirstStores = 4200_ns; // no later than 16 MiB at 4 TB/s

/// A read and a store of 16 MiB each at the same time; nothing may stay dirty.
Outcome both_ways(const std::string& ports) {
  const Bytes n = 16_MiB;
  const std::string patch = R"({"gpu": {"l2": {"dirty_limit": 0.0}},
                               "tiers": {"sram": {"banks": 1, "clock": "1GHz", "ports": ")" +
                            ports + R"("}}})";
  return replay(machine(both(kSram, patch)),
                {tensor(1, n), tensor(2, n), kernel(1, {reads(1, n)}, 0, {0, 1}),
                 kernel(2, {writes(2, n)}, 0, {0, 2})});
}

} // namespace

TEST_CASE("reads and writes take turns at a shared port") {
  const Outcome run = both_ways("shared"); // 32 MiB at 64 GB/s
  const Femtoseconds least = F::start + time_of(32 << 20, 64e9);
  CHECK(std::max(run[0].end, run[1].end) >= least);
  CHECK(std::max(run[0].end, run[1].end) <= least + kPath + kFirstStores);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("with a port for each, a read does not wait for a write") {
  const Outcome run = both_ways("separate"); // 16 MiB each at 64 GB/s
  CHECK(distance(run[0].end, F::start + time_of(16 << 20, 64e9) + kPath) <= kRounding);
  CHECK(run[1].end >= F::start + time_of(16 << 20, 64e9));
  CHECK(run[1].end <= F::start + time_of(16 << 20, 64e9) + kFirstStores);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("a run that takes part of a word takes the word") {
  const Outcome run =
      replay(machine(both(kSram, R"({"tiers": {"sram": {"banks": 1, "bank_width": "4096B/clk",
                                                        "clock": "1MHz"}}})")),
             {tensor(1, 64_KiB), kernel(1, {reads(1, Bytes{512}, 4096 - 256)})});
  // 512 B over two words: a microsecond each.
  CHECK(distance(run[0].end, F::start + 1000_ns * 2 + kPath) <= kRounding);
}

TEST_CASE("every GPU has its SRAM") {
  const Outcome run =
      replay(machine(both(kSram, R"({"gpus": 2})")),
             {tensor(1, 40_MiB), tensor(2, 40_MiB), kernel(1, {reads(1, 40_MiB)}, 0, {0, 1}),
              kernel(2, {reads(2, 40_MiB)}, 0, {1, 1})});
  for (const auto& tier : run.platform->tiers())
    if (tier.spec->tier_class() == policy::TierClass::sram)
      CHECK(tier.module->statistics().read_bytes == (40_MiB).count);
  CHECK(run.unbalanced() == "");
}

} // namespace umf::test
