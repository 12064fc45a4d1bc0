#include "hw/sram/sram_banks.h"
#include "model/base/error.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <map>
#include <random>

using namespace umf::hw;

namespace {

constexpr std::uint64_t kWord = 64;
constexpr Cycle kLatency = 10;

SramBanks banks(std::uint32_t count, SramPorts ports = SramPorts::shared) {
  return SramBanks({.banks = count, .word = kWord, .latency = kLatency, .ports = ports});
}

} // namespace

TEST_CASE("an access alone takes the bank's latency") {
  SramBanks sram = banks(4);
  CHECK(sram.access(5, 0, kWord, false) == 5 + kLatency);
  CHECK(sram.access(6, 0, kWord, true) == 6 + kLatency); // the array is pipelined
  CHECK(sram.statistics().conflicts == 0);
  CHECK(sram.statistics().waited == 0);
}

TEST_CASE("two accesses to one bank in one clock take one clock more, to two banks none") {
  SramBanks one = banks(4);
  CHECK(one.access(0, 0, kWord, false) == kLatency);
  CHECK(one.free_at(0, false) == 1);
  CHECK(one.access(0, 4 * kWord, kWord, false) == kLatency + 1); // word 4 of 4 banks: bank 0
  CHECK(one.statistics().conflicts == 1);
  CHECK(one.statistics().waited == 1);

  SramBanks two = banks(4);
  CHECK(two.access(0, 0, kWord, false) == kLatency);
  CHECK(two.access(0, kWord, kWord, false) == kLatency);
  CHECK(two.statistics().conflicts == 0);
}

TEST_CASE("separate ports read beside a write, a shared port does one after the other") {
  const auto [ports, later] =
      GENERATE(table<SramPorts, Cycle>({{SramPorts::shared, 1}, {SramPorts::separate, 0}}));
  SramBanks sram = banks(4, ports);
  CHECK(sram.access(0, 0, kWord, false) == kLatency);
  CHECK(sram.access(0, 0, kWord, true) == kLatency + later);
  // Two of one kind share a port either way.
  CHECK(sram.access(0, 0, kWord, true) == kLatency + later + 1);
  CHECK(sram.statistics().reads == 1);
  CHECK(sram.statistics().writes == 2);
}

TEST_CASE("a stride of all banks serialises, a stride of a word does not") {
  constexpr std::uint32_t count = 8;
  constexpr std::uint64_t accesses = 64;
  SramBanks strided = banks(count), dense = banks(count);
  for (std::uint64_t i = 0; i < accesses; ++i) {
    // The i-th waits for the i before it.
    CHECK(strided.access(0, i * count * kWord, kWord, false) == kLatency + i);
    // Eight start together, the next eight a clock later.
    CHECK(dense.access(0, i * kWord, kWord, false) == kLatency + i / count);
  }
  CHECK(strided.words_per_clock() == 1.0);
  CHECK(strided.busiest().bank == 0);
  CHECK(strided.busiest().words == accesses);
  CHECK(strided.statistics().conflicts == accesses - 1);
  CHECK(strided.statistics().waited == accesses * (accesses - 1) / 2);
  CHECK(dense.words_per_clock() == 8.0);
  CHECK(dense.busiest().words == accesses / count);
  CHECK(dense.statistics().conflicts == accesses - count);
  CHECK(dense.statistics().waited == count * (0 + 1 + 2 + 3 + 4 + 5 + 6 + 7));
}

TEST_CASE("an access of several words ends with its last, and takes parts of words whole") {
  SramBanks sram = banks(4);
  CHECK(sram.access(0, 0, 4 * kWord, false) == kLatency); // four banks at once
  CHECK(sram.statistics().words == 4);
  CHECK(sram.access(100, 0, 5 * kWord, false) == 101 + kLatency); // the fifth word: bank 0 again
  CHECK(sram.statistics().conflicts == 1);
  CHECK(sram.access(200, kWord - 1, 2, false) == 200 + kLatency); // one byte of each of two words
  CHECK(sram.statistics().words == 4 + 5 + 2);
  CHECK(sram.access(300, ~0ULL, 1, true) == 300 + kLatency); // the last byte there is
  CHECK(sram.statistics().words == 4 + 5 + 2 + 1);
}

TEST_CASE("accesses of one bank are served in the order given, those of others are not held up") {
  SramBanks sram = banks(4);
  CHECK(sram.access(100, 0, kWord, false) == 100 + kLatency);
  CHECK(sram.access(50, 0, kWord, false) == 101 + kLatency); // given later: behind it
  CHECK(sram.access(50, kWord, kWord, false) == 50 + kLatency);
  CHECK(sram.statistics().waited == 51);
  CHECK(sram.statistics().first_start == 50);
  CHECK(sram.statistics().last_start == 101);
}

TEST_CASE("conflicts of accesses at random follow their closed form") {
  // N words fall into B banks. Those that are not the first in their bank conflict:
  // E = N − B (1 − (1 − 1/B)^N).
  const auto [count, at_once] = GENERATE(table<std::uint32_t, std::uint64_t>(
      {{1, 8}, {16, 1}, {16, 16}, {100, 64}, {100, 100}, {32, 256}}));
  constexpr int trials = 4000;
  std::mt19937_64 random(7);
  std::uint64_t conflicts = 0;
  for (int trial = 0; trial < trials; ++trial) {
    SramBanks sram = banks(count);
    std::map<std::uint64_t, Cycle> load; // words in each bank
    Cycle last = 0;
    for (std::uint64_t i = 0; i < at_once; ++i) {
      const std::uint64_t word = random() % (std::uint64_t{count} * 1024);
      ++load[word % count];
      last = std::max(last, sram.access(0, word * kWord, kWord, false));
    }
    conflicts += sram.statistics().conflicts;
    // Exactly: all but the first of each bank, and as long as the fullest bank holds words.
    Cycle waited = 0, fullest = 0;
    for (const auto& [bank, words] : load) {
      waited += words * (words - 1) / 2;
      fullest = std::max(fullest, words);
    }
    REQUIRE(sram.statistics().conflicts == at_once - load.size());
    REQUIRE(sram.statistics().waited == waited);
    REQUIRE(sram.busiest().words == fullest);
    REQUIRE(last == kLatency + fullest - 1);
  }
  const double b = count, n = static_cast<double>(at_once);
  const double expected = n - b * (1 - std::pow(1 - 1 / b, n));
  // The deviation of one trial is below sqrt(N)/2 here; six of them over sqrt(trials).
  CAPTURE(count, at_once);
  CHECK(std::abs(static_cast<double>(conflicts) / trials - expected) <=
        3 * std::sqrt(n) / std::sqrt(trials) + 1e-9);
}

TEST_CASE("banks that cannot be are refused") {
  CHECK_THROWS_AS(SramBanks({.banks = 0}), umf::InvariantError);
  CHECK_THROWS_AS(SramBanks({.word = 0}), umf::InvariantError);
  CHECK(banks(3).words_per_clock() == 0);
}
