#include "tests/hw/support/machine.h"

#include "hw/platform/energy.h"

#include <catch2/catch.hpp>

/// Joules of a machine with round figures: 4 pJ/bit of HBM reads, 5 of writes, 2 of the L2,
/// 1 pJ a FLOP, 100 W idle; 10 pJ/bit of the pool, 6 of its link.
namespace umf::test {

namespace {

const char* const kEnergy = R"({
  "gpu": {"energy": {"idle_power": "100W", "l2": "2pJ/bit", "f32": "1pJ/FLOP"}},
  "tiers": {"hbm": {"read_energy": "4pJ/bit", "write_energy": "5pJ/bit"}}
})";
const char* const kPoolEnergy = R"({
  "tiers": {"cxl": {"read_energy": "10pJ/bit", "write_energy": "10pJ/bit"}},
  "links": {"gpu0-cxl": {"energy": "6pJ/bit"}}
})";

std::int64_t fj(Femtojoules energy) {
  return static_cast<std::int64_t>(energy.count);
}
constexpr std::int64_t kMiB = 1 << 20;

} // namespace

TEST_CASE("a kernel pays for its arithmetic, its way to the L2 and its reads") {
  const Outcome run =
      replay(machine(kEnergy), {tensor(1, 1_MiB), kernel(1, {reads(1, 1_MiB)}, 1e6)});
  // 8 bit × (4 + 2) pJ a byte, and 10⁶ pJ of arithmetic.
  CHECK(fj(run[0].energy) == kMiB * 48'000 + 1'000'000'000);
  const auto spent = hw::energy_spent(*run.platform, run.makespan);
  CHECK(fj(spent.tiers[0]) == kMiB * 32'000);
  CHECK(fj(spent.l2) == kMiB * 16'000);
  CHECK(fj(spent.compute) == 1'000'000'000);
  CHECK(fj(spent.idle) == run.makespan.count * 100); // 100 W: 100 fJ a femtosecond
  CHECK(run.unbalanced() == "");
}

TEST_CASE("a read that the L2 holds costs its way to the L2 alone") {
  const Outcome run = replay(machine(kEnergy), {tensor(1, 1_MiB), kernel(1, {reads(1, 1_MiB)}),
                                                kernel(2, {reads(1, 1_MiB)})});
  CHECK(fj(run[1].energy) == kMiB * 16'000);
}

TEST_CASE("links charge the bytes on the wire, both directions") {
  const Outcome run = replay(machine(both(kEnergy, both(pool_patch(), kPoolEnergy))),
                             {tensor(1, 1_MiB), kernel(1, {reads(1, 1_MiB)})});
  // A 64 B line of a read: a slot out, 4.5 slots back, 17 B each on the wire.
  const double wire = static_cast<double>(kMiB) / 64 * 5.5 * 17;
  const auto spent = hw::energy_spent(*run.platform, run.makespan);
  CHECK(static_cast<double>(fj(spent.links[0])) == Approx(wire * 48'000).epsilon(1e-9));
  CHECK(fj(run[0].energy) == fj(spent.dynamic()));
  CHECK(fj(spent.tiers[1]) == kMiB * 80'000);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("who pushes dirty data out pays for its write-back") {
  // The L2 keeps 16 of 32 MiB dirty: the second kernel drives the first one's data out.
  const Outcome run =
      replay(machine(kEnergy), {tensor(1, 16_MiB), tensor(2, 16_MiB),
                                kernel(1, {writes(1, 16_MiB)}), kernel(2, {writes(2, 16_MiB)})});
  CHECK(fj(run[0].energy) == 16 * kMiB * 16'000);
  CHECK(fj(run[1].energy) == 16 * kMiB * (16'000 + 40'000));
  CHECK(run.unbalanced() == "");
}

TEST_CASE("every joule is on somebody's account whatever runs") {
  std::vector<stream::Record> records;
  for (stream::TensorId t = 1; t <= 12; ++t)
    records.push_back(tensor(t, Bytes{5'000'001}));
  for (stream::KernelId k = 1; k <= 12; ++k)
    records.push_back(kernel(k,
                             {reads(static_cast<stream::TensorId>(k), Bytes{4'999'999}, 2),
                              writes(static_cast<stream::TensorId>(k % 12 + 1), 3_MiB)},
                             3e7, {0, static_cast<std::int64_t>(k % 3)}));
  records.push_back(copy(13, stream::CopyKind::host_to_device, Bytes{1'234'567}));
  records.push_back(copy(14, stream::CopyKind::memset, Bytes{777}));
  for (stream::TensorId t = 1; t <= 12; ++t)
    records.push_back(stream::Free{t});
  const Outcome run =
      replay(machine(both(both(pool_patch(), host_patch()),
                          R"({"policy": {"name": "static", "default_hbm_share": 0.5}})")),
             records);
  Femtojoules rows{};
  for (const auto& row : run.rows)
    rows += row.result.energy;
  const auto accounts = hw::energy_accounts(*run.platform, run.totals);
  CHECK(rows == accounts.operations);
  CHECK(accounts.total() == hw::energy_spent(*run.platform, run.makespan).dynamic());
  CHECK(run.unbalanced() == "");
}

} // namespace umf::test
