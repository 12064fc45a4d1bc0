#include "model/base/random.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <set>

using namespace umf;

TEST_CASE("a random number depends on seed, name and counter alone") {
  RandomStream first(7, "arrivals");
  RandomStream second(7, "arrivals");
  RandomStream other(7, "lengths");
  const std::uint64_t third = first.at(2);
  other.next(); // another user's draws change nothing
  second.next();
  second.next();
  CHECK(second.next() == third);
  CHECK(first.at(2) == third);
  CHECK(RandomStream(8, "arrivals").at(2) != third);
  CHECK(RandomStream(7, "lengths").at(2) != third);
}

TEST_CASE("the numbers are the same on every machine and in every version") {
  // Computed apart from this code, in Python, from the definitions in random.h.
  static_assert(name_hash("") == 0xCBF29CE484222325U);
  static_assert(name_hash("a") == 0xAF63DC4C8601EC8CU); // published FNV-1a test vector
  static_assert(mix_bits(0x9E3779B97F4A7C15U) == 0xE220A8397B1DCDAFU); // SplitMix64, seed 0
  static_assert(RandomStream(42, "umf").at(0) == 0xFBB11F636CA83DF5U);
  static_assert(RandomStream(42, "umf").at(1) == 0x03363CEA5F717CDCU);
}

TEST_CASE("numbers do not repeat within or across neighbouring streams") {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    for (const char* name : {"a", "b", "aa"}) {
      RandomStream stream(seed, name);
      for (int i = 0; i < 300; ++i)
        seen.insert(stream.next());
    }
  }
  CHECK(seen.size() == 10 * 3 * 300);
}

TEST_CASE("draws below a limit are even") {
  RandomStream stream(3, "dice");
  std::array<int, 6> faces{};
  for (int i = 0; i < 60'000; ++i)
    ++faces.at(stream.next_below(6));
  // Binomial(60000, 1/6): standard deviation 91; 5 of them.
  for (const int face : faces)
    CHECK(std::abs(face - 10'000) < 5 * 91);
  CHECK(stream.next_below(1) == 0);
}

TEST_CASE("unit numbers fill 0 to 1 without 1 itself") {
  RandomStream stream(4, "unit");
  double sum = 0, least = 1, most = 0;
  for (int i = 0; i < 100'000; ++i) {
    const double x = stream.next_unit();
    sum += x;
    least = std::min(least, x);
    most = std::max(most, x);
  }
  // Mean of 10^5 uniforms: standard deviation 0.29 / 316 = 0.0009; 5 of them.
  CHECK(std::abs(sum / 100'000 - 0.5) < 0.0046);
  CHECK(least >= 0);
  CHECK(least < 0.001);
  CHECK(most < 1);
  CHECK(most > 0.999);
}
