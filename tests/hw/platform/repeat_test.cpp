#include "tests/hw/support/machine.h"

#include <catch2/catch.hpp>

/// The same trace several times with warm state.
namespace umf::test {

using F = Figures;

namespace {

const char* const kThrice = R"({"replay": {"repeat": 3}})";

} // namespace

TEST_CASE("a repetition finds the weights in the L2 where the first fetched them") {
  const Outcome run = replay(
      machine(kThrice), {tensor(1, 8_MiB, stream::Role::weight), kernel(7, {reads(1, 8_MiB)})});
  REQUIRE(run.rows.size() == 3);
  // 8 MiB at 1 TB/s from HBM, then at 4 TB/s from the L2.
  const Femtoseconds cold = F::start + time_of(8 << 20, F::hbm) + F::hbm_read;
  const Femtoseconds warm = F::start + time_of(8 << 20, F::l2) + F::hit;
  const auto& repeats = run.tenants.at(0).repeats;
  REQUIRE(repeats.size() == 3);
  CHECK(distance(repeats[0], cold) <= kRounding);
  CHECK(distance(repeats[1], warm) <= kRounding);
  CHECK(distance(repeats[2], warm) <= kRounding);
  CHECK(repeats[0] + repeats[1] + repeats[2] == run.makespan);
  CHECK(run.platform->tiers()[0].module->statistics().read_bytes == (8_MiB).count);
  for (std::uint32_t r = 0; r < 3; ++r) {
    CHECK(run.rows[r].id == 7);
    CHECK(run.rows[r].repeat == r);
  }
  CHECK(run.unbalanced() == "");
}

TEST_CASE("a repetition begins when everything of the one before is done") {
  // Two streams, one ten times as long: 1e9 FLOP are 10 µs.
  const Outcome run =
      replay(machine(kThrice), {kernel(1, {}, 1e9, {0, 1}), kernel(2, {}, 1e10, {0, 2})});
  CHECK(run[2].ready == run[1].end);
  CHECK(run[3].ready == run[1].end);
}

TEST_CASE("activations are made anew: frames do not pile up") {
  const Outcome run =
      replay(machine(kThrice),
             {tensor(1, 1_MiB), tensor(2, 3_MiB), tensor(3, 2_MiB, stream::Role::kv_key),
              kernel(1, {writes(1, 1_MiB)}), kernel(2, {reads(1, 1_MiB), writes(2, 3_MiB)}),
              kernel(3, {writes(3, 2_MiB)}), stream::Free{1}});
  const std::uint64_t page = run.platform->scenario().scheduler.page.count;
  const auto& frames = *run.platform->tiers()[0].frames;
  CHECK(frames.peak_used() * page == (6_MiB).count);
  CHECK(frames.used() * page == (5_MiB).count); // what the last repetition left: 2 and 3
  // The KV cache of the first repetition is still there: no second first touch.
  const std::uint64_t pages = (1_MiB).count / page;
  CHECK(run.platform->brain(0).counters().first_touches == (3 * (1 + 3) + 2) * pages);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("open: every repetition takes the recorded gaps") {
  stream::Kernel first = kernel(1, {}), second = kernel(2, {});
  first.issue_ns = 1'000;
  second.issue_ns = 41'000;
  const Outcome run =
      replay(machine(both(kThrice, R"({"replay": {"mode": "open"}})")), {first, second});
  for (const Femtoseconds took : run.tenants.at(0).repeats)
    CHECK(took == 40'000_ns + F::start);
}

TEST_CASE("a trace without operations repeats in no time") {
  const Outcome run = replay(machine(kThrice), {tensor(1, 1_MiB)});
  CHECK(run.tenants.at(0).repeats == std::vector<Femtoseconds>(3));
  CHECK(run.makespan == 0_ns);
}

} // namespace umf::test
