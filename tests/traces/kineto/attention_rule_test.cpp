#include "tests/traces/kineto/program.h"

#include <catch2/catch.hpp>

using namespace umf;
using test::inputs;
using test::Program;

namespace {

constexpr const char* kThreeBf16 = R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16"])";

stream::Kernel only(const std::string& op, const std::string& args) {
  return Program().launch(op, args, "flash_fwd_kernel").records().kernels.at(0);
}

std::vector<std::uint64_t> lengths(const stream::Kernel& kernel) {
  std::vector<std::uint64_t> lengths;
  for (const auto& access : kernel.accesses)
    lengths.push_back(access.length.count);
  return lengths;
}

} // namespace

TEST_CASE("attention reads queries keys and values and writes its result and log-sum-exp") {
  // Verbatim shapes of the H100 BERT trace: batch 1, 141 tokens, 8 heads of 64, not causal.
  const auto kernel =
      only("aten::_flash_attention_forward",
           inputs("[[1,141,8,64],[1,141,8,64],[1,141,8,64],[],[],[],[],[],[]]", kThreeBf16,
                  R"(,"Concrete Inputs":["","","","","","141","141","0.","False"])"));
  CHECK(kernel.rule == stream::Rule::attention);
  constexpr std::uint64_t tensor = 141 * 8 * 64 * 2;
  CHECK(lengths(kernel) == std::vector<std::uint64_t>{tensor, tensor, tensor, tensor, 141 * 8 * 4});
  CHECK(kernel.flops == 4.0 * 8 * 141 * 141 * 64);
  CHECK(kernel.flops_dtype == stream::DType::bf16);
}

TEST_CASE("a causal mask leaves the pairs on and below the diagonal") {
  const auto flops = [](const std::string& dims) {
    return only("aten::_scaled_dot_product_flash_attention",
                inputs(dims, kThreeBf16, R"(,"Concrete Inputs":["","","","0.","True","False"])"))
        .flops;
  };
  // 2 sequences of 4 heads: 5 queries see 1 + 2 + 3 + 4 + 5 = 15 keys in all; 4 FLOPs for each
  // of 16 dimensions.
  CHECK(flops("[[2,4,5,16],[2,4,5,16],[2,4,5,16],[],[],[]]") == 4.0 * 2 * 4 * 15 * 16);
  // 2 queries at the end of 5 keys see 4 + 5.
  CHECK(flops("[[2,4,2,16],[2,4,5,16],[2,4,5,16],[],[],[]]") == 4.0 * 2 * 4 * 9 * 16);
}

TEST_CASE("heads that share keys and values read them once") {
  // 8 query heads on 2 key heads; 3 queries, 7 keys, depth 16: as the 2 are stored.
  const auto kernel = only("aten::_scaled_dot_product_cudnn_attention",
                           inputs("[[1,8,3,16],[1,2,7,16],[1,2,7,16],[],[],[],[]]", kThreeBf16));
  const auto bytes = lengths(kernel);
  REQUIRE(bytes.size() == 5);
  CHECK(bytes[0] == 8 * 3 * 16 * 2);
  CHECK(bytes[1] == 2 * 7 * 16 * 2);
  CHECK(bytes[4] == 8 * 3 * 4); // log-sum-exp of 8 heads and 3 queries, f32
  CHECK(kernel.flops == 4.0 * 8 * 3 * 7 * 16);
}

TEST_CASE("a log-sum-exp that was not asked for is not written") {
  const auto kernel = only("aten::_scaled_dot_product_efficient_attention",
                           inputs("[[1,8,3,16],[1,8,7,16],[1,8,7,16],[],[],[],[]]", kThreeBf16,
                                  R"(,"Concrete Inputs":["","","","","False","0.","False"])"));
  CHECK(kernel.accesses.size() == 4);
}

TEST_CASE("packed sequences are taken to be of equal length") {
  // 3 boundaries make 2 sequences of 10 / 2 tokens: 2 heads, 2 sequences, 5·5 pairs, depth 4.
  const auto kernel =
      only("flash_attn::_flash_attn_varlen_forward",
           inputs("[[10,2,4],[10,2,4],[10,2,4],[3],[3],[],[],[],[],[]]",
                  R"(["c10::Half","c10::Half","c10::Half","int","int"])",
                  R"(,"Concrete Inputs":["","","","","","5","5","0.","1.","False"])"));
  CHECK(kernel.flops == 4.0 * 2 * 2 * 5 * 5 * 4);
}

TEST_CASE("attention's backward pass has five products in place of two") {
  // Gradient, Q, K, V, result 1×2×3×4 and log-sum-exp 1×2×3; three gradients written.
  const auto kernel =
      only("aten::_scaled_dot_product_flash_attention_backward",
           inputs("[[1,2,3,4],[1,2,3,4],[1,2,3,4],[1,2,3,4],[1,2,3,4],[1,2,3],[],[],[],[],[],[]]",
                  R"(["float","float","float","float","float","float"])"));
  CHECK(kernel.flops == 10.0 * 2 * 3 * 3 * 4);
  REQUIRE(kernel.accesses.size() == 9);
  CHECK(lengths(kernel)[5] == 2 * 3 * 4);
  for (const std::size_t result : {6, 7, 8}) {
    CHECK(kernel.accesses[result].write);
    CHECK(kernel.accesses[result].length.count == 2 * 3 * 4 * 4);
  }
}

TEST_CASE("attention whose keys lie in a paged cache stays unknown") {
  // vllm records the new tokens and not how much of the cache they look at.
  const auto kernel = only("vllm::unified_attention_with_output",
                           inputs("[[888,8,64],[888,1,64],[888,1,64],[888,8,64],[],[],[]]",
                                  R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16"])"));
  CHECK(kernel.rule == stream::Rule::unknown);
}
