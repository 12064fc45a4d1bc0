#include "model/base/quantity.h"
#include "model/base/random.h"
#include "tests/base/error_of.h"

#include <catch2/catch.hpp>

#include <bit>
#include <cmath>
#include <regex>
#include <vector>

using namespace umf;
using umf::test::error_of;

namespace {

template <class Q>
std::string fault(const std::string& text) {
  return error_of([&] { parse_quantity<Q>(text); });
}

/// Any finite non-negative double, all magnitudes alike.
double any_double(RandomStream& random) {
  while (true) {
    const double value = std::bit_cast<double>(random.next() >> 1);
    if (std::isfinite(value)) return value;
  }
}

template <class Q>
void check_round_trip(std::uint64_t seed, bool moderate) {
  RandomStream random(seed, "quantity");
  const std::regex pattern(quantity_pattern(quantity_form<Q>()));
  for (int i = 0; i < 2000; ++i) {
    double value = any_double(random);
    if (moderate) value = static_cast<double>(random.next_below(1'000'000)) * std::pow(10, i % 13);
    const Q quantity{value};
    const std::string text = print(quantity);
    INFO(text);
    CHECK(parse_quantity<Q>(text) == quantity);
    if (i < 100) CHECK(std::regex_match(text, pattern));
  }
}

} // namespace

TEST_CASE("sizes are exact, and GB is not GiB") {
  const std::vector<std::pair<std::string, std::uint64_t>> table = {
      {"0B", 0},
      {"512B", 512},
      {"64KiB", 65536},
      {"80GB", 80'000'000'000},
      {"96GiB", 103'079'215'104}, // 96 * 2^30
      {"1.5KiB", 1536},
      {"0.5kB", 500},
      {"1e3kB", 1'000'000},
      {"2.5E-1KiB", 256},
      {"0.0009765625KiB", 1}, // 2^-10 KiB
      {"18446744073709551615B", UINT64_MAX},
      {"16383.9999999999999991118215802998747676610946655273437500PiB", UINT64_MAX}}; // 2^64 - 1
  for (const auto& [text, count] : table) {
    INFO(text);
    CHECK(parse_quantity<Bytes>(text) == Bytes{count});
  }
}

TEST_CASE("times are exact to the femtosecond") {
  const std::vector<std::pair<std::string, std::int64_t>> table = {
      {"1fs", 1},
      {"312.5ps", 312'500},
      {"95ns", 95'000'000},
      {"1.2us", 1'200'000'000},
      {"3ms", 3'000'000'000'000},
      {"1s", 1'000'000'000'000'000},
      {"0.000001ns", 1},
      {"9223.372036854775807s", INT64_MAX}};
  for (const auto& [text, count] : table) {
    INFO(text);
    CHECK(parse_quantity<Femtoseconds>(text) == Femtoseconds{count});
  }
}

TEST_CASE("rates, clocks, energies and temperatures parse to the nearest double") {
  CHECK(parse_quantity<BytesPerSecond>("2.4TB/s") == BytesPerSecond{2.4e12});
  CHECK(parse_quantity<BytesPerSecond>("400GB/s") == BytesPerSecond{4e11});
  CHECK(parse_quantity<BytesPerSecond>("1.5GiB/s") == BytesPerSecond{1610612736.0});
  CHECK(parse_quantity<Hertz>("1.755GHz") == Hertz{1.755e9});
  CHECK(parse_quantity<BytesPerClock>("64B/clk") == BytesPerClock{64});
  CHECK(parse_quantity<FlopsPerSecond>("989TFLOP/s") == FlopsPerSecond{9.89e14});
  CHECK(parse_quantity<PicojoulesPerBit>("3.9pJ/bit") == PicojoulesPerBit{3.9});
  CHECK(parse_quantity<PicojoulesPerBit>("250fJ/bit") == PicojoulesPerBit{0.25});
  CHECK(parse_quantity<PicojoulesPerFlop>("780fJ/FLOP") == PicojoulesPerFlop{0.78});
  CHECK(parse_quantity<Watts>("0.7kW") == Watts{700});
  CHECK(parse_quantity<Celsius>("45C") == Celsius{45});
  CHECK(parse_quantity<Celsius>("-40.5C") == Celsius{-40.5});
}

TEST_CASE("what is no such quantity is refused with the expected form") {
  CHECK(fault<Bytes>("64") == "\"64\" has no unit, expected a size such as \"64GiB\"");
  CHECK(fault<Bytes>("64 GiB") ==
        "unknown unit \" GiB\" in \"64 GiB\", expected a size such as \"64GiB\" (units: B, kB, MB, "
        "GB, TB, PB, KiB, MiB, GiB, TiB, PiB)");
  CHECK(fault<Bytes>("64Gib") ==
        "unknown unit \"Gib\" in \"64Gib\", expected a size such as \"64GiB\" (units: B, kB, MB, "
        "GB, TB, PB, KiB, MiB, GiB, TiB, PiB)");
  CHECK(fault<Femtoseconds>("95GHz") ==
        "unknown unit \"GHz\" in \"95GHz\", expected a time such as \"95ns\" (units: fs, ps, ns, "
        "us, ms, s)");
  CHECK(fault<Bytes>("0.5B") ==
        "\"0.5B\" is no whole number of bytes, expected a size such as \"64GiB\"");
  CHECK(fault<Femtoseconds>("0.3fs") ==
        "\"0.3fs\" is no whole number of femtoseconds, expected a time such as \"95ns\"");
  CHECK(fault<Bytes>("16384PiB") ==
        "\"16384PiB\" is too large, expected at most 18446744073709551615B");
  CHECK(fault<Femtoseconds>("9224s") ==
        "\"9224s\" is too large, expected at most 9223372036854775807fs");
  CHECK(fault<BytesPerSecond>("1e300TB/s") ==
        "\"1e300TB/s\" is out of the range of double precision, expected a rate such as "
        "\"400GB/s\"");
  for (const std::string text : {"", "GiB", "-1GiB", "+1GiB", ".5GiB", "1.GiB", "01GiB", " 1GiB",
                                 "1e999GiB", "1e99999999999GiB"}) {
    CHECK(fault<Bytes>(text) ==
          "found the text \"" + text + "\", expected a size such as \"64GiB\"");
  }
  CHECK_FALSE(fault<Bytes>("0x1GiB").empty());
  CHECK_FALSE(fault<Bytes>("1GiB ").empty());
  CHECK_FALSE(fault<Bytes>("1,5GiB").empty());
}

TEST_CASE("printing picks the shortest text") {
  CHECK(print(Bytes{0}) == "0B");
  CHECK(print(96_GiB) == "96GiB");
  CHECK(print(Bytes{80'000'000'000}) == "80GB");
  CHECK(print(Bytes{1536}) == "1536B");
  CHECK(print(Bytes{1610612736}) == "1.5GiB");
  CHECK(print(Bytes{UINT64_MAX}) == "18446744073709551615B");
  CHECK(print(Femtoseconds{312'500}) == "312.5ps");
  CHECK(print(Femtoseconds{500'000}) == "500ps");
  CHECK(print(Femtoseconds{-95'000'000}) == "-95ns");
  CHECK(print(BytesPerSecond{2.4e12}) == "2.4TB/s");
  CHECK(print(BytesPerSecond{1610612736.0}) == "1.5GiB/s");
  CHECK(print(Celsius{-40.5}) == "-40.5C");
  CHECK(print(PicojoulesPerBit{3.9}) == "3.9pJ/bit");
  CHECK(print(PicojoulesPerFlop{0.78}) == "780fJ/FLOP");
  CHECK(print(Watts{80}) == "80W");
  CHECK(print(BytesPerSecond{1e300}) == "1e300B/s");
}

TEST_CASE("every printed quantity parses back to itself") {
  RandomStream random(1, "whole quantities");
  for (int i = 0; i < 5000; ++i) {
    const std::uint64_t count = random.next() >> (i % 64);
    const Bytes size{count};
    CHECK(parse_quantity<Bytes>(print(size)) == size);
    const Femtoseconds time{static_cast<std::int64_t>(count >> 1)};
    CHECK(parse_quantity<Femtoseconds>(print(time)) == time);
  }
  for (const bool moderate : {false, true}) {
    check_round_trip<BytesPerSecond>(2, moderate);
    check_round_trip<Hertz>(3, moderate);
    check_round_trip<BytesPerClock>(4, moderate);
    check_round_trip<FlopsPerSecond>(5, moderate);
    check_round_trip<PicojoulesPerBit>(6, moderate);
    check_round_trip<Celsius>(7, moderate);
    check_round_trip<PicojoulesPerFlop>(8, moderate);
    check_round_trip<Watts>(9, moderate);
  }
}
