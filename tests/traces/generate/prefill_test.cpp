#include "tests/traces/generate/stream_check.h"

#include "model/shapes/totals.h"
#include "traces/generate/routers.h"
#include "traces/generate/run_kv.h"

#include <catch2/catch.hpp>

using namespace umf;
using namespace umf::test;
using namespace umf::traces::generate;
using stream::Role;

TEST_CASE("a prompt writes its keys and values once and computes the lower triangle") {
  const auto options = options_of("llama-3-8b", "prefill", 1000, 2, 0);
  const Stream stream(options);
  CHECK(stream.bytes(Role::kv_key, true) == 2000ULL * 131'072 / 2);
  // 4 × heads × head × pairs, 1000 × 1001 / 2 of them a sequence and layer.
  const double attention = 4.0 * 4096 * 500'500 * 32;
  CHECK(stream.flops("attn_prefill") == Approx(2 * attention).epsilon(1e-12));
  const shapes::Model& model = options.step.model;
  // The output is computed for the last token of each prompt alone.
  CHECK(stream.flops() == Approx(2000 * product_flops(model) + 2 * attention +
                                 2 * 2.0 * model.vocabulary * model.hidden)
                              .epsilon(1e-12));
}

TEST_CASE("chunks of a prompt add up to the whole") {
  for (const char* name : {"llama-3-8b", "deepseek-v4-flash"}) {
    auto options = options_of(name, "prefill", 1000, 1, 0);
    const Stream whole(options);
    options.chunk = 300; // 300, 300, 300, 100
    const Stream chunks(options);
    CHECK(chunks.flops() == Approx(whole.flops()).epsilon(1e-12));
    CHECK(chunks.count("lm_head") == 1);
    CHECK(chunks.count("qkv_proj") == 4 * whole.count("qkv_proj"));
  }
  auto options = options_of("llama-3-8b", "prefill", 1000, 1, 0);
  const std::uint64_t written = Stream(options).bytes(Role::kv_value, true);
  options.chunk = 300;
  const Stream chunks(options);
  CHECK(chunks.bytes(Role::kv_value, true) == written);
  // Each chunk reads what is there: 300 + 600 + 900 + 1000 tokens.
  CHECK(chunks.bytes(Role::kv_value, false) == 2800ULL * 131'072 / 2);
}

TEST_CASE("latent attention makes keys and values of a prompt anew, in each chunk") {
  auto options = options_of("deepseek-v2", "prefill", 400, 1, 0);
  options.chunk = 200;
  const Stream stream(options);
  // 60 layers × (200 + 400) tokens × 2 × 512 × 128 × (128 + 128).
  CHECK(stream.flops("kv_b_proj") == Approx(60.0 * 600 * 2 * 512 * 128 * 256).epsilon(1e-12));
  // 2 × 128 heads × (192 + 128) × 400 × 401 / 2 pairs.
  CHECK(stream.flops("attn_prefill") == Approx(60.0 * 2 * 128 * 320 * 80'200).epsilon(1e-12));
  CHECK(stream.count("q_absorb") == 0);
}

TEST_CASE("one step mixes prompts' chunks and single tokens") {
  Numbers numbers;
  StepOptions options;
  options.model = shapes::find_model("llama-3-8b");
  options.weights = shapes::published_formats(options.model);
  options.max_tokens = 600;
  options.max_sequences = 3;
  options.max_context = 2000;
  StepBuilder builder(options, numbers);
  RunKv kv(options, 3, 2000, numbers);
  UniformRouter router(options.model, 1);
  const std::vector<Sequence> batch = {{800, 1, true}, {1000, 500, false}, {1200, 1, true}};
  std::vector<stream::Record> records;
  builder.step(batch, kv, router, records);
  std::uint64_t keys = 0;
  double decode = 0, prefill = 0;
  for (const stream::Record& record : records) {
    const auto& kernel = std::get<stream::Kernel>(record);
    if (kernel.name == "attn_decode") decode += kernel.flops;
    if (kernel.name == "attn_prefill") prefill += kernel.flops;
    if (kernel.name == "attn_decode" || kernel.name == "attn_prefill")
      for (const stream::Access& access : kernel.accesses)
        if (access.tensor >= numbers.tensor - 32 * 6) keys += access.length.count;
    if (kernel.name == "lm_head") CHECK(kernel.flops == 2.0 * 2 * 128'256 * 4096); // two outputs
  }
  CHECK(decode == Approx(4.0 * 4096 * 32 * (801 + 1201)).epsilon(1e-12));
  // 500 tokens after 1000: 500 × 1000 + 500 × 501 / 2 pairs.
  CHECK(prefill == Approx(4.0 * 4096 * 32 * 625'250).epsilon(1e-12));
  CHECK(keys == (801ULL + 1500 + 1201) * 131'072);
}
