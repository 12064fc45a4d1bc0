#include "model/base/histogram.h"
#include "model/base/random.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace umf;

TEST_CASE("small values are counted exactly") {
  Histogram histogram;
  for (std::uint64_t value = 1; value <= 200; ++value)
    histogram.add(value);
  CHECK(histogram.count() == 200);
  CHECK(histogram.mean() == 100.5);
  CHECK(histogram.percentile(0) == 1);
  CHECK(histogram.percentile(50) == 100);
  CHECK(histogram.percentile(99) == 198);
  CHECK(histogram.percentile(99.5) == 199);
  CHECK(histogram.percentile(100) == 200);
}

TEST_CASE("an empty histogram is all zeros") {
  const Histogram histogram;
  CHECK(histogram.count() == 0);
  CHECK(histogram.mean() == 0);
  CHECK(histogram.min() == 0);
  CHECK(histogram.max() == 0);
  CHECK(histogram.percentile(99) == 0);
}

TEST_CASE("percentiles of any magnitude keep the stated error") {
  static_assert(Histogram::relative_error() <= 0.01);
  RandomStream random(1, "histogram");
  Histogram histogram;
  std::vector<std::uint64_t> values;
  for (int i = 0; i < 20'000; ++i) {
    values.push_back(random.next() >> random.next_below(64));
    histogram.add(values.back());
  }
  std::sort(values.begin(), values.end());
  for (const double percent : {1.0, 10.0, 50.0, 90.0, 99.0, 99.9}) {
    const auto rank = static_cast<std::size_t>(std::ceil(percent * 20'000 / 100 - 1e-6));
    const auto exact = static_cast<double>(values[rank - 1]);
    const auto estimate = static_cast<double>(histogram.percentile(percent));
    CHECK(std::abs(estimate - exact) <= exact * Histogram::relative_error());
  }
  CHECK(histogram.max() == values.back());
  CHECK(histogram.min() == values.front());
}

TEST_CASE("extreme values neither overflow the sum nor the buckets") {
  Histogram histogram;
  histogram.add(UINT64_MAX, 1000);
  CHECK(histogram.mean() == 0x1p64);
  CHECK(histogram.percentile(50) == UINT64_MAX);
  histogram.add(0, 0);
  CHECK(histogram.count() == 1000);
  CHECK(histogram.min() == UINT64_MAX);
}

TEST_CASE("merged histograms equal one that saw everything") {
  RandomStream random(2, "merge");
  Histogram left, right, both;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t value = random.next_below(1'000'000);
    (i % 3 == 0 ? left : right).add(value, 2);
    both.add(value, 2);
  }
  left.merge(right);
  left.merge(Histogram{});
  CHECK(left.count() == both.count());
  CHECK(left.mean() == both.mean());
  CHECK(left.min() == both.min());
  CHECK(left.max() == both.max());
  for (const double percent : {5.0, 50.0, 95.0, 99.9})
    CHECK(left.percentile(percent) == both.percentile(percent));
}
