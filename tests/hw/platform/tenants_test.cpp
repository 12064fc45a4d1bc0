#include "tests/hw/support/machine.h"

#include <catch2/catch.hpp>

/// Several traces at once: tenants with tensors and streams of their own.
namespace umf::test {

using F = Figures;

namespace {

/// Every tenant names the same tensor, kernel and stream.
std::vector<stream::Record> one_read(Bytes bytes) {
  return {tensor(1, bytes), kernel(1, {reads(1, bytes)})};
}

std::string weights(const std::string& list) {
  return R"({"replay": {"tenant_weights": )" + list + "}}";
}

} // namespace

TEST_CASE("tenants on one GPU run beside one another and share HBM by halves") {
  const Outcome run = replay_tenants(machine(), {one_read(64_MiB), one_read(64_MiB)});
  const Femtoseconds expected = F::start + time_of(2 * (64 << 20), F::hbm) + F::hbm_read;
  REQUIRE(run.rows.size() == 2);
  for (const std::uint32_t t : {0u, 1u}) {
    CHECK(run.rows[t].tenant == t);
    CHECK(distance(run[t].end, expected) <= kRounding);
  }
  CHECK(run.platform->tiers()[0].module->statistics().read_bytes == (128_MiB).count);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("a tenant of weight 3 gets three quarters while it runs") {
  const Outcome run =
      replay_tenants(machine(weights("[1, 3]")), {one_read(64_MiB), one_read(64_MiB)});
  // The heavy one ends after 4/3 of its time alone, the light one when all bytes have gone.
  const double alone = (64 << 20) / F::hbm;
  CHECK((run[1].end - F::start - F::hbm_read).seconds() == Approx(alone * 4 / 3).epsilon(0.02));
  CHECK((run[0].end - F::start - F::hbm_read).seconds() == Approx(alone * 2).epsilon(0.02));
  CHECK(run.unbalanced() == "");
}

TEST_CASE("weights hold for arithmetic too") {
  // Alone 100 µs each.
  const std::vector<stream::Record> work{kernel(1, {}, 1e10)};
  const Outcome run = replay_tenants(machine(weights("[1, 3]")), {work, work});
  CHECK((run[1].end - F::start).seconds() == Approx(100e-6 * 4 / 3).epsilon(0.001));
  CHECK((run[0].end - F::start).seconds() == Approx(200e-6).epsilon(0.001));
}

TEST_CASE("tenants on GPUs of their own do not meet in HBM") {
  const Outcome run = replay_tenants(machine(R"({"gpus": 2, "replay": {"tenant_gpus": [1, 0]}})"),
                                     {one_read(64_MiB), one_read(32_MiB)});
  CHECK(distance(run[0].end, F::start + time_of(64 << 20, F::hbm) + F::hbm_read) <= kRounding);
  CHECK(distance(run[1].end, F::start + time_of(32 << 20, F::hbm) + F::hbm_read) <= kRounding);
  CHECK(run.platform->tiers()[0].module->statistics().read_bytes == (32_MiB).count);
  CHECK(run.platform->tiers()[1].module->statistics().read_bytes == (64_MiB).count);
  CHECK(run.unbalanced() == "");
}

namespace {

std::vector<stream::Record> two_devices() {
  return {tensor(1, 1_MiB), tensor(2, 1_MiB), kernel(1, {reads(1, 1_MiB)}, 0, {4, 0}),
          kernel(2, {reads(2, 1_MiB)}, 0, {6, 0})};
}

} // namespace

TEST_CASE("the devices of a tenant take the GPUs behind its first") {
  const Outcome run =
      replay_tenants(machine(R"({"gpus": 3, "replay": {"tenant_gpus": [1]}})"), {two_devices()});
  CHECK(run.platform->tiers()[0].module->statistics().read_bytes == 0);
  CHECK(run.platform->tiers()[1].module->statistics().read_bytes == (1_MiB).count);
  CHECK(run.platform->tiers()[2].module->statistics().read_bytes == (1_MiB).count);
  CHECK(run.tenants.at(0).gpus == 2);
}

TEST_CASE("more devices than GPUs behind a tenant's first are the user's fault") {
  CHECK_THROWS_WITH(
      replay_tenants(machine(R"({"gpus": 2, "replay": {"tenant_gpus": [1]}})"), {two_devices()}),
      Catch::Contains("device 6 is number 2 and would be GPU 2 of 2") &&
          Catch::Contains("expected \"gpus\": 3 or more"));
}

TEST_CASE("a host that waits holds its own tenant back and no other") {
  stream::Sync wait;
  wait.host_waits = true;
  const std::vector<stream::Record> waits{kernel(1, {}, 1e9), wait, kernel(2, {}, 1e9, {0, 5})};
  const std::vector<stream::Record> free{kernel(1, {}, 1e9), kernel(2, {}, 1e9, {0, 5})};
  const Outcome run = replay_tenants(machine(), {waits, free});
  CHECK(run[1].ready == run[0].end);
  CHECK(run[3].ready == 0_ns);
}

TEST_CASE("tenants repeat each for itself") {
  const std::vector<stream::Record> brief{kernel(1, {}, 0)}, lasting{kernel(1, {}, 1e10)};
  const Outcome run = replay_tenants(machine(R"({"replay": {"repeat": 2}})"), {brief, lasting});
  CHECK(run.tenants.at(0).repeats == std::vector<Femtoseconds>(2, F::start));
  REQUIRE(run.tenants.at(1).repeats.size() == 2);
  CHECK(run.tenants.at(1).repeats[0] + run.tenants.at(1).repeats[1] == run.makespan);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("a GPU that the scenario lacks is a fault of the key") {
  CHECK_THROWS_WITH(machine(R"({"replay": {"tenant_gpus": [0, 2]}})"),
                    Catch::Contains("tenant 1 is given GPU 2") && Catch::Contains("0..0"));
}

TEST_CASE("tiers and links whose names differ in a sign alone are two") {
  const Outcome run = replay(machine(R"({
    "tiers": {"p-1": {"kind": "cxl", "capacity": "1GiB"}, "p_1": {"kind": "cxl", "capacity": "1GiB"}},
    "links": {"l-1": {"kind": "cxl", "from": "gpu0", "to": "p-1"},
              "l_1": {"kind": "cxl", "from": "gpu0", "to": "p_1"}}})"),
                             {kernel(1, {})});
  const auto& tiers = run.platform->tiers();
  REQUIRE(tiers.size() == 3);
  CHECK(std::string(tiers[1].module->name()) != tiers[2].module->name());
  CHECK(std::string(run.platform->links()[0]->name()) != run.platform->links()[1]->name());
}

} // namespace umf::test
