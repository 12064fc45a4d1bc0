#include "tests/hw/support/machine.h"

#include <catch2/catch.hpp>

/// Closed replay: what waits for what. Kernels of 1e9 FLOP take 10 µs; two at once share.
namespace umf::test {

using F = Figures;

namespace {

constexpr double kFlops = 1e9;
constexpr stream::StreamId kA{0, 1}, kB{0, 2}, kC{0, 3};

stream::Sync wait_for(stream::StreamId waiting, std::optional<stream::StreamId> awaited,
                      bool host = false) {
  stream::Sync sync;
  sync.waiting = waiting;
  sync.awaited = awaited;
  sync.host_waits = host;
  return sync;
}

} // namespace

TEST_CASE("kernels of one stream run in order, those of another beside them") {
  const Outcome run = replay(
      machine(), {kernel(1, {}, kFlops, kA), kernel(2, {}, kFlops, kA), kernel(3, {}, kFlops, kB)});
  CHECK(run[1].ready == run[0].end);
  CHECK(run[2].ready.count == 0);
  CHECK(distance(run[0].end, F::start + time_of(2 * kFlops, F::peak)) <= kRounding);
}

TEST_CASE("a stream that waits for another starts when that is done, and no earlier") {
  const Outcome run = replay(machine(), {kernel(1, {}, kFlops, kA), wait_for(kB, kA),
                                         kernel(2, {}, kFlops, kB), kernel(3, {}, kFlops, kC)});
  CHECK(run[1].ready == run[0].end);
  CHECK(run[2].ready.count == 0); // issued later, on a stream that waits for nothing
}

TEST_CASE("a wait covers what was issued before it only") {
  const Outcome run =
      replay(machine(), {kernel(1, {}, kFlops, kA), wait_for(kB, kA),
                         kernel(2, {}, 100 * kFlops, kA), kernel(3, {}, kFlops, kB)});
  CHECK(run[2].ready == run[0].end);
  CHECK(run[2].end < run[1].end);
}

TEST_CASE("when the host waits for a stream, everything issued later waits, on any stream") {
  const Outcome run = replay(machine(), {kernel(1, {}, kFlops, kA), wait_for(kA, kA, true),
                                         kernel(2, {}, kFlops, kB), kernel(3, {}, kFlops, kC)});
  CHECK(run[1].ready == run[0].end);
  CHECK(run[2].ready == run[0].end);
}

TEST_CASE("when the host waits for the device, every stream of it is awaited") {
  const Outcome run =
      replay(machine(), {kernel(1, {}, kFlops, kA), kernel(2, {}, 3 * kFlops, kB),
                         wait_for(kA, std::nullopt, true), kernel(3, {}, kFlops, kC)});
  CHECK(run[2].ready == run[1].end);
}

TEST_CASE("a stream first named by a wait still stands behind the host's") {
  const Outcome run = replay(machine(), {kernel(1, {}, kFlops, kA), wait_for(kA, kA, true),
                                         wait_for(kB, kC), kernel(2, {}, kFlops, kB)});
  CHECK(run[1].ready == run[0].end);
}

TEST_CASE("a graph's launch and a programmatic one cost what their keys say") {
  stream::Kernel graph = kernel(1, {}), programmatic = kernel(2, {});
  graph.launch = stream::Launch::graph;
  programmatic.launch = stream::Launch::programmatic;
  const Outcome run = replay(machine(R"({"gpu": {"launch": {"graph": "600ns",
                                         "programmatic": "200ns"}}})"),
                             {graph, programmatic});
  CHECK(run[0].end == 600_ns + F::overhead);
  CHECK(run[1].end - run[0].end == 200_ns + F::overhead);
}

TEST_CASE("reading ahead by one operation gives the same times") {
  const std::string patch = R"({"replay": {"read_ahead": 1}})";
  const Outcome run = replay(machine(patch), {tensor(1, 8_MiB), kernel(1, {reads(1, 8_MiB)}, 0, kA),
                                              kernel(2, {reads(1, 8_MiB)}, 0, kA)});
  CHECK(run[1].ready == run[0].end);
  CHECK(run.unbalanced() == "");
}

} // namespace umf::test
