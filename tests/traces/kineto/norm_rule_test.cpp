#include "tests/traces/kineto/program.h"

#include <catch2/catch.hpp>

using namespace umf;
using test::inputs;
using test::Program;

namespace {

std::uint64_t moved(const stream::Kernel& kernel, bool write) {
  std::uint64_t bytes = 0;
  for (const auto& access : kernel.accesses)
    if (access.write == write) bytes += access.length.count;
  return bytes;
}

stream::Kernel only(const std::string& op, const std::string& args) {
  return Program().launch(op, args, "norm_kernel").records().kernels.at(0);
}

} // namespace

TEST_CASE("a layer norm reads its input and parameters and writes its result and statistics") {
  // Verbatim shapes of the H100 BERT trace: 141 rows of 512 in bf16; mean and rstd are f32.
  const auto kernel =
      only("aten::native_layer_norm",
           inputs("[[1,141,512],[],[512],[512],[]]",
                  R"(["c10::BFloat16","ScalarList","c10::BFloat16","c10::BFloat16"])",
                  R"(,"Concrete Inputs":["","[512]","","","1e-12"])"));
  CHECK(kernel.rule == stream::Rule::norm);
  CHECK(moved(kernel, false) == (141 * 512 + 512 + 512) * 2);
  CHECK(moved(kernel, true) == 141 * 512 * 2 + 2 * 141 * 4);
}

TEST_CASE("a batch norm in training updates its running statistics") {
  // 32×64×7×7 floats; weight, bias, mean and variance of 64 read; the running ones and those
  // of the batch written.
  const auto dims = "[[32,64,7,7],[64],[64],[64],[64],[],[],[]]";
  const auto types = R"(["float","float","float","float","float","Bool","Double","Double"])";
  const auto training = only("aten::cudnn_batch_norm", inputs(dims, types));
  constexpr std::uint64_t input = 32 * 64 * 7 * 7 * 4;
  CHECK(moved(training, false) == input + 4 * 64 * 4);
  CHECK(moved(training, true) == input + 4 * 64 * 4);
  const auto inference =
      only("aten::native_batch_norm",
           inputs(dims, types, R"(,"Concrete Inputs":["","","","","","False","0.1","1e-5"])"));
  CHECK(moved(inference, true) == input);
}

TEST_CASE("a batch norm's backward pass writes gradients of input weight and bias") {
  // Verbatim shapes of the ResNet-50 trace.
  const auto kernel = only(
      "aten::cudnn_batch_norm_backward",
      inputs(
          "[[32,2048,7,7],[32,2048,7,7],[2048],[2048],[2048],[2048],[2048],[],[0]]",
          R"(["float","float","float","float","float","float","float","Double","unsigned char"])"));
  constexpr std::uint64_t input = 32 * 2048 * 7 * 7 * 4;
  // Read: input, gradient, weight and the two saved statistics; not the running ones.
  CHECK(moved(kernel, false) == 2 * input + 3 * 2048 * 4);
  CHECK(moved(kernel, true) == input + 2 * 2048 * 4);
}

TEST_CASE("a fused add and RMS norm rewrites both its inputs") {
  // Verbatim shapes of the B200 vllm trace: 888×2880 in bf16.
  const auto records =
      Program()
          .launch("_C::fused_add_rms_norm",
                  inputs("[[888,2880],[888,2880],[2880],[]]",
                         R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","Scalar"])"),
                  "rms_norm_kernel")
          .records();
  const auto& kernel = records.kernels.at(0);
  CHECK(moved(kernel, false) == (2 * 888 * 2880 + 2880) * 2);
  CHECK(moved(kernel, true) == 2 * 888 * 2880 * 2);
  CHECK(records.tensors.at(kernel.accesses.at(2).tensor).role == stream::Role::weight);
}

TEST_CASE("a norm's parameters are the same tensors backward and in the next step") {
  const auto forward = inputs("[[4,8],[],[8],[8],[]]", R"(["float","","float","float","Scalar"])");
  const auto backward = inputs("[[4,8],[4,8],[],[4,1],[4,1],[8],[8],[]]",
                               R"(["float","float","","float","float","float","float",""])");
  Program program;
  for (int step = 0; step < 2; ++step)
    program.step()
        .launch("aten::native_layer_norm", forward, "layer_norm")
        .launch("aten::native_layer_norm", forward, "layer_norm")
        .launch("aten::native_layer_norm_backward", backward, "layer_norm_grad")
        .launch("aten::native_layer_norm_backward", backward, "layer_norm_grad");
  const auto records = program.records();
  const auto weight = [&](std::size_t kernel, std::size_t access) {
    return records.kernels.at(kernel).accesses.at(access).tensor;
  };
  CHECK(weight(2, 4) == weight(1, 1)); // backward: gradient, input, mean, rstd, weight
  CHECK(weight(3, 4) == weight(0, 1));
  CHECK(weight(4, 1) == weight(0, 1));
  CHECK(weight(6, 4) == weight(1, 1));
}

TEST_CASE("a softmax in half precision may give floats") {
  const auto kernel = Program()
                          .launch("aten::_softmax",
                                  inputs("[[8,16],[],[]]", R"(["c10::Half","Scalar","Scalar"])",
                                         R"(,"Concrete Inputs":["","-1","True"])"),
                                  "softmax_warp_forward")
                          .records()
                          .kernels.at(0);
  CHECK(kernel.rule == stream::Rule::softmax);
  CHECK(moved(kernel, false) == 8 * 16 * 2);
  CHECK(moved(kernel, true) == 8 * 16 * 4);
}

TEST_CASE("a softmax's backward pass reads gradient and result") {
  const auto kernel = Program()
                          .launch("aten::_log_softmax_backward_data",
                                  inputs("[[32,1000],[32,1000],[],[32,1000]]",
                                         R"(["float","float","Int","float"])"),
                                  "softmax_warp_backward")
                          .records()
                          .kernels.at(0);
  CHECK(moved(kernel, false) == 2 * 32 * 1000 * 4);
  CHECK(moved(kernel, true) == 32 * 1000 * 4);
}
