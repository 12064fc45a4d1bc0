#include "tests/traces/generate/stream_check.h"

#include "model/shapes/totals.h"

#include <catch2/catch.hpp>

using namespace umf;
using namespace umf::test;
using stream::Role;

namespace {

/// Weights read by a step of `tokens` single tokens in a dense model: all but the embedding, whose
/// rows are looked up.
std::uint64_t weights_read(const shapes::Model& model, const shapes::WeightFormats& formats,
                           std::uint64_t tokens) {
  const auto bytes = shapes::weight_bytes(model, formats);
  return shapes::sum_of(bytes) - std::uint64_t{model.vocabulary} * model.hidden * 2 +
         tokens * model.hidden * 2;
}

} // namespace

TEST_CASE("a decode step reads the weights once and each sequence's keys and values, to the byte") {
  const char* name = GENERATE("llama-3-8b", "qwen2.5-7b", "qwen3-8b");
  const char* weights = GENERATE("bf16", "i4");
  const auto options = options_of(name, "decode", 1000, 3, 1, weights);
  const Stream stream(options);
  const shapes::Model& model = options.step.model;
  CHECK(stream.bytes(Role::weight, false) == weights_read(model, options.step.weights, 3));
  const std::uint64_t token = shapes::kv_bytes_per_token(model, {}).count;
  // 1001 tokens: the fresh one is appended before attention reads.
  CHECK(stream.bytes(Role::kv_key, false) + stream.bytes(Role::kv_value, false) ==
        3 * 1001 * token);
  CHECK(stream.bytes(Role::kv_key, true) == 3 * token / 2);
  CHECK(stream.bytes(Role::kv_value, true) == 3 * token / 2);
  CHECK(stream.bytes(Role::weight, true) == 0);
}

TEST_CASE("the context grows by one each step") {
  const Stream stream(options_of("llama-3-8b", "decode", 100, 1, 3));
  // 101 + 102 + 103 tokens.
  CHECK(stream.bytes(Role::kv_key, false) == 306 * 131'072 / 2);
  CHECK(std::count_if(stream.records.begin(), stream.records.end(), [](const auto& record) {
          const auto* mark = std::get_if<stream::Mark>(&record);
          return mark != nullptr && mark->name.starts_with("step ");
        }) == 3);
}

TEST_CASE("a narrow cache is read as stored, scales included") {
  auto options = options_of("llama-3-8b", "decode", 999, 1, 1);
  options.step.kv = shapes::parse_format("i4-g32-z", "format");
  const Stream stream(options);
  CHECK(stream.bytes(Role::kv_key, false) == 1000 * 131'072 / 2 * 5 / 16); // 4 + 32/32 bits
}

TEST_CASE("arithmetic of a decode step is twice its matrices, and attention's") {
  const char* name = GENERATE("llama-3-8b", "mixtral-8x7b", "deepseek-v3", "qwen3-30b-a3b");
  const auto options = options_of(name, "decode", 2000, 2, 1);
  const Stream stream(options);
  const shapes::Model& model = options.step.model;
  const double output = 2.0 * model.vocabulary * model.hidden;
  double attention = 0;
  if (const auto* full = std::get_if<shapes::FullAttention>(&model.attention))
    attention = 4.0 * full->heads * full->head_dim * 2001 * model.layers;
  else // latents: queries on 512 + 64 numbers, values on 512
    attention = 2.0 * 128 * (2 * 512 + 64) * 2001 * model.layers;
  CHECK(stream.flops("attn_decode") == Approx(2 * attention).epsilon(1e-12));
  // Norms, rotations and activations are not counted.
  CHECK(stream.flops() == Approx(2 * (product_flops(model) + output + attention)).epsilon(1e-12));
}

TEST_CASE("experts are read that tokens are sent to, each once a matrix") {
  const auto options = options_of("mixtral-8x7b", "decode", 10, 1, 4);
  const Stream stream(options);
  // One token: 2 of 8 experts of each of 32 layers, in each of 4 steps.
  CHECK(stream.bytes(Role::expert, false) ==
        4ULL * 32 * 2 * shapes::expert_bytes(options.step.model, {}).count);
  const Stream wide(options_of("mixtral-8x7b", "decode", 10, 256, 1));
  CHECK(wide.bytes(Role::expert, false) ==
        32ULL * 8 * shapes::expert_bytes(options.step.model, {}).count);
}

TEST_CASE("compressed attention reads windows, chosen entries and the whole index") {
  const auto options = options_of("deepseek-v4-pro", "decode", 99'999, 1, 1, "f8");
  const Stream stream(options);
  // 100,000 tokens: 61 windows of 128; 31 layers of 781 entries; 30 layers that choose 1024 of
  // 25,000 and score all 25,000.
  CHECK(stream.bytes(Role::kv_key, false) ==
        61ULL * 128 * 1024 + 31ULL * 781 * 1024 + 30ULL * (1024 * 1024 + 25'000 * 132));
  // Token 100,000 makes an entry of 4 whole (its window, entry and index), none of 128.
  CHECK(stream.bytes(Role::kv_key, true) == 61ULL * 1024 + 30ULL * (1024 + 132));
  CHECK(stream.count("index_top_k") == 30);
}

TEST_CASE("eight GPUs: heads and widths are shared, messages are named") {
  auto options = options_of("llama-3-70b", "decode", 1000, 4, 1);
  options.step.tp = 8;
  const Stream stream(options);
  CHECK(stream.bytes(Role::kv_key, false) == 4ULL * 1001 * 327'680 / 2 / 8);
  CHECK(stream.count("all_reduce") == 2 * 80 + 1);
  CHECK(stream.count("all_gather") == 1);
  const auto bytes = shapes::weight_bytes(options.step.model, options.step.weights, 8);
  // The embedding's share but for the rows found here, which are one in 8 of 4 tokens, at least 1.
  CHECK(stream.bytes(Role::weight, false) ==
        shapes::sum_of(bytes) - 128'256ULL / 8 * 8192 * 2 + 8192 * 2);
}

TEST_CASE("sequences read the LoRA adapters they use, and each product is corrected") {
  auto options = options_of("llama-3-8b", "decode", 100, 3, 1);
  const Stream plain(options);
  options.step.lora_rank = 16;
  options.step.lora_adapters = 2; // of sequences 0 and 2, and of 1
  const Stream stream(options);
  // A layer's qkv, output, gate and up, down: (in + out) × 16 numbers of each adapter.
  const std::uint64_t numbers =
      16ULL * ((4096 + 6144) + (4096 + 4096) + (4096 + 28'672) + (14'336 + 4096));
  CHECK(stream.bytes(Role::lora, false) == 2 * 32 * numbers * 2);
  CHECK(stream.flops() - plain.flops() == Approx(2.0 * 3 * 32 * numbers).epsilon(1e-9));
  CHECK(stream.bytes(Role::weight, false) == plain.bytes(Role::weight, false));
}

TEST_CASE("graph launches are those of decode steps") {
  auto options = options_of("llama-3-8b", "decode", 100, 1, 1);
  options.step.launch = stream::Launch::graph;
  const Stream decode(options);
  for (const stream::Kernel* kernel : decode.kernels)
    CHECK(kernel->launch == stream::Launch::graph);
  options.phase = stream::Phase::prefill;
  const Stream prefill(options);
  for (const stream::Kernel* kernel : prefill.kernels)
    CHECK(kernel->launch == stream::Launch::eager);
}
