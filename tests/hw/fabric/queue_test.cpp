#include "hw/fabric/burst.h"

#include <catch2/catch.hpp>

using namespace umf;
using namespace umf::hw;

namespace {

/// A window's hold in ns once the queue is counted: 100 ns of path, a memory of 1 TB/s.
double held(double window, Femtoseconds service, double share = 1.0) {
  Burst burst;
  burst.add_window(0, {}, 1.0);
  burst.add_latency(Cause::hbm_latency, 100_ns);
  burst.batch_service = service;
  burst.load_share = share;
  burst.queue_behind(1e12, window);
  burst.close_windows();
  return burst.hops[0].use * 1e9;
}

} // namespace

TEST_CASE("without batches a window is held for the latency alone") {
  CHECK(held(50'000, 0_ns) == Approx(100));
}

TEST_CASE("reads wait behind batches as the load that they make says") {
  // u C (L + s u / 2(1 − u)) = W at half load: 0.5 TB/s × (100 ns + 100 ns × 0.5 / (2 × 0.5)).
  CHECK(held(0.5e12 * 150e-9, 100_ns) == Approx(150).epsilon(1e-6));
  // At 0.8: the wait is 100 ns × 0.8 / 0.4.
  CHECK(held(0.8e12 * 300e-9, 100_ns) == Approx(300).epsilon(1e-6));
  // Reads that are half of what the memory moves have half of it: the same load from half the
  // window.
  CHECK(held(0.4e12 * 300e-9, 100_ns, 0.5) == Approx(300).epsilon(1e-6));
}

TEST_CASE("a window far beyond the memory's reach brings it near its capacity, never over it") {
  const double window = 1e12 * 10e-6;
  const double rate = window / (held(window, 100_ns) * 1e-9);
  CHECK(rate < 1e12);
  CHECK(rate > 0.99e12);
}
