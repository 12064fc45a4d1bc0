#include "hw/gpu/chase.h"
#include "hw/gpu/line_cache.h"

#include <catch2/catch.hpp>

using namespace umf;
using namespace umf::hw;

namespace {

/// 64 KiB of L1, 2 MiB in each of two L2 partitions.
GpuConfig small() {
  GpuConfig config;
  config.l1 = {64_KiB, 20_ns, 4};
  config.l2.capacity = 4_MiB;
  config.l2.near_latency = 150_ns;
  config.l2.far_latency = 270_ns;
  config.l2.miss_latency = 70_ns;
  return config;
}

} // namespace

TEST_CASE("the least recently used line of a set gives way") {
  LineCache cache({2, 2, Replacement::least_recent, false}); // one set
  CHECK_FALSE(cache.use(1).hit);
  CHECK_FALSE(cache.use(2).hit);
  CHECK(cache.use(1).hit);
  CHECK(cache.use(3).evicted == 2);
  CHECK(cache.use(1).hit);
  CHECK(cache.take_out(3));
  CHECK_FALSE(cache.take_out(3));
  CHECK_FALSE(cache.use(4).evicted.has_value()); // there was room again
}

TEST_CASE("a line used since all of its set were gives way last") {
  LineCache cache({4, 4, Replacement::not_recent, false});
  for (const std::uint64_t line : {1, 2, 3, 4})
    cache.use(line);
  cache.use(5); // all had been used: all are forgotten, one goes, 5 is recent
  for (int n = 0; n < 3; ++n) {
    const auto outcome = cache.use(std::uint64_t(10 + n));
    CHECK(outcome.evicted != 5); // while others are idle
  }
}

TEST_CASE("a chase answers from the smallest memory that holds its array") {
  const GpuConfig config = small();
  struct Case {
    Bytes array;
    Femtoseconds latency;
  };
  // Memory: the mean hit of 210 ns, 70 ns of miss, 100 ns behind it.
  const Case c = GENERATE(values<Case>({{4_KiB, 20_ns},
                                        {1_MiB, 150_ns},
                                        {Bytes{3932160}, 270_ns}, // 3.75 MiB
                                        {64_MiB, 380_ns}}));
  CAPTURE(c.array.count);
  const Chase result = chase(config, c.array, 100_ns);
  CHECK(result.latency.nanoseconds() == Approx(c.latency.nanoseconds()).epsilon(0.03));
  CHECK(result.l1 + result.near + result.far + result.memory == Approx(1));
}

TEST_CASE("every key of the caches moves the chase") {
  const auto latency = [](const GpuConfig& config, Bytes array) {
    return chase(config, array, 100_ns).latency.count;
  };
  GpuConfig config = small();
  const auto l1_before = latency(config, 60_KiB), l2_before = latency(config, 3_MiB);
  config.l1.ways = 8;
  CHECK(latency(config, 60_KiB) != l1_before);
  config = small();
  config.l1.capacity = 32_KiB;
  CHECK(latency(config, 60_KiB) > l1_before);
  config = small();
  config.l1.latency = 21_ns;
  CHECK(latency(config, 60_KiB) > l1_before);
  config = small();
  config.l2.ways = 4;
  CHECK(latency(config, 3_MiB) != l2_before);
  config = small();
  config.l2.capacity = 8_MiB;
  CHECK(latency(config, 3_MiB) < l2_before);
}

TEST_CASE("a large array is the small one in proportion: one set in sixteen tells of all") {
  GpuConfig config = small();
  config.l2.capacity = 6_MiB; // of 4 MiB in the array whole, of 4 MiB and a line a sixteenth
  const Chase whole = chase(config, 4_MiB, 100_ns);
  const Chase sampled = chase(config, Bytes{(4_MiB).count + 1024}, 100_ns);
  CHECK(sampled.near == Approx(whole.near).margin(0.03));
  CHECK(sampled.far == Approx(whole.far).margin(0.03));
}
