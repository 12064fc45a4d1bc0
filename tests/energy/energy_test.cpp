#include "model/energy/energy.h"

#include <catch2/catch.hpp>

using namespace umf;

namespace {
/// 128 bits do not print; the figures here fit 64.
std::int64_t fj(Femtojoules energy) {
  return static_cast<std::int64_t>(energy.count);
}
} // namespace

TEST_CASE("a bit's picojoules times eight times the bytes") {
  // 3.9 pJ/bit × 8 bit = 31,200 fJ a byte.
  CHECK(fj(energy::of(Bytes{1}, PicojoulesPerBit{3.9})) == 31'200);
  CHECK(fj(energy::of(4_MiB, PicojoulesPerBit{3.9})) == 4'194'304LL * 31'200);
  CHECK(fj(energy::of(Bytes{0}, PicojoulesPerBit{3.9})) == 0);
  // Protocol bytes ride along: 2.5 B × 8 × 5.5 pJ.
  CHECK(fj(energy::of_wire(2.5, PicojoulesPerBit{5.5})) == 110'000);
}

TEST_CASE("arithmetic, and what is drawn all the time") {
  CHECK(fj(energy::of(1e9, PicojoulesPerFlop{0.78})) == 780'000'000'000); // 0.78 mJ
  // 80 W for a microsecond is 80 µJ.
  CHECK(fj(energy::of(1000_ns, Watts{80})) == 80'000'000'000);
}

TEST_CASE("an amount is rounded once, so sums in any order agree") {
  // 0.03 fJ a bit: 0.24 fJ a byte, 0 for one and 24 for a hundred at once.
  const PicojoulesPerBit little{0.00003};
  Femtojoules sum{};
  for (int i = 0; i < 100; ++i)
    sum += energy::of(Bytes{1}, little);
  CHECK(fj(sum) == 0);
  CHECK(fj(energy::of(Bytes{100}, little)) == 24);
}

TEST_CASE("a machine room for a day does not overflow") {
  Femtojoules sum{};
  for (int gpu = 0; gpu < 10'000; ++gpu)
    sum += energy::of(Femtoseconds{INT64_MAX}, Watts{700}); // 9223 s each
  CHECK(sum.joules() == Approx(10'000 * 9223.372 * 700).epsilon(1e-6));
}
