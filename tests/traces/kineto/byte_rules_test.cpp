#include "tests/traces/kineto/program.h"

#include <catch2/catch.hpp>

using namespace umf;
using test::document;
using test::event;
using test::inputs;
using test::kernel;
using test::Program;
using test::read;

namespace {

constexpr const char* kTwoBf16 = R"(["c10::BFloat16","c10::BFloat16"])";
constexpr const char* kTwoFloat = R"(["float","float"])";

} // namespace

TEST_CASE("addmm reads its bias and factors, writes m×n and computes 2·m·n·k") {
  // Verbatim shapes of the H100 Qwen trace: bias 1024, 8944×1024 times 1024×1024, bf16.
  const auto records =
      Program()
          .launch("aten::addmm",
                  inputs("[[1024],[8944,1024],[1024,1024],[],[]]",
                         R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","Scalar","Scalar"])",
                         R"(,"Input Strides":[[1],[1024,1],[1,1024],[],[]])"
                         R"(,"Concrete Inputs":["","","","1","1"])"),
                  "sm90_xmma_gemm_bf16")
          .records();
  const auto& k = records.kernels.at(0);
  CHECK(k.rule == stream::Rule::gemm);
  CHECK(k.flops == 2.0 * 8944 * 1024 * 1024);
  CHECK(k.flops_dtype == stream::DType::bf16);
  REQUIRE(k.accesses.size() == 4);
  CHECK(k.accesses[0].length.count == 8944 * 1024 * 2); // activation
  CHECK(k.accesses[1].length.count == 1024 * 1024 * 2); // weight
  CHECK(k.accesses[2].length.count == 1024 * 2);        // bias
  CHECK(k.accesses[3].length.count == 8944 * 1024 * 2); // result
  CHECK(k.accesses[3].write);
  const auto& weight = records.tensors.at(k.accesses[1].tensor);
  CHECK(weight.role == stream::Role::weight);
  CHECK(weight.name == "aten::addmm#0.arg2");
  CHECK(records.tensors.at(k.accesses[2].tensor).name == "aten::addmm#0.arg0");
}

TEST_CASE("bmm counts its batch") {
  const auto records =
      Program().launch("aten::bmm", inputs("[[4,2,3],[4,3,5]]", kTwoFloat), "cutlass").records();
  const auto& k = records.kernels.at(0);
  CHECK(k.flops == 2.0 * 4 * 2 * 5 * 3);
  CHECK(k.accesses.at(2).length.count == 4 * 2 * 5 * 4); // b×m×n floats
}

TEST_CASE("shapes that do not agree give no bytes") {
  for (const char* dims : {"[[2,3],[4,5]]", "[[2,3]]", "[[],[]]", "[[0,3],[3,5]]", "[[-2,3],[3,5]]",
                           "[[9000000000000000000,3],[3,9000000000000000000]]", "[[2,3],"}) {
    INFO(dims);
    const auto args = R"("Input type":["float","float"],"Input Dims":)" + std::string(dims);
    const bool closed = args.back() != ',';
    const auto records =
        Program().launch("aten::mm", closed ? args : args + "[3,5]]", "gemm").records();
    CHECK((records.kernels.at(0).rule == stream::Rule::unknown) == closed);
  }
}

TEST_CASE("only the kernel that does the work is charged") {
  const auto args = inputs("[[64,64],[64,64]]", kTwoFloat);
  const auto one = event("cpu_op", "aten::mm", "0", "9", args);
  const auto call = [](const char* start, const char* id) {
    return event("cuda_runtime", "cudaLaunchKernel", start, "1",
                 std::string("\"correlation\":") + id);
  };
  const auto trace =
      read(document(one + "," + call("1", "1") + "," + call("3", "2") + "," +
                    kernel("ampere_sgemm_32x32", "20", "3", "\"correlation\":1") + "," +
                    kernel("cublasLt::splitKreduce_kernel", "30", "9", "\"correlation\":2")));
  CHECK(trace.records.kernels.at(0).rule == stream::Rule::gemm);
  CHECK(trace.records.kernels.at(1).rule == stream::Rule::unknown);
  CHECK(trace.records.kernels.at(1).op == "aten::mm");
}

TEST_CASE("expanded dimensions are not read") {
  // mul of a 16×8 float tensor with a row expanded to 16×8 by stride 0: 8 floats.
  const auto records =
      Program()
          .launch("aten::mul",
                  inputs("[[16,8],[16,8]]", kTwoFloat, R"(,"Input Strides":[[8,1],[0,1]])"),
                  "vectorized_elementwise_kernel")
          .records();
  const auto& k = records.kernels.at(0);
  CHECK(k.rule == stream::Rule::elementwise);
  CHECK(k.accesses.at(0).length.count == 16 * 8 * 4);
  CHECK(k.accesses.at(1).length.count == 8 * 4);
  CHECK(k.accesses.at(2).length.count == 16 * 8 * 4);
}

TEST_CASE("a strided view counts no more than its elements") {
  // 4×2 floats out of rows of 100: from first to last 3·100 + 1·1 + 1 = 302, but 8 touched.
  const auto records =
      Program()
          .launch("aten::neg", inputs("[[4,2]]", R"(["float"])", R"(,"Input Strides":[[100,1]])"),
                  "elementwise_kernel")
          .records();
  CHECK(records.kernels.at(0).accesses.at(0).length.count == 8 * 4);
}

TEST_CASE("a TensorList is read whole") {
  const auto records =
      Program()
          .launch("aten::cat", inputs("[[[1,559,32],[1,559,32]],[]]", R"(["TensorList","Scalar"])"),
                  "CatArrayBatchedCopy")
          .records();
  // TensorList does not name the element type: nothing is charged.
  CHECK(records.kernels.at(0).rule == stream::Rule::unknown);
}

TEST_CASE("the kernel of a concatenation names the type that its list does not") {
  const auto args = inputs("[[[1,559,32],[1,559,32]],[]]", R"(["TensorList","Scalar"])",
                           R"(,"Concrete Inputs":["","-1"])");
  const auto table = inputs("[[64,4],[],[2]]", R"(["c10::BFloat16","Scalar","long int"])");
  const auto records =
      Program()
          .launch("aten::index_select", table, "indexSelectLargeIndex")
          .launch("aten::cat", args,
                  "CatArrayBatchedCopy<at::native::(anonymous namespace)::OpaqueType<2u>, unsigned")
          .launch("aten::cat", args, "CatArrayBatchedCopy<float, unsigned int, 3, 64, 64>")
          .records();
  const auto& opaque = records.kernels.at(1);
  CHECK(opaque.rule == stream::Rule::elementwise);
  CHECK(opaque.accesses.at(0).length.count == 559 * 32 * 2);
  CHECK(opaque.accesses.at(2).length.count == 2 * 559 * 32 * 2);
  // Two bytes: the 16-bit type this trace was seen to use.
  CHECK(records.tensors.at(opaque.accesses.at(2).tensor).dtype == stream::DType::bf16);
  CHECK(records.kernels.at(2).accesses.at(0).length.count == 559 * 32 * 4);
}

TEST_CASE("a concatenation joins along the dimension recorded") {
  // Lists name no element type in public traces; a writer that does is believed.
  const auto records =
      Program()
          .launch("aten::cat",
                  inputs("[[[1,5,32],[1,5,16]],[]]", R"(["float","Scalar"])",
                         R"(,"Concrete Inputs":["","-1"])"),
                  "CatArrayBatchedCopy")
          .launch("aten::cat", inputs("[[8,4],[],[]]", R"(["float","TensorList","Scalar"])"),
                  "CatArrayBatchedCopy")
          .records();
  const auto& accesses = records.kernels.at(0).accesses;
  REQUIRE(accesses.size() == 3);
  CHECK(accesses[0].length.count == 5 * 32 * 4);
  CHECK(accesses[1].length.count == 5 * 16 * 4);
  CHECK(records.tensors.at(accesses[2].tensor).shape == std::vector<std::int64_t>{1, 5, 48});
  CHECK(records.kernels.at(1).rule == stream::Rule::unknown); // the out overload: inputs unknown
}

TEST_CASE("copy_ reads its second argument and writes its first") {
  const auto records =
      Program()
          .launch("aten::copy_",
                  inputs("[[8,4],[8,4],[]]", R"(["float","c10::BFloat16","Scalar"])"),
                  "elementwise_kernel")
          .records();
  const auto& accesses = records.kernels.at(0).accesses;
  REQUIRE(accesses.size() == 2);
  CHECK(accesses[0].length.count == 32 * 2); // bf16 source
  CHECK(accesses[1].length.count == 32 * 4); // f32 destination
  CHECK(accesses[1].write);
}

TEST_CASE("comparisons write one byte an element, and scalars are not read") {
  const auto records = Program()
                           .launch("aten::eq", inputs("[[8,4],[]]", R"(["long int","Scalar"])"),
                                   "elementwise_kernel")
                           .records();
  const auto& accesses = records.kernels.at(0).accesses;
  REQUIRE(accesses.size() == 2);
  CHECK(accesses[0].length.count == 32 * 8);
  CHECK(accesses[1].length.count == 32);
}

TEST_CASE(
    "an activation is the tensor last written in that shape and is freed after its last use") {
  const auto records =
      Program()
          .launch("aten::exp", inputs("[[8,4]]", R"(["float"])"), "elementwise_kernel")
          .launch("aten::neg", inputs("[[8,4]]", R"(["float"])"), "elementwise_kernel")
          .launch("aten::sin", inputs("[[4,8]]", R"(["float"])"), "elementwise_kernel")
          .records();
  const auto& k = records.kernels;
  CHECK(k.at(1).accesses.at(0).tensor == k.at(0).accesses.at(1).tensor);
  CHECK(k.at(2).accesses.at(0).tensor == k.at(1).accesses.at(1).tensor); // a view of 32 elements
  REQUIRE(records.tensors.size() == 4); // the input and three results
  // Kernel 0 is the last to read the input; kernel 1 the first result; kernel 2 the rest.
  std::vector<stream::TensorId> freed;
  for (const auto& one : records.frees)
    freed.push_back(one.tensor);
  CHECK(freed == std::vector<stream::TensorId>{0, 1, 2, 3});
}

TEST_CASE("an in-place operator writes the tensor it read") {
  const auto records =
      Program()
          .launch("aten::add_", inputs("[[8],[8]]", kTwoFloat), "elementwise_kernel")
          .records();
  const auto& accesses = records.kernels.at(0).accesses;
  CHECK(accesses.at(2).write);
  CHECK(accesses.at(2).tensor == accesses.at(0).tensor);
}

TEST_CASE("weights return with every step and activations do not") {
  const auto mm = inputs("[[8,16],[16,16]]", kTwoBf16, R"(,"Input Strides":[[16,1],[1,16]])");
  Program program;
  program.step().launch("aten::mm", mm, "gemm").launch("aten::mm", mm, "gemm");
  program.step().launch("aten::mm", mm, "gemm").launch("aten::mm", mm, "gemm");
  const auto records = program.records();
  const auto weight = [&](std::size_t i) { return records.kernels.at(i).accesses.at(1).tensor; };
  CHECK(weight(0) != weight(1)); // ordinals 0 and 1
  CHECK(weight(0) == weight(2));
  CHECK(weight(1) == weight(3));
}

TEST_CASE("a backward pass reads the weights of the forward pass in reverse order") {
  // Two layers y = x·Wᵀ with W 32×32; strides unrecorded. Autograd, on a thread of its own,
  // multiplies gradient and W: the second layer's comes first.
  const auto linear = inputs("[[32],[8,32],[32,32]]", R"(["float","float","float"])");
  const auto mm = inputs("[[8,32],[32,32]]", kTwoFloat);
  Program program;
  for (int step = 0; step < 2; ++step) {
    program.step().thread(2).launch("aten::addmm", linear, "gemm");
    program.launch("aten::addmm", linear, "gemm");
    program.thread(3).launch("aten::mm", mm, "gemm").launch("aten::mm", mm, "gemm");
  }
  const auto records = program.records();
  const auto weight = [&](std::size_t i) { return records.kernels.at(i).accesses.at(1).tensor; };
  CHECK(weight(0) != weight(1));
  CHECK(weight(2) == weight(1));
  CHECK(weight(3) == weight(0));
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(weight(i + 4) == weight(i));
}

TEST_CASE("mm's second factor is an activation when one of its shape is live") {
  const auto records =
      Program()
          .launch("aten::exp", inputs("[[16,32]]", R"(["float"])"), "elementwise_kernel")
          .launch("aten::mm", inputs("[[8,16],[16,32]]", kTwoFloat), "gemm")
          .launch("aten::mm", inputs("[[8,16],[16,64]]", kTwoFloat), "gemm")
          .records();
  CHECK(records.kernels.at(1).accesses.at(1).tensor == records.kernels.at(0).accesses.at(1).tensor);
  const auto other = records.kernels.at(2).accesses.at(1).tensor;
  CHECK(records.tensors.at(other).role == stream::Role::weight);
}

TEST_CASE("a kernel without an operator copies its match in name, grid and block") {
  const auto args = inputs("[[8,4]]", R"(["float"])");
  const auto records = Program()
                           .bare("vectorized_elementwise_kernel", 3)
                           .launch("aten::exp", args, "vectorized_elementwise_kernel", 3)
                           .bare("vectorized_elementwise_kernel", 3)
                           .bare("vectorized_elementwise_kernel", 4)
                           .bare("other", 3)
                           .records();
  const auto rule = [&](std::size_t i) { return records.kernels.at(i).rule; };
  CHECK(rule(0) == stream::Rule::matched); // the match may come later
  CHECK(rule(1) == stream::Rule::elementwise);
  CHECK(rule(2) == stream::Rule::matched);
  CHECK(rule(3) == stream::Rule::unknown);
  CHECK(rule(4) == stream::Rule::unknown);
  CHECK(records.kernels.at(2).accesses.at(0).length.count == 8 * 4 * 4);
  CHECK(records.kernels.at(2).accesses.at(0).rule == stream::Rule::matched);
}
