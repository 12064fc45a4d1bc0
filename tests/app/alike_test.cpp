#include "app/serve/alike.h"

#include <catch2/catch.hpp>

using namespace umf::app;

namespace {
IterationWork work(double products, double near_cache) {
  IterationWork work;
  work.seconds[IterationWork::products] = products;
  work.seconds[IterationWork::near_cache] = near_cache;
  return work;
}
} // namespace

TEST_CASE("an iteration takes the time of one with like work, scaled by the whole") {
  AlikeIterations alike(0.1, 1000);
  CHECK(!alike.foresee(work(1.0, 1.0)));
  alike.learn(work(1.0, 1.0), 4.0);
  CHECK(*alike.foresee(work(1.0, 1.0)) == Approx(4.0));
  // Steps of 10 % of the whole, from 1.1^7 = 1.949 on: 0.195. Both parts stay in the sixth.
  CHECK(*alike.foresee(work(1.02, 1.0)) == Approx(4.0 * 2.02 / 2.0));
  CHECK(alike.check().folded == 2);
}

TEST_CASE("iterations of the same whole but other parts are not alike") {
  AlikeIterations alike(0.02, 1000);
  CHECK(!alike.foresee(work(1.0, 1.0)));
  alike.learn(work(1.0, 1.0), 4.0);
  CHECK(!alike.foresee(work(1.5, 0.5)));
  CHECK(!alike.foresee(work(2.0, 2.0)));
}

TEST_CASE("one in so many is simulated all the same and tells how far off the guess was") {
  AlikeIterations alike(0.1, 3);
  CHECK(!alike.foresee(work(1.0, 1.0)));
  alike.learn(work(1.0, 1.0), 4.0);
  CHECK(alike.foresee(work(1.0, 1.0)));
  CHECK(alike.foresee(work(1.0, 1.0)));
  CHECK(!alike.foresee(work(1.0, 1.0)));
  alike.learn(work(1.0, 1.0), 5.0);
  CHECK(alike.check().folded == 2);
  CHECK(alike.check().checked == 1);
  CHECK(alike.check().error() == Approx(4.0 / 5.0 - 1));
  CHECK(alike.check().worst == Approx(-0.2));
  CHECK(*alike.foresee(work(1.0, 1.0)) == Approx(5.0)); // what was simulated last counts
}

TEST_CASE("without tolerance nothing is folded") {
  AlikeIterations alike(0, 2);
  for (int i = 0; i < 4; ++i) {
    CHECK(!alike.foresee(work(1.0, 1.0)));
    alike.learn(work(1.0, 1.0), 4.0);
  }
  CHECK(alike.check().checked == 0);
}
