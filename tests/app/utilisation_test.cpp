#include "app/serve/utilisation.h"

#include <catch2/catch.hpp>

#include <cmath>

using umf::app::Utilisation;

TEST_CASE("a stretch is spread over the windows it passes") {
  Utilisation utilisation(1'000'000'000);
  // Windows begin with the first stretch: 0.5 s to 1.5 s busy for half of it, then 1 s in the next.
  utilisation.add(500'000'000, 1'000'000'000, {0.5, 0.25, 0.1});
  utilisation.add(1'500'000'000, 2'500'000'000, {1.0, 0.5, 0.2});
  const auto figures = utilisation.figures(2'500'000'000);
  CHECK(figures.windows == 2);
  CHECK(figures.busy.mean == Approx(0.75));
  CHECK(figures.busy.min == Approx(0.5));
  CHECK(figures.busy.max == Approx(1.0));
  CHECK(figures.busy.deviation == Approx(0.25));
  CHECK(figures.memory.mean == Approx(0.375));
  CHECK(figures.arithmetic.max == Approx(0.2));
}

TEST_CASE("a window that is not over does not count, one without work does") {
  Utilisation utilisation(1'000'000'000);
  utilisation.add(0, 1'700'000'000, {1.7, 0.85, 0.17});
  CHECK(utilisation.figures(999'999'999).windows == 0);
  CHECK(utilisation.figures(1'900'000'000).windows == 1);
  const auto figures = utilisation.figures(4'000'000'000);
  CHECK(figures.windows == 4);
  CHECK(figures.busy.mean == Approx(1.7 / 4));
  CHECK(figures.busy.min == 0);
}
