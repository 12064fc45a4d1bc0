#include "tests/hw/support/machine.h"

#include "hw/cxl/cxl_link.h"

#include <catch2/catch.hpp>

/// The pool behind CXL links: what bounds a read of it.
namespace umf::test {

using hw::Cause;
using F = Figures;

namespace {

constexpr double kBytes = 64 << 20;
constexpr Femtoseconds kBehindL2 = 25_ns * 2 + 62_ns + 45_ns;
constexpr Femtoseconds kPath = F::hit + F::miss + kBehindL2;
/// Gen5 x16: 32 GT/s × 16 / 8 × 128/130; 4.5 slots of 16 B in 68 B flits for 64 B.
const double kRaw = 32e9 * 16 / 8 * 128 / 130;
const double kReadBound = kRaw / (4.5 * 16 * 68 / 64 / 64);

/// Of the whole time at `rate`, what is not one of 15 pieces' travel hidden by the next.
Femtoseconds streaming(double rate) {
  return time_of(kBytes, rate) - kPath * (F::tiles - 1);
}

Outcome read_pool(const std::string& patch) {
  return replay(machine(both(pool_patch(), patch)),
                {tensor(1, 64_MiB), kernel(1, {reads(1, 64_MiB)})});
}

} // namespace

TEST_CASE("one Gen5 x16 link bounds reads of the pool at 52.7 GB/s") {
  CHECK(kReadBound == Approx(52.7e9).epsilon(0.001));
  const Outcome run = read_pool("{}");
  CHECK(distance(run[0].end, F::start + time_of(kBytes, kReadBound) + kPath) <= kRounding);
  CHECK(distance(run[0].causes.of(Cause::link_bandwidth), streaming(kReadBound)) <= kRounding);
  CHECK(run.platform->brain(0).counters().remote_hits > 0);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("two parallel links carry twice that") {
  const Outcome run = read_pool(R"({"links": {"gpu0-cxl": {"count": 2}}})");
  CHECK(distance(run[0].end, F::start + time_of(kBytes, 2 * kReadBound) + kPath) <= kRounding);
}

TEST_CASE("with links in plenty the device's media bounds the rate") {
  const Outcome run = read_pool(R"({"links": {"gpu0-cxl": {"count": 16}}})");
  const double media = 8 * 51.2e9 * 0.87; // 356 GB/s of 843
  CHECK(distance(run[0].end, F::start + time_of(kBytes, media) + kPath) <= kRounding);
  CHECK(distance(run[0].causes.of(Cause::cxl_bandwidth), streaming(media)) <= kRounding);
}

TEST_CASE("few outstanding reads bind a link by the latency behind it") {
  const Outcome run = read_pool(R"({"links": {"gpu0-cxl": {"outstanding_reads": 64}}})");
  const double rate = 64 * 64 / kBehindL2.seconds(); // 26.1 GB/s of 52.7
  CHECK(distance(run[0].end, F::start + time_of(kBytes, rate) + kPath) <= kRounding);
  CHECK(run[0].causes.of(Cause::link_bandwidth).count == 0);
}

TEST_CASE("a switch adds its latency both ways and no queue of its own") {
  const Outcome run = read_pool(R"({
    "links": {"gpu0-cxl": {"to": "sw0"},
              "sw0-cxl": {"kind": "cxl", "from": "sw0", "to": "cxl", "generation": 5, "width": 16,
                          "one_way_latency": "25ns"}},
    "switches": {"sw0": {"kind": "pcie", "latency": "105ns"}}})");
  const Femtoseconds path = kPath + 25_ns * 2 + 105_ns * 2;
  CHECK(distance(run[0].end, F::start + time_of(kBytes, kReadBound) + path) <= kRounding);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("reads and writes meet on a link only by their requests and responses") {
  // Two kernels at once, a read and a store of 64 MiB each; nothing may stay dirty.
  const Outcome run =
      replay(machine(both(pool_patch(), R"({"gpu": {"l2": {"dirty_limit": 0.0}}})")),
             {tensor(1, 64_MiB), tensor(2, 64_MiB), kernel(1, {reads(1, 64_MiB)}, 0, {0, 1}),
              kernel(2, {writes(2, 64_MiB)}, 0, {0, 2})});

  // One rate for both (max-min fair), bound by tx: write data and read requests.
  const auto cost = hw::cxl_wire_cost({});
  const double rate = kRaw / (cost.write_tx + cost.read_tx); // 39.5 GB/s each way
  CHECK(distance(run[1].end, F::start + time_of(kBytes, rate)) <= kRounding);
  CHECK(distance(run[0].end, F::start + time_of(kBytes, rate) + kPath) <= kRounding);
  // On a half-duplex wire the two would take 1.8 times as long.
  const double shared = kRaw / (cost.write_tx + cost.write_rx + cost.read_tx + cost.read_rx);
  CHECK(rate / shared > 1.8);
  CHECK(run.unbalanced() == "");
}

} // namespace umf::test
