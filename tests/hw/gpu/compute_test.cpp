#include "hw/gpu/gpu_config.h"

#include <catch2/catch.hpp>

namespace umf::test {

using stream::DType;

TEST_CASE("the peak of an operation is that of its type's units") {
  hw::ComputeConfig config;
  config.f64 = {1};
  config.f32 = {2};
  config.tf32 = {3};
  config.f16 = {4};
  config.bf16 = {5};
  config.f8 = {6};
  config.i8 = {7};
  struct Row {
    DType type;
    double peak;
  };
  const Row row =
      GENERATE(Row{DType::f64, 1}, Row{DType::c128, 1}, Row{DType::f32, 2}, Row{DType::tf32, 3},
               Row{DType::f16, 4}, Row{DType::bf16, 5}, Row{DType::f8, 6}, Row{DType::i8, 7},
               Row{DType::u8, 7}, Row{DType::i4, 7}, Row{DType::unknown, 2}, Row{DType::i64, 2},
               Row{DType::c64, 2}, Row{DType::boolean, 2});
  CHECK(hw::peak_of(config, row.type).value == row.peak);
}

} // namespace umf::test
