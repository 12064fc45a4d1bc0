#include "tests/traces/kineto/program.h"

#include <catch2/catch.hpp>

using namespace umf;
using test::inputs;
using test::Program;

namespace {

constexpr const char* kFloats =
    R"(["float","float","GenericList","GenericList","GenericList","Int","Bool","Bool","Bool"])";
constexpr const char* kBackward =
    R"(["GenericList","float","float","GenericList","GenericList","GenericList","Int"])";

const std::string& forward_of(const std::string& input, const std::string& weight) {
  static std::string args;
  args = inputs("[" + input + "," + weight + ",[],[],[],[],[],[],[]]", kFloats);
  return args;
}

std::string backward_of(const std::string& gradient, const std::string& other) {
  return inputs("[[]," + gradient + "," + other + ",[],[],[],[]]", kBackward);
}

} // namespace

TEST_CASE("a convolution reads input and filters and writes what its windows leave") {
  // ResNet-50's first layer: 7×7, stride 2, padding 3: (224 + 6 − 7) / 2 + 1 = 112.
  const auto records =
      Program()
          .launch("aten::cudnn_convolution",
                  inputs("[[32,3,224,224],[64,3,7,7],[],[],[],[]]", kFloats,
                         R"(,"Concrete Inputs":["","","[3, 3]","[2, 2]","[1, 1]","1"])"),
                  "implicit_convolve_sgemm")
          .records();
  const auto& kernel = records.kernels.at(0);
  CHECK(kernel.rule == stream::Rule::convolution);
  REQUIRE(kernel.accesses.size() == 3);
  CHECK(kernel.accesses[0].length.count == 32 * 3 * 224 * 224 * 4);
  CHECK(kernel.accesses[1].length.count == 64 * 3 * 7 * 7 * 4);
  CHECK(kernel.accesses[2].length.count == 32 * 64 * 112 * 112 * 4);
  CHECK(kernel.flops == 2.0 * 32 * 64 * 112 * 112 * 3 * 7 * 7);
  CHECK(records.tensors.at(kernel.accesses[1].tensor).role == stream::Role::weight);
}

TEST_CASE("a depthwise convolution takes one channel a filter") {
  const auto kernel =
      Program()
          .launch(
              "aten::convolution",
              inputs(
                  "[[1,8,10,10],[8,1,3,3],[8],[],[],[],[],[],[]]", R"(["float","float","float"])",
                  R"(,"Concrete Inputs":["","","","[1, 1]","[0, 0]","[1, 1]","False","[0, 0]","8"])"),
              "conv_depthwise")
          .records()
          .kernels.at(0);
  CHECK(kernel.flops == 2.0 * 8 * 8 * 8 * 9); // an 8×8 result of 8 channels, 9 products each
  CHECK(kernel.accesses.at(2).length.count == 8 * 4);
}

TEST_CASE("a convolution without its stride learns its result from what reads it") {
  // 56×56 to 28×28: the batch norm that follows says so.
  const auto norm = inputs("[[2,128,28,28],[128],[128],[128],[128],[],[],[]]",
                           R"(["float","float","float","float","float","Bool","Double","Double"])");
  const auto records =
      Program()
          .launch("aten::cudnn_convolution", forward_of("[2,64,56,56]", "[128,64,3,3]"), "conv")
          .launch("aten::add", inputs("[[],[],[]]", R"(["long int","long int","Int"])"),
                  "elementwise_kernel")
          .launch("aten::cudnn_batch_norm", norm, "bn_fw_tr")
          .records();
  const auto& kernel = records.kernels.at(0);
  CHECK(kernel.accesses.at(2).length.count == 2 * 128 * 28 * 28 * 4);
  CHECK(kernel.flops == 2.0 * 2 * 128 * 28 * 28 * 64 * 9);
  CHECK(records.kernels.at(2).accesses.at(0).tensor == kernel.accesses.at(2).tensor);
}

TEST_CASE("the two gradients of a convolution name what the other leaves out") {
  // Two layers with the same gradient 2×8×4×4: filters 3×3 on 4×4, and stride 2 on 8×8.
  const auto gradient = std::string("[2,8,4,4]");
  const auto records = Program()
                           .launch("aten::cudnn_convolution_backward_input",
                                   backward_of(gradient, "[8,8,3,3]"), "dgrad_engine")
                           .launch("aten::cudnn_convolution_backward_weight",
                                   backward_of(gradient, "[2,8,4,4]"), "wgrad_alg0_engine")
                           .launch("aten::cudnn_convolution_backward_input",
                                   backward_of(gradient, "[8,8,1,1]"), "dgrad_engine")
                           .launch("aten::cudnn_convolution_backward_weight",
                                   backward_of(gradient, "[2,8,8,8]"), "wgrad_alg0_engine")
                           .records();
  const auto written = [&](std::size_t i) {
    return records.kernels.at(i).accesses.at(2).length.count;
  };
  CHECK(written(0) == 2 * 8 * 4 * 4 * 4);
  CHECK(written(1) == 8 * 8 * 3 * 3 * 4);
  CHECK(written(2) == 2 * 8 * 8 * 8 * 4);
  CHECK(written(3) == 8 * 8 * 4);
  CHECK(records.kernels.at(1).flops == 2.0 * 2 * 8 * 4 * 4 * 8 * 9);
  CHECK(records.kernels.at(3).flops == 2.0 * 2 * 8 * 4 * 4 * 8);
}

TEST_CASE("a convolution's filters are the same tensor backward") {
  const auto norm = inputs("[[2,8,4,4],[8],[8],[8],[8],[],[],[]]",
                           R"(["float","float","float","float","float","Bool","Double","Double"])");
  const auto records =
      Program()
          .launch("aten::cudnn_convolution", forward_of("[2,8,4,4]", "[8,8,3,3]"), "conv")
          .launch("aten::cudnn_batch_norm", norm, "bn_fw")
          .launch("aten::cudnn_convolution_backward_input", backward_of("[2,8,4,4]", "[8,8,3,3]"),
                  "dgrad")
          .launch("aten::cudnn_convolution_backward_weight", backward_of("[2,8,4,4]", "[2,8,4,4]"),
                  "wgrad")
          .records();
  CHECK(records.kernels.at(2).accesses.at(1).tensor == records.kernels.at(0).accesses.at(1).tensor);
}

TEST_CASE("one operator that computes both gradients is charged both") {
  const auto kernel =
      Program()
          .launch("aten::convolution_backward",
                  inputs("[[2,8,4,4],[2,8,4,4],[8,8,3,3],[],[],[],[],[],[],[],[]]",
                         R"(["float","float","float"])",
                         R"(,"Concrete Inputs":["","","","[0]","[1, 1]","[1, 1]","[1, 1]","False",)"
                         R"("[0, 0]","1","[True, True, False]"])"),
                  "dgrad")
          .records()
          .kernels.at(0);
  CHECK(kernel.accesses.size() == 5);
  CHECK(kernel.flops == 2 * 2.0 * 2 * 8 * 4 * 4 * 8 * 9);
}

TEST_CASE("a convolution with nothing to learn from stays unknown") {
  const auto records =
      Program()
          .launch("aten::cudnn_convolution", forward_of("[2,64,56,56]", "[128,64,3,3]"), "conv")
          .records();
  CHECK(records.kernels.at(0).rule == stream::Rule::unknown);
}

TEST_CASE("pooling writes a value and a place for each window") {
  // 3×3, stride 2, padding 1 on 112×112: (112 + 2 − 3) / 2 + 1 = 56.
  const auto kernel =
      Program()
          .launch("aten::max_pool2d_with_indices",
                  inputs("[[2,64,112,112],[],[],[],[],[]]", R"(["float"])",
                         R"(,"Concrete Inputs":["","[3, 3]","[2, 2]","[1, 1]","[1, 1]","False"])"),
                  "max_pool_forward_nchw")
          .records()
          .kernels.at(0);
  CHECK(kernel.rule == stream::Rule::pooling);
  CHECK(kernel.accesses.at(1).length.count == 2 * 64 * 56 * 56 * 4);
  CHECK(kernel.accesses.at(2).length.count == 2 * 64 * 56 * 56 * 8);
}
