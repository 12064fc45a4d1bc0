#include "model/policy/tuner.h"

#include <catch2/catch.hpp>

#include <functional>
#include <vector>

/// S9 in a closed loop with a plant that answers at once: what the reserve takes from long-lived
/// data is read outside, and HBM is so much less busy.
using namespace umf;
using policy::Tuner;

namespace {

Tuner::Keys keys() {
  Tuner::Keys keys;
  keys.period = 1000_ns;
  keys.idle = 0.5;
  keys.calm = 5000_ns;
  keys.window = 2048;
  return keys;
}

/// Utilisation falls by 2 a share of HBM: 0.9 at a reserve of 0.15, 0.86 at 0.17, 0.82 at 0.19.
double plant(double reserve) {
  return 0.9 - 2 * (reserve - 0.15);
}

struct Trace {
  std::vector<double> reserve; ///< by period
  int reversals = 0;           ///< a change against the direction of the last one
};

Trace run(Tuner& tuner, const std::function<double(double)>& utilisation, int periods) {
  Trace trace;
  double before = tuner.reserve(), direction = 0;
  for (int p = 0; p < periods; ++p) {
    for (int window = 0; window < 4; ++window)
      tuner.sample(250_ns, utilisation(tuner.reserve()), 0);
    const double change = tuner.reserve() - before;
    if (change * direction < 0) ++trace.reversals;
    if (change != 0) direction = change;
    before = tuner.reserve();
    trace.reserve.push_back(before);
  }
  return trace;
}

} // namespace

TEST_CASE("three periods in a row above the limit raise the reserve, and it settles") {
  Tuner tuner(keys(), 0.15);
  const Trace trace = run(tuner, plant, 40);
  CHECK(trace.reserve[1] == 0.15);
  CHECK(trace.reserve[2] == Approx(0.17)); // 0.9, three times
  CHECK(trace.reserve[4] == Approx(0.17));
  CHECK(trace.reserve[5] == Approx(0.19));     // 0.86, three times
  CHECK(trace.reserve.back() == Approx(0.19)); // 0.82 lies between the limits
  CHECK(trace.reversals == 0);
  CHECK(tuner.state().changes() == 3); // and the prefetch window, which has been calm
  CHECK(tuner.state().samples == 160);
  CHECK(tuner.state().periods == 40);
}

TEST_CASE("limits closer than what a step does make it swing") {
  // A step changes the utilisation by 0.04, and 0.83 to 0.85 is less: there is no rest between.
  Tuner::Keys close = keys();
  close.idle = 0.83;
  Tuner tuner(close, 0.15);
  // 0.17 and 0.19 in turn, three periods each, from the second step on: 0.86 up, 0.82 down.
  CHECK(run(tuner, plant, 60).reversals >= 15);
}

TEST_CASE("a step that leaps over the room between the limits makes it swing") {
  Tuner::Keys large = keys();
  large.step = 0.1;
  large.most = 0.5;
  large.idle = 0.75; // 0.1 more reserve: 0.7
  Tuner tuner(large, 0.15);
  CHECK(run(tuner, plant, 60).reversals >= 15);
}

TEST_CASE("one period below the limit begins the count anew") {
  Tuner tuner(keys(), 0.15);
  int period = 0;
  for (; period < 30; ++period)
    tuner.sample(1000_ns, period % 3 == 2 ? 0.8 : 0.95, 0);
  CHECK(tuner.reserve() == 0.15);
}

TEST_CASE("the reserve stays within its bounds and comes down where HBM is idle") {
  Tuner tuner(keys(), 0.15);
  const Trace up = run(
      tuner, [](double) { return 1.0; }, 60);
  CHECK(up.reserve.back() == 0.25); // five steps, the fifth whole
  CHECK(tuner.state().raised == 5);
  const Trace down = run(
      tuner, [](double) { return 0.1; }, 60);
  CHECK(down.reserve.back() == 0.15);
  CHECK(tuner.state().lowered == 5);
}

TEST_CASE("without a way down it is a ratchet") {
  Tuner::Keys ratchet = keys();
  ratchet.idle = 0;
  Tuner tuner(ratchet, 0.15);
  run(
      tuner, [](double) { return 1.0; }, 60);
  const Trace idle = run(
      tuner, [](double) { return 0.0; }, 60);
  CHECK(idle.reserve.back() == 0.25);
}

TEST_CASE("a mean is of time, not of windows") {
  Tuner tuner(keys(), 0.15);
  // 0.9 for nine tenths of each period and 0 for one: 0.81.
  for (int p = 0; p < 9; ++p) {
    tuner.sample(900_ns, 0.9, 0);
    tuner.sample(100_ns, 0, 0);
  }
  CHECK(tuner.state().periods == 9);
  CHECK(tuner.reserve() == 0.15);
}

TEST_CASE("few faults for long set the prefetch window, many set it back") {
  Tuner tuner(keys(), 0.15);
  for (int p = 0; p < 4; ++p)
    tuner.sample(1000_ns, 0.6, 499);
  CHECK(tuner.prefetch_window() == 2048);
  CHECK(tuner.sample(1000_ns, 0.6, 499)); // 5 us
  CHECK(tuner.prefetch_window() == 1536);
  CHECK_FALSE(tuner.sample(1000_ns, 0.6, 0));
  CHECK(tuner.sample(1000_ns, 0.6, 500)); // not below
  CHECK(tuner.prefetch_window() == 2048);
  CHECK(tuner.state().windows == 2);
}

TEST_CASE("a reserve out of bounds begins at the nearest") {
  CHECK(Tuner(keys(), 0).reserve() == 0.15);
  CHECK(Tuner(keys(), 1).reserve() == 0.25);
}
