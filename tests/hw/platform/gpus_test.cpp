#include "tests/hw/support/machine.h"

#include <catch2/catch.hpp>

/// Two GPUs, each with HBM and a link of its own, and one pool behind a switch.
namespace umf::test {

using F = Figures;

namespace {

const char* const kTwo = R"({
  "gpus": 2,
  "tiers": {"cxl": {"kind": "cxl", "capacity": "8GiB", "mix_loss": 0.0}},
  "links": {
    "gpu0-sw0": {"kind": "cxl", "from": "gpu0", "to": "sw0", "generation": 5, "width": 16},
    "gpu1-sw0": {"kind": "cxl", "from": "gpu1", "to": "sw0", "generation": 5, "width": 16},
    "sw0-cxl": {"kind": "cxl", "from": "sw0", "to": "cxl", "generation": 5, "width": 16}},
  "policy": {"name": "static", "default_hbm_share": 0.0}
})";

std::vector<stream::Record> one_kernel_each() {
  return {tensor(1, 64_MiB), tensor(2, 64_MiB), kernel(1, {reads(1, 64_MiB)}, 0, {0, 0}),
          kernel(2, {reads(2, 64_MiB)}, 0, {1, 0})};
}

} // namespace

TEST_CASE("two GPUs share the pool's link by halves, and each explains its whole time") {
  const Outcome run = replay(machine(kTwo), one_kernel_each());

  const double bound = 32e9 * 16 / 8 * 128 / 130 / (4.5 * 16 * 68 / 64 / 64);
  const double alone = (64 << 20) / bound;
  for (const std::size_t k : {0u, 1u}) {
    const double took = (run[k].end - F::start).seconds();
    CHECK(took == Approx(2 * alone).epsilon(0.02));
  }
  for (const std::uint32_t g : {0u, 1u})
    CHECK(run.platform->gpu(g).causes().total() == run.makespan);
  CHECK(run.platform->links()[0]->statistics().rx_out == (64_MiB).count);
  CHECK(run.platform->links()[2]->statistics().rx_out == (128_MiB).count);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("two GPUs do not share HBM") {
  const Outcome run = replay(machine(R"({"gpus": 2})"), one_kernel_each());
  const Femtoseconds alone = F::start + time_of(64 << 20, F::hbm) + F::hbm_read;
  CHECK(distance(run[0].end, alone) <= kRounding);
  CHECK(distance(run[1].end, alone) <= kRounding);
  CHECK(run.platform->tiers()[0].module->statistics().read_bytes == (64_MiB).count);
  CHECK(run.platform->tiers()[1].module->statistics().read_bytes == (64_MiB).count);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("a device that the scenario lacks is the user's fault") {
  CHECK_THROWS_AS(replay(machine(), one_kernel_each()), UserError);
}

} // namespace umf::test
