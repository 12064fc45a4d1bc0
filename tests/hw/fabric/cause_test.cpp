#include "hw/fabric/cause.h"
#include "model/base/error.h"
#include "model/base/random.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <set>
#include <string>

using namespace umf;
using namespace umf::hw;

namespace {

CauseShares shares(double compute, double hbm_bandwidth, double idle = 0) {
  CauseShares s{};
  s[static_cast<std::size_t>(Cause::compute)] = compute;
  s[static_cast<std::size_t>(Cause::hbm_bandwidth)] = hbm_bandwidth;
  s[static_cast<std::size_t>(Cause::idle)] = idle;
  return s;
}

} // namespace

TEST_CASE("every split of time sums to the time put in, and none is negative") {
  // 120,000 splits in all; times up to 2^10, 2^40 and 2^62 fs: the last is coarser in doubles.
  const int bits = GENERATE(10, 40, 62);
  CAPTURE(bits);
  RandomStream random(1, "cause_test");
  CauseLedger ledger;
  std::int64_t expected = 0;
  for (int step = 0; step < 40'000; ++step) {
    CauseShares split{};
    const std::uint64_t causes = random.next_below(6);
    for (std::uint64_t c = 0; c < causes; ++c)
      split[random.next_below(kCauses)] = std::exp2(random.next_unit() * 60 - 30);
    const Femtoseconds time{static_cast<std::int64_t>(random.next() >> (64 - bits))};
    CauseLedger one;
    one.add(time, split);
    REQUIRE(one.total() == time);
    for (std::size_t c = 0; c < kCauses; ++c) {
      const auto part = one.of(static_cast<Cause>(c)).count;
      REQUIRE(part >= 0);
      // Who had no share gets no time, except idle when nobody had one.
      if (split[c] <= 0 && causes > 0) REQUIRE(part == 0);
    }
    if (bits == 62) continue; // their sum would pass 64 bits
    ledger.add(time, split);
    expected += time.count;
    REQUIRE(ledger.total().count == expected);
  }
}

TEST_CASE("what is left over goes to the largest remainder, ties to the earlier cause") {
  const auto [time, a, b, compute, hbm] =
      GENERATE(table<std::int64_t, double, double, std::int64_t, std::int64_t>({
          {10, 1, 1, 5, 5},
          {11, 1, 1, 6, 5},   // 5.5 and 5.5
          {10, 1, 2, 3, 7},   // 3.33 and 6.67
          {10, 2, 1, 7, 3},   // 6.67 and 3.33
          {1, 1, 3, 0, 1},    // 0.25 and 0.75
          {7, 1e-9, 1, 0, 7}, // a sliver rounds away
          {7, 100, 300, 2, 5} // 1.75 and 5.25: any scale
      }));
  CAPTURE(time, a, b);
  CauseLedger ledger;
  ledger.add({time}, shares(a, b));
  CHECK(ledger.of(Cause::compute).count == compute);
  CHECK(ledger.of(Cause::hbm_bandwidth).count == hbm);
}

TEST_CASE("time nobody claims is idle") {
  CauseLedger ledger;
  ledger.add({100}, CauseShares{});
  CHECK(ledger.of(Cause::idle).count == 100);
}

TEST_CASE("no time and negative time change nothing") {
  CauseLedger ledger;
  ledger.add({0}, shares(1, 1));
  ledger.add({-5}, shares(1, 1));
  CHECK(ledger.total().count == 0);
}

TEST_CASE("a negative share is loud") {
  CauseLedger ledger;
  CHECK_THROWS_AS(ledger.add({10}, shares(1, -0.1)), InvariantError);
  CHECK_THROWS_AS(ledger.add({10}, shares(1, std::nan(""))), InvariantError);
}

TEST_CASE("ledgers add up cause by cause") {
  CauseLedger a, b;
  a.add({3}, Cause::launch);
  b.add({4}, Cause::launch);
  b.add({5}, Cause::idle);
  a += b;
  CHECK(a.of(Cause::launch).count == 7);
  CHECK(a.total().count == 12);
}

TEST_CASE("causes have names of their own") {
  std::set<std::string> names;
  for (std::size_t c = 0; c < kCauses; ++c)
    CHECK(names.insert(std::string(name_of(static_cast<Cause>(c)))).second);
  CHECK(names.count("") == 0);
}
