#include "tests/hw/support/machine.h"

#include <catch2/catch.hpp>

/// Copies by the copy engine over PCIe, and memsets.
namespace umf::test {

using stream::CopyKind;
using F = Figures;

namespace {
constexpr double kBytes = 64 << 20;
/// Gen5 x16 after the line code; a skip ordered set in 375 blocks.
const double kRaw = 32e9 * 16 / 8 * 128 / 130 * 374 / 375;
constexpr Femtoseconds kStart = F::launch + F::setup;
} // namespace

TEST_CASE("a copy from the host runs at the rate of PCIe reads: 56 GB/s class") {
  const Outcome run = replay(machine(host_patch()), {copy(1, CopyKind::host_to_device, 64_MiB)});
  // Two completions of 256 B with 20 B of overhead each, and of DLLPs that answer the request a
  // third of an ACK and of a credit update, 8 B each.
  const double rate = kRaw * 512 / (2 * 276 + 16.0 / 3); // 57.7 GB/s; measured 56.4
  CHECK(rate == Approx(56.4e9).epsilon(0.03));
  const Femtoseconds path = 70_ns * 2 + 137_ns;
  CHECK(distance(run[0].end, kStart + time_of(kBytes, rate) + path) <= kRounding);
  CHECK(run[0].read == 64_MiB);
  CHECK(run[0].written == 64_MiB);
  CHECK(run.totals.copy_side_bytes == (128_MiB).count);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("a copy to the host is posted: one way of latency, none of the host's memory") {
  const Outcome run = replay(machine(host_patch()), {copy(1, CopyKind::device_to_host, 64_MiB)});
  const double rate = kRaw * 256 / 280; // 57.5 GB/s; measured 57.0
  CHECK(rate == Approx(57.0e9).epsilon(0.02));
  CHECK(distance(run[0].end, kStart + time_of(kBytes, rate) + 70_ns) <= kRounding);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("a copy within the device passes the copy engine twice") {
  const Outcome run = replay(machine(), {copy(1, CopyKind::device_to_device, 64_MiB)});
  // Reading and writing sides share 450 GB/s; the read side ends with the array's latency.
  CHECK(distance(run[0].end, kStart + time_of(2 * kBytes, 450e9) + F::media) <= kRounding);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("a copy whose host is not simulated moves its device side only") {
  const Outcome run = replay(machine(), {copy(1, CopyKind::host_to_device, 64_MiB)});
  CHECK(run.totals.skipped_host_side == 1);
  CHECK(run[0].read.count == 0);
  CHECK(run[0].written == 64_MiB);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("a copy drops what the L2 holds of its destination and cleans its source") {
  stream::Copy within = copy(2, CopyKind::device_to_device, 4_MiB);
  within.source = 1;
  within.destination = 2;
  const Outcome run = replay(machine(), {tensor(1, 4_MiB), tensor(2, 4_MiB),
                                         kernel(1, {writes(1, 4_MiB), writes(2, 4_MiB)}), within});
  const auto& l2 = run.platform->gpu(0).l2().statistics();
  CHECK(l2.written_back == (4_MiB).count); // the source
  CHECK(l2.discarded == (4_MiB).count);    // the destination
  CHECK(run.platform->gpu(0).l2().dirty() == 0);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("a memset is a kernel that stores") {
  const Outcome run = replay(machine(), {copy(1, CopyKind::memset, 8_MiB)});
  CHECK(distance(run[0].end, F::start + time_of(8 << 20, F::l2) + F::hit) <= kRounding);
  CHECK(run.totals.memsets == 1);
  CHECK(run.totals.copies == 0);
  CHECK(run.platform->gpu(0).l2().dirty() == (8_MiB).count);
}

} // namespace umf::test
