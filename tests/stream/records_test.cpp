#include "model/stream/records.h"

#include <catch2/catch.hpp>

#include <set>
#include <string>
#include <tuple>

using namespace umf;
using namespace umf::stream;

namespace {

/// One past the last value, from which the number of values follows.
template <class Enum>
constexpr std::size_t count_of(Enum last) {
  return static_cast<std::size_t>(last) + 1;
}

} // namespace

TEMPLATE_TEST_CASE("every name leads back to its value, and no name is used twice", "", Role, DType,
                   Phase, Launch, Pattern, CopyKind, Rule) {
  constexpr auto counts = std::tuple(
      std::pair(Role{}, count_of(Role::workspace)), std::pair(DType{}, count_of(DType::c128)),
      std::pair(Phase{}, count_of(Phase::training)),
      std::pair(Launch{}, count_of(Launch::programmatic)),
      std::pair(Pattern{}, count_of(Pattern::gather)),
      std::pair(CopyKind{}, count_of(CopyKind::memset)), std::pair(Rule{}, count_of(kLastRule)));
  const std::size_t count = std::get<std::pair<TestType, std::size_t>>(counts).second;
  std::set<std::string> names;
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = static_cast<TestType>(i);
    const std::string name(name_of(value));
    CAPTURE(i, name);
    CHECK_FALSE(name.empty());
    CHECK(names.insert(name).second);
    CHECK(value_of<TestType>(name) == value);
  }
  CHECK(value_of<TestType>("no such name") == std::nullopt);
  CHECK(value_of<TestType>("") == std::nullopt);
}

TEST_CASE("storage is rounded up to whole bytes") {
  const auto [dtype, elements, bytes] = GENERATE(table<DType, std::uint64_t, std::uint64_t>({
      {DType::f32, 3, 12},
      {DType::bf16, 5, 10},
      {DType::tf32, 2, 8}, // held as f32
      {DType::boolean, 7, 7},
      {DType::c128, 2, 32},
      {DType::i4, 2, 1},
      {DType::i4, 3, 2}, // 12 bits
      {DType::i3, 8, 3}, // 24 bits
      {DType::i3, 9, 4}, // 27 bits
      {DType::i2, 5, 2}, // 10 bits
      {DType::f64, 0, 0},
      {DType::unknown, 100, 0},
      {DType::f64, std::uint64_t{1} << 60, std::uint64_t{1} << 63}, // 2^66 bits
  }));
  CAPTURE(name_of(dtype), elements);
  CHECK(storage_of(dtype, elements).count == bytes);
}

TEST_CASE("every type but the unknown has a size") {
  for (std::size_t i = 1; i < count_of(DType::c128); ++i) {
    CAPTURE(name_of(static_cast<DType>(i)));
    CHECK(bits_of(static_cast<DType>(i)) > 0);
  }
  CHECK(bits_of(DType::unknown) == 0);
}

TEST_CASE("an access moves its range, or its blocks, times the fraction") {
  Access access;
  access.length = {1000};
  CHECK(moved_bytes(access).count == 1000);
  access.fraction = 0.5;
  CHECK(moved_bytes(access).count == 500);
  access.fraction = 0.3335; // 333.5 B: rounded up
  CHECK(moved_bytes(access).count == 334);

  access.indices = {3, 1, 3}; // a block read twice moves twice
  access.block_bytes = {64};
  access.fraction = 1.0;
  CHECK(moved_bytes(access).count == 192);
  access.fraction = 0.25;
  CHECK(moved_bytes(access).count == 48);
}

TEST_CASE("bytes of a whole range are exact beyond the precision of doubles") {
  Access access;
  access.length = {(std::uint64_t{1} << 60) + 1};
  CHECK(moved_bytes(access).count == (std::uint64_t{1} << 60) + 1);
}
