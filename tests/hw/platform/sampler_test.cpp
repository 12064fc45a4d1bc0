#include "tests/hw/support/machine.h"

#include <catch2/catch.hpp>

/// Windows of a whole machine against what its rates must give.
namespace umf::test {

using F = Figures;

namespace {

/// A column of the machine's time series, by window.
std::vector<std::uint64_t> column(const Outcome& run, const std::string& name) {
  const hw::Windows& windows = run.platform->sampler().windows();
  for (std::size_t c = 0; c < windows.columns().size(); ++c) {
    if (windows.columns()[c].name != name) continue;
    std::vector<std::uint64_t> values;
    for (std::size_t r = 0; r < windows.rows(); ++r)
      values.push_back(windows.at(r, c));
    return values;
  }
  FAIL("no column " << name);
  return {};
}

std::uint64_t sum(const std::vector<std::uint64_t>& values) {
  std::uint64_t all = 0;
  for (const std::uint64_t value : values)
    all += value;
  return all;
}

const char* const kTenMicroseconds = R"({"report": {"window": "10us"}})";

} // namespace

TEST_CASE("a burst in flight counts in each window for what passed in it") {
  // Reads start after 1.5 µs of launch and run at 1 TB/s: 10 MB a full window of 10 µs.
  const Outcome run =
      replay(machine(kTenMicroseconds), {tensor(1, 64_MiB), kernel(1, {reads(1, 64_MiB)})});

  const auto read = column(run, "hbm.read_bytes");
  REQUIRE(read.size() == 7); // 67.1 µs of reading from 1.5 µs on, and the latency
  CHECK(static_cast<double>(read[0]) == Approx(8.5e6).margin(2));
  for (std::size_t w = 1; w < 6; ++w)
    CHECK(static_cast<double>(read[w]) == Approx(10e6).margin(2));
  CHECK(sum(read) == (64_MiB).count);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("each window has its length of time by cause") {
  const Outcome run =
      replay(machine(kTenMicroseconds), {tensor(1, 64_MiB), kernel(1, {reads(1, 64_MiB)})});
  const hw::Windows& windows = run.platform->sampler().windows();
  const std::size_t first = run.platform->sampler().gpu_column(0) + hw::Sampler::cause_fs;
  for (std::size_t w = 0; w < windows.rows(); ++w) {
    std::uint64_t all = 0;
    for (std::size_t c = 0; c < hw::kCauses; ++c)
      all += windows.at(w, first + c);
    CHECK(all == static_cast<std::uint64_t>(windows.length(w).count));
  }
  // The launch and the kernel's start-up are over within the first window.
  const auto launch = column(run, "gpu0.launch_ns");
  CHECK(launch[0] == static_cast<std::uint64_t>(F::start.count));
  CHECK(sum(launch) == launch[0]);
}

TEST_CASE("occupancy is known by region, and its peaks") {
  // 4 MiB of weights from the start; 1 MiB of activations lives while its kernel runs.
  const Outcome run = replay(machine(R"({"report": {"window": "1us"}})"),
                             {tensor(1, 4_MiB, stream::Role::weight), tensor(2, 1_MiB),
                              kernel(1, {reads(1, 4_MiB), writes(2, 1_MiB)}), stream::Free{2},
                              kernel(2, {reads(1, 4_MiB)})});
  const auto& frames = *run.platform->tiers()[0].frames;
  using memory::Region;
  CHECK(frames.used(Region::weight) == 64);
  CHECK(frames.used(Region::activation) == 0);
  CHECK(frames.peak_used(Region::activation) == 16);
  CHECK(frames.peak_used(Region::kv) == 0);
  const auto weights = column(run, "hbm.weight_bytes");
  const auto activations = column(run, "hbm.activation_bytes");
  CHECK(weights.front() == (4_MiB).count);
  CHECK(activations.front() == (1_MiB).count);
  CHECK(activations.back() == 0);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("two GPUs fill their own columns and share the pool's") {
  const Outcome run =
      replay(machine(R"({"gpus": 2, "report": {"window": "10us"}})"),
             {tensor(1, 64_MiB), tensor(2, 8_MiB), kernel(1, {reads(1, 64_MiB)}, 0, {0, 0}),
              kernel(2, {reads(2, 8_MiB)}, 0, {1, 0})});
  CHECK(sum(column(run, "gpu0.hbm.read_bytes")) == (64_MiB).count);
  CHECK(sum(column(run, "gpu1.hbm.read_bytes")) == (8_MiB).count);
  CHECK(sum(column(run, "gpu1.idle_ns")) > 0);
  CHECK(run.unbalanced() == "");
}

} // namespace umf::test
