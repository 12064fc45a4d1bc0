#include "model/shapes/totals.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace umf;
using namespace umf::shapes;

namespace {

struct Published {
  const char* name;
  double total;  ///< parameters
  double within; ///< relative
};

double share(const Model& model) {
  return static_cast<double>(active_parameters(model)) /
         static_cast<double>(sum_of(parameters(model)));
}

} // namespace

TEST_CASE("parameters are those that publishers count") {
  // Exact ones: `safetensors.total` of the model's repository, or a count of its checkpoint.
  // 0.001: facts that are published to four digits at most. DeepSeek-V4 is published as 1.6T, 284B.
  const Published row = GENERATE(
      Published{"llama-3-8b", 8'030'261'248, 0}, Published{"llama-3-70b", 70'553'706'496, 0},
      Published{"llama-3-405b", 405'853'388'800, 0}, Published{"mixtral-8x7b", 46'702'792'704, 0},
      Published{"mistral-7b", 7'241'732'096, 0}, Published{"mixtral-8x22b", 140.6e9, 0.001},
      Published{"deepseek-v2", 235.7e9, 0.001}, Published{"deepseek-v3", 671.0e9, 0.001},
      Published{"kimi-k2", 1026e9, 0.001}, Published{"qwen2.5-7b", 7'615'616'512, 0},
      Published{"qwen2.5-14b", 14'770'033'664, 0}, Published{"qwen2.5-32b", 32'763'876'352, 0},
      Published{"qwen2.5-72b", 72'706'203'648, 0}, Published{"qwen3-8b", 8'190'735'360, 0},
      Published{"qwen3-32b", 32'762'123'264, 0}, Published{"qwen3-30b-a3b", 30'532'122'624, 0},
      Published{"qwen3-235b-a22b", 235'093'634'560, 0}, Published{"deepseek-v4-pro", 1.6e12, 0.02},
      Published{"deepseek-v4-flash", 284e9, 0.005});
  const auto total = static_cast<double>(sum_of(parameters(find_model(row.name))));
  CAPTURE(row.name, total, row.total);
  CHECK(std::abs(total - row.total) <= row.within * row.total);
}

TEST_CASE("active parameters leave out the experts a token is not sent to") {
  // Published: 39B of 141B; 22B of 235B; 3.3B of 30.5B; 37B of 671B (5.5 %); 32B; 49B; 13B.
  CHECK(share(find_model("mixtral-8x22b")) == Approx(0.278).margin(0.0005));
  CHECK(share(find_model("deepseek-v3")) == Approx(37.0 / 671.0).margin(0.001));
  const auto billions = [](const char* name) {
    return static_cast<double>(active_parameters(find_model(name))) / 1e9;
  };
  CHECK(billions("qwen3-235b-a22b") == Approx(22).margin(0.5));
  CHECK(billions("qwen3-30b-a3b") == Approx(3.3).margin(0.1));
  CHECK(billions("kimi-k2") == Approx(32).margin(1));
  CHECK(billions("deepseek-v4-pro") == Approx(49).margin(1));
  CHECK(billions("deepseek-v4-flash") == Approx(13).margin(1));
  const Model dense = find_model("llama-3-8b");
  CHECK(active_parameters(dense) == sum_of(parameters(dense)));
}

TEST_CASE("an expert takes three matrices in its number format") {
  const auto bytes = [](const char* model, const char* format) {
    return expert_bytes(find_model(model), parse_format(format, "format")).count;
  };
  CHECK(bytes("mixtral-8x7b", "bf16") == 352'321'536); // 3 × 4096 × 14336 × 2
  CHECK(bytes("mixtral-8x22b", "bf16") == 603'979'776);
  CHECK(bytes("deepseek-v2", "bf16") == 47'185'920);
  CHECK(bytes("deepseek-v3", "bf16") == 88'080'384);
  CHECK(bytes("deepseek-v3", "f8") == 44'040'192);
  CHECK(bytes("qwen3-30b-a3b", "bf16") == 9'437'184);
  CHECK(bytes("qwen3-235b-a22b", "bf16") == 37'748'736);
  CHECK(bytes("deepseek-v4-pro", "f4-g0") == 33'030'144); // 3 × 7168 × 3072 / 2
  CHECK(bytes("deepseek-v4-pro", "f4") == 35'094'528);    // and an eighth of a bit... 17 / 16
  CHECK(bytes("deepseek-v4-flash", "f4-g0") == 12'582'912);
}

TEST_CASE("weight bytes count scales and zero points, and leave norms and embeddings as they are") {
  const Model model = find_model("llama-3-8b");
  const ByPart numbers = parameters(model);
  const auto bytes = [&](const char* format) {
    const Format f = parse_format(format, "format");
    return weight_bytes(model, {f, f, {}});
  };
  CHECK(sum_of(bytes("bf16")) == 2 * 8'030'261'248);
  const auto ffn = static_cast<std::size_t>(Part::ffn),
             embedding = static_cast<std::size_t>(Part::embedding),
             norm = static_cast<std::size_t>(Part::norm);
  CHECK(bytes("i4")[ffn] == numbers[ffn] * 33 / 64);        // 4 + 16/128 = 4.125 bits
  CHECK(bytes("i4-g128-z")[ffn] == numbers[ffn] * 34 / 64); // 4.25
  CHECK(bytes("i4-g32-z")[ffn] == numbers[ffn] * 5 / 8);    // 5
  CHECK(bytes("i4")[embedding] == 2 * numbers[embedding]);
  CHECK(bytes("i4")[norm] == 2 * numbers[norm]);
}

TEST_CASE("tensor parallel shares add up, but for what is on every GPU") {
  const Model model = find_model("llama-3-70b");
  const ByPart whole = weight_bytes(model, published_formats(model));
  const ByPart shard = weight_bytes(model, published_formats(model), 8);
  for (const Part part : {Part::attention, Part::ffn, Part::embedding})
    CHECK(8 * shard[static_cast<std::size_t>(part)] == whole[static_cast<std::size_t>(part)]);
  CHECK(shard[static_cast<std::size_t>(Part::norm)] == whole[static_cast<std::size_t>(Part::norm)]);
  // 16 GPUs and 8 KV heads: each head is on two.
  const ByPart wide = weight_bytes(model, published_formats(model), 16);
  CHECK(16 * wide[static_cast<std::size_t>(Part::attention)] ==
        whole[static_cast<std::size_t>(Part::attention)] + 80ULL * 8192 * 8 * 2 * 128 * 2);
}

TEST_CASE("a degree that divides no heads or widths is refused") {
  CHECK_NOTHROW(check_parallel(find_model("llama-3-70b"), 8));
  CHECK_THROWS_WITH(check_parallel(find_model("llama-3-70b"), 3),
                    Catch::Contains("does not divide its 64 heads"));
  CHECK_THROWS_WITH(check_parallel(find_model("qwen2.5-14b"), 20), // 40 heads, 8 KV heads
                    Catch::Contains("does not divide its 8 KV heads"));
  CHECK_THROWS_WITH(check_parallel(find_model("deepseek-v4-pro"), 32),
                    Catch::Contains("does not divide its 16 groups"));
}
