#include "tests/hw/support/machine.h"

#include <catch2/catch.hpp>

/// S7 on the machine: what links tell schedulers, and when.
namespace umf::test {

using F = Figures;

namespace {

constexpr double kWork = 100e9; ///< FLOP: a millisecond at 100 TFLOP/s

/// A pool behind one link that changes so; the pool is written again 30 us after it is good.
std::string trains(const std::string& changes) {
  return both(pool_patch(), R"({"scheduler": {"recover_after": "30us"},
                               "links": {"gpu0-cxl": {"training": {"changes": )" +
                                changes + "}}}}");
}

Outcome millisecond(const std::string& patch) {
  return replay(machine(patch), {tensor(1, 1_MiB), kernel(1, {reads(1, 1_MiB)}, kWork)});
}

} // namespace

TEST_CASE("a pool is read only from the end of down-training until recover_after after the other") {
  const Outcome run = millisecond(trains(R"(["100us gen4 x16", "200us gen5 x16"])"));
  const auto& brain = run.platform->brain(0);
  CHECK(brain.counters().degrade.entered == std::array<std::uint64_t, 3>{1, 0, 0});
  // Each training takes 20 us: from 120 to 220 us, and 30 us more.
  CHECK(brain.read_only_for(run.makespan) == 130000_ns);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("training alone degrades nothing: it ends by itself") {
  const Outcome run = millisecond(trains(R"(["100us gen5 x16"])"));
  CHECK(run.platform->brain(0).counters().degrade == scheduler::DegradeCounters{});
  CHECK(run.platform->brain(0).read_only_for(run.makespan) == 0_ns);
}

TEST_CASE("a burst of errors is a trigger of its own, at once and without training") {
  // With p = 1e-3 a link keeps more than 0.6 of its rate.
  const Outcome run = millisecond(trains(R"(["100us errors 1e-3 for 50us"])"));
  const auto& brain = run.platform->brain(0);
  CHECK(brain.counters().degrade.entered == std::array<std::uint64_t, 3>{0, 1, 0});
  CHECK(brain.read_only_for(run.makespan) == 80000_ns);
}

namespace {

/// How often it degrades when the second link of the way, which carries twice as much as the first,
/// falls.
std::uint64_t entered(const std::string& to) {
  const std::string way = R"({"links": {"gpu0-cxl": {"to": "sw0"},
      "sw0-cxl": {"kind": "cxl", "from": "sw0", "to": "cxl", "generation": 5, "width": 16,
                  "count": 2, "training": {"changes": ["100us )";
  const Outcome run = millisecond(both(pool_patch(), way + to + R"("]}}}})"));
  return run.platform->brain(0).counters().degrade.entered[0];
}

} // namespace

TEST_CASE("a link that falls back to what the slowest of the way carries degrades nothing") {
  CHECK(entered("gen4 x16") == 0);
}

TEST_CASE("a link that becomes the slowest of the way counts against what the way was") {
  CHECK(entered("gen4 x8") == 1);
}

TEST_CASE("the heat of a pool is told from outside") {
  hw::Platform platform(machine(pool_patch()));
  platform.set_hot(1, true);
  CHECK(platform.brain(0).ground().tiers[1].read_only);
  CHECK(platform.brain(0).counters().degrade.entered == std::array<std::uint64_t, 3>{0, 0, 1});
}

TEST_CASE("what would happen to a link once all is done makes no run longer") {
  const Outcome run = millisecond(trains(R"(["900ms gen4 x16", "950ms errors 1e-2 for 1ms"])"));
  CHECK(run.makespan < 1100000_ns); // a millisecond of arithmetic
}

TEST_CASE("new tensors go to HBM while the pool is read only") {
  // Everything is for the pool; the second is written once the link is at half.
  const Outcome run =
      replay(machine(trains(R"(["100us gen4 x16"])")),
             {tensor(1, 1_MiB), kernel(1, {writes(1, 1_MiB)}, kWork), tensor(2, 1_MiB),
              kernel(2, {writes(2, 1_MiB)}, kWork), kernel(3, {writes(1, 1_MiB)}, kWork)});
  const auto& table = run.platform->brain(0).table();
  CHECK(table.resident(0) == 16);
  CHECK(table.resident(1) == 16);
  CHECK(run.unbalanced() == "");
}

} // namespace umf::test
