#include "model/base/nearest.h"

#include <catch2/catch.hpp>

#include <vector>

using namespace umf;

TEST_CASE("the nearest name is the one the user most likely meant") {
  const std::vector<std::string> names = {"capacity",     "channels", "bandwidth",
                                          "bank_latency", "to",       "clock"};
  const std::vector<std::pair<std::string, std::string>> table = {
      {"capcity", "capacity"},    // one dropped
      {"capactiy", "capacity"},   // transposed: one edit
      {"bandwith", "bandwidth"},  // one dropped
      {"bnadwitdh", "bandwidth"}, // two transpositions
      {"band", "bandwidth"},      // prefix of a name
      {"clock_mhz", "clock"},     // a name is its prefix
      {"clk", "clock"},           // two dropped
      {"ba", ""},                 // too short for a prefix
      {"kv", ""},                 // two edits replace all of "to"
      {"latency", ""},            // five edits from everything
  };
  for (const auto& [typed, meant] : table)
    CHECK(nearest(typed, names) == meant);
  CHECK(nearest("x", {}).empty());
  CHECK(nearest(std::string(100'000, 'x'), names).empty());
}

TEST_CASE("without a near name all accepted ones are listed") {
  const std::vector<std::string> names = {"lru", "belady"};
  CHECK(suggestion("beladi", names) == "did you mean \"belady\"?");
  CHECK(suggestion("something", names) == "expected one of lru, belady");
  CHECK(suggestion("something", {}) == "expected none here");
  CHECK(near_hint("beladi", names) == " (did you mean \"belady\"?)");
  CHECK(near_hint("something", names).empty());
}
