#include "hw/platform/bound.h"
#include "tests/hw/support/machine.h"

#include <catch2/catch.hpp>

/// The lower bound in cases whose answer is known. That nothing is faster is held against every
/// policy in tests/app/yardsticks_test.cpp.
namespace umf::test {

using F = Figures;

namespace {

hw::Bound bound_of(const std::string& patch, const std::vector<stream::Record>& records) {
  const hw::Scenario scenario = machine(patch);
  return hw::lower_bound(scenario, {tenant_of(records)});
}

double part(const hw::Bound& bound, const std::string& name) {
  for (const auto& part : bound.parts)
    if (part.name == name) return part.seconds;
  return 0;
}

std::string with_pool(const std::string& hbm) {
  return both(pool_patch(), R"({"tiers": {"hbm": {"capacity": ")" + hbm + R"("}}})");
}

/// A Gen5 x16 link of 68 B flits carries 52.7 GB/s of reads (pool_test.cpp).
const double kLink = 32e9 * 16 / 8 * 128 / 130 / (4.5 * 16 * 68 / 64 / 64);

} // namespace

TEST_CASE("one long stream out of HBM takes hardly longer than its bound") {
  // 4 GiB at 1 TB/s, of which the L2 might hold 32 MiB: the bound is below by that, a window's
  // first latency and the last piece's.
  const std::vector<stream::Record> records = {tensor(1, 4096_MiB, stream::Role::weight),
                                               kernel(1, {reads(1, 4096_MiB)})};
  const hw::Bound bound = bound_of("{}", records);
  CHECK(bound.time.seconds() ==
        Approx((F::start + F::hit).seconds() + (4064.0 * (1 << 20)) / F::hbm).epsilon(1e-6));
  CHECK(bound.parts.front().name == "memory");
  const Outcome run = replay(machine(), records);
  CHECK(run.makespan >= bound.time);
  CHECK(run.makespan.seconds() < 1.02 * bound.time.seconds());
}

TEST_CASE("SRAM serves no more than it holds: the rest comes out of HBM, whatever its rate") {
  // 4 GiB beside 40 MiB of SRAM at 12.8 TB/s: 32 MiB may lie in the L2, 40 MiB in the SRAM.
  const std::vector<stream::Record> records = {tensor(1, 4096_MiB, stream::Role::weight),
                                               kernel(1, {reads(1, 4096_MiB)})};
  const hw::Bound bound =
      bound_of(R"({"tiers": {"sram": {"kind": "sram", "capacity": "40MiB"}}})", records);
  CHECK(part(bound, "memory") == Approx(4024.0 * (1 << 20) / F::hbm).epsilon(1e-6));
}

TEST_CASE("kernels in a row pay launch and start-up each, and the larger of arithmetic and L2") {
  // 1 MiB in the L2 at 4 TB/s is 0.26 us; 1 GFLOP at 100 TFLOP/s is 10 us.
  std::vector<stream::Record> records{tensor(1, 1_MiB)};
  for (stream::KernelId k = 0; k < 10; ++k)
    records.push_back(kernel(k, {reads(1, 1_MiB)}, k % 2 == 0 ? 1e9 : 0));
  const hw::Bound bound = bound_of("{}", records);
  CHECK(part(bound, "launch") == Approx(10 * (F::start + F::hit).seconds()));
  CHECK(part(bound, "arithmetic") == Approx(5 * 10e-6));
  CHECK(part(bound, "l2") == Approx(5 * (1 << 20) / F::l2));
  CHECK(bound.argument == "chain");
}

TEST_CASE("what a scan reads beyond HBM and L2 crosses the links once a turn") {
  // Sixteen weights of 16 MiB in turn, ten turns: 256 MiB, of which HBM holds 64 and the L2 32.
  // A window of one turn shows 160 MiB that must come over; the first nine end where weights
  // come up again.
  std::vector<stream::Record> records;
  for (stream::TensorId t = 0; t < 16; ++t)
    records.push_back(tensor(t, 16_MiB, stream::Role::weight));
  for (stream::KernelId k = 0; k < 160; ++k)
    records.push_back(kernel(k, {reads(static_cast<stream::TensorId>(k % 16), 16_MiB)}));
  const hw::Bound bound = bound_of(with_pool("64MiB"), records);
  CHECK(bound.argument == "windows");
  CHECK(bound.link_bytes == 1600_MiB);
  CHECK(part(bound, "links") == Approx(1600.0 * (1 << 20) / kLink));
  CHECK(bound.time.seconds() == Approx(part(bound, "links")));
}

TEST_CASE("what is born in the run may lie anywhere and need not cross a link") {
  // 256 MiB of activations that nobody wrote before: read once, from where they were put.
  const hw::Bound bound =
      bound_of(with_pool("64MiB"), {tensor(1, 256_MiB), kernel(1, {reads(1, 256_MiB)})});
  CHECK(part(bound, "links") == 0);
  CHECK(bound.link_bytes == Bytes{0});
}

TEST_CASE("a chain of waits over two streams is as long as both, without them as the longer") {
  const stream::StreamId a{0, 1}, b{0, 2};
  const auto two = [&](bool wait) {
    std::vector<stream::Record> records{kernel(1, {}, 1e9, a)};
    if (wait) {
      stream::Sync sync;
      sync.waiting = b;
      sync.awaited = a;
      records.push_back(sync);
    }
    records.push_back(kernel(2, {}, 1e9, b));
    return bound_of("{}", records).time.seconds();
  };
  const double one = F::start.seconds() + 10e-6;
  CHECK(two(true) == Approx(2 * one));
  // Side by side they share the SMs: 20 us of arithmetic between them.
  CHECK(two(false) == Approx(20e-6));
}

TEST_CASE("a copy from the host goes through the copy engine and over the host's way") {
  // Both sides of 64 MiB through an engine of 450 GB/s take 0.3 ms; the link carries 64 MiB in
  // more than 1 ms.
  const hw::Bound bound =
      bound_of(host_patch(), {copy(1, stream::CopyKind::host_to_device, 64_MiB)});
  CHECK(bound.parts.front().name == "copies");
  CHECK(bound.time.seconds() > 64.0 * (1 << 20) / 64e9);
  // Without a host only the device's side is simulated: one side through the engine.
  const hw::Bound alone = bound_of("{}", {copy(1, stream::CopyKind::host_to_device, 64_MiB)});
  CHECK(part(alone, "copies") == Approx(64.0 * (1 << 20) / 450e9));
}

} // namespace umf::test
