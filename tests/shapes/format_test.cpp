#include "model/shapes/format.h"

#include "model/base/error.h"

#include <catch2/catch.hpp>

using namespace umf;
using namespace umf::shapes;

TEST_CASE("bits of a number with its share of scales") {
  const auto millibits = [](const char* text) { return parse_format(text, "format").millibits(); };
  CHECK(millibits("bf16") == 16'000);
  CHECK(millibits("fp8") == 8'000);
  CHECK(millibits("int2-g128") == 2'125);
  CHECK(millibits("i2-g64") == 2'250);
  CHECK(millibits("i2-g32") == 2'500);
  CHECK(millibits("i2-g32-z") == 3'000); // 2 + (16 + 16) / 32
  CHECK(millibits("i4") == 4'125);       // groups of 128 unless told
  CHECK(millibits("f4") == 4'250);       // 8-bit scales of 32
  CHECK(millibits("f8-g128") == 8'125);
}

TEST_CASE("groups end with their vector and the whole with a byte") {
  const Format format = parse_format("i3-g32", "format");
  // 80 numbers: 240 bits and three scales of 16.
  CHECK(format.bytes(1, 80).count == 36);
  CHECK(format.bytes(10, 80).count == 360);
  CHECK(parse_format("i3-g0", "format").bytes(1, 3).count == 2);  // 9 bits
  CHECK(parse_format("i3-g0", "format").bytes(9, 3).count == 11); // 81 bits
  // Beyond 2^64 bits.
  CHECK(parse_format("bf16", "format").bytes(1ULL << 40, 1 << 22).count == 1ULL << 63);
}

TEST_CASE("a format that is none says what there is") {
  using Catch::Contains;
  CHECK_THROWS_WITH(parse_format("int5", "KV number format"),
                    Contains("unknown KV number format \"int5\"") && Contains("i4"));
  CHECK_THROWS_WITH(parse_format("i4-q7", "format"), Contains("\"q7\""));
  CHECK_THROWS_WITH(parse_format("i4-g", "format"), Contains("\"i4-g64\""));
  CHECK_THROWS_WITH(parse_format("bf16-z", "format"), Contains("\"z\""));
  CHECK_THROWS_AS(parse_format("", "format"), UserError);
}
