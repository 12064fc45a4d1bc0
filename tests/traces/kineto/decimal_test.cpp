#include "traces/kineto/decimal.h"

#include <catch2/catch.hpp>

using namespace umf::traces::kineto;

TEST_CASE("decimal microseconds become nanoseconds exactly") {
  struct {
    const char* text;
    std::int64_t ns;
  } const rows[] = {
      {"1623143093553095", 1623143093553095000}, // integer µs of 2021: × 1000
      {"1428625756944.792", 1428625756944792},   // three digits: as written
      {"4203669603187.4394", 4203669603187439},  // fourth digit 4: down
      {"4203669603187.4395", 4203669603187440},  // 5: away from zero
      {"1.888", 1888},
      {"0.02", 20},
      {"0", 0},
      {"0.0004", 0},
      {"0.0005", 1},
      {"-3", -3000},
      {"-0.0005", -1},
      {"1e3", 1000000},
      {"1.5E-3", 2},                             // 1.5 ns
      {"25e-5", 0},                              // 0.25 ns
      {"9007199254740993", 9007199254740993000}, // 2^53 + 1: a double would lose the 1
  };
  for (const auto& row : rows) {
    INFO(row.text);
    CHECK(nanoseconds_from_microseconds(row.text) == row.ns);
  }
}

TEST_CASE("text that is no decimal number or does not fit has no time") {
  for (const char* text : {"", "-", "NaN", "Infinity", "-Infinity", "1.", ".5", "1e", "0x10", "1 ",
                           "9223372036854776", "1e1000", "99999999999999999999", "null"}) {
    INFO(text);
    CHECK_FALSE(nanoseconds_from_microseconds(text).has_value());
  }
}

TEST_CASE("whole numbers past 64 bits are refused, not wrapped") {
  CHECK(whole_number("9223372036854775807") == 9223372036854775807);
  CHECK(whole_number("-1") == -1);
  CHECK_FALSE(whole_number("9223372036854775808").has_value());
  CHECK_FALSE(whole_number("1.0").has_value());
  CHECK_FALSE(whole_number("").has_value());
}
