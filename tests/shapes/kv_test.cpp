#include "model/shapes/kv.h"

#include <catch2/catch.hpp>

#include <string_view>

using namespace umf;
using namespace umf::shapes;

namespace {

std::uint64_t per_token(const char* model, const char* format = "bf16") {
  return kv_bytes_per_token(find_model(model), parse_format(format, "format")).count;
}

double gigabytes(const char* model, std::uint64_t tokens) {
  return static_cast<double>(kv_bytes(find_model(model), tokens, Format{}).count) / 1e9;
}

/// A part of a layer by its name.
KvPart part(const Model& model, std::uint32_t layer, std::string_view name) {
  for (const KvPart& one : kv_parts(model, layer))
    if (one.name == name) return one;
  return {};
}

Model windowed() {
  Model model = find_model("llama-3-8b");
  SlidingAttention attention;
  attention.heads = std::get<FullAttention>(model.attention);
  attention.window = 1024;
  attention.full_every = 4;
  model.attention = attention;
  return model;
}

} // namespace

TEST_CASE("a token of KV cache in BF16, all layers") {
  // 2 × layers × KV heads × head × 2 bytes; latent attention: layers × (512 + 64) × 2.
  CHECK(per_token("llama-3-8b") == 131'072);
  CHECK(per_token("llama-3-70b") == 327'680);
  CHECK(per_token("llama-3-405b") == 516'096);
  CHECK(per_token("mixtral-8x7b") == 131'072);
  CHECK(per_token("mixtral-8x22b") == 229'376);
  CHECK(per_token("deepseek-v2") == 69'120);
  CHECK(per_token("deepseek-v3") == 70'272);
  CHECK(per_token("kimi-k2") == 70'272);
  CHECK(per_token("qwen2.5-7b") == 57'344);
  CHECK(per_token("qwen2.5-14b") == 196'608);
  CHECK(per_token("qwen2.5-32b") == 262'144);
  CHECK(per_token("qwen2.5-72b") == 327'680);
  CHECK(per_token("qwen3-8b") == 147'456);
  CHECK(per_token("qwen3-32b") == 262'144);
  CHECK(per_token("qwen3-30b-a3b") == 98'304);
  CHECK(per_token("qwen3-235b-a22b") == 192'512);
}

TEST_CASE("long contexts: 128K is 131072 tokens, 1M is 2^20") {
  CHECK(gigabytes("llama-3-8b", 131'072) == Approx(17.2).margin(0.05));
  CHECK(gigabytes("llama-3-70b", 131'072) == Approx(42.9).margin(0.05));
  CHECK(gigabytes("llama-3-70b", 1 << 20) == Approx(344).margin(0.5));
  CHECK(gigabytes("deepseek-v3", 1 << 20) == Approx(73.7).margin(0.05));
}

TEST_CASE("compressed attention keeps windows, entries, the indexer's and unfinished ones") {
  // DeepSeek-V4-Pro at 2^20: 30 layers × 2^18 × (1024 + 132) + 31 × 2^13 × 1024 entries, 61 windows
  // of 128 × 1024, unfinished entries of 8 × (1024 + 256) × 2 × 4 and of 128 × 512 × 2 × 4 bytes.
  const Model pro = find_model("deepseek-v4-pro");
  const std::uint64_t expected = 30ULL * (1 << 18) * 1156 + 31ULL * (1 << 13) * 1024 +
                                 61ULL * 128 * 1024 + 30ULL * 81'920 + 31ULL * 524'288;
  CHECK(kv_bytes(pro, 1 << 20, Format{}).count == expected);
  CHECK(static_cast<double>(expected) / (1ULL << 30) == Approx(8.73).margin(0.005));
  CHECK(static_cast<double>(expected) / 1e9 == Approx(9.38).margin(0.005));
  // Of 10^6 tokens it would be 8.33 GiB: the published figure is of 2^20.
  CHECK(static_cast<double>(kv_bytes(pro, 1'000'000, Format{}).count) / (1ULL << 30) ==
        Approx(8.33).margin(0.005));
  CHECK(gigabytes("deepseek-v4-flash", 1 << 20) == Approx(6.55).margin(0.005));
  CHECK(gigabytes("deepseek-v4-pro", 131'072) == Approx(1.2).margin(0.05));
  CHECK(gigabytes("deepseek-v4-flash", 131'072) == Approx(0.83).margin(0.005));
}

TEST_CASE("windows saturate and entries appear only when they are whole") {
  const Model pro = find_model("deepseek-v4-pro");
  const KvPart window = part(pro, 0, "window"), heavy = part(pro, 0, "compressed"),
               sparse = part(pro, 2, "compressed");
  CHECK(entries_of(window, 127) == 127);
  CHECK(entries_of(window, 1000) == 128);
  CHECK(entries_of(heavy, 127) == 0);
  CHECK(entries_of(heavy, 128) == 1);
  CHECK(entries_of(sparse, 4099) == 1024);
  CHECK(sparse.top_k == 1024);
  CHECK(heavy.top_k == 0);
  CHECK(part(find_model("deepseek-v4-flash"), 0, "compressed").numbers == 0); // the window alone
}

TEST_CASE("of sliding-window layers the fourth sees all") {
  const Model model = windowed();
  const std::uint64_t token = 2 * 8 * 128 * 2;
  CHECK(kv_bytes_of_layer(model, 0, 5000, Format{}).count == 1024 * token);
  CHECK(kv_bytes_of_layer(model, 3, 5000, Format{}).count == 5000 * token);
  CHECK(kv_bytes(model, 5000, Format{}).count == (24 * 1024 + 8 * 5000) * token);
}

TEST_CASE("narrow KV caches keep the scales of their groups") {
  // 131072 B at 16 bits, so 8192 B a bit: of 4.125, 3.125, 2.125, 2.25, 2.5, 3 bits.
  CHECK(per_token("llama-3-8b", "f8") == 8 * 8192);
  CHECK(per_token("llama-3-8b", "i8-g0") == 8 * 8192);
  CHECK(per_token("llama-3-8b", "i4-g128") == 33792);
  CHECK(per_token("llama-3-8b", "i3-g128") == 25600);
  CHECK(per_token("llama-3-8b", "i2-g128") == 17408);
  CHECK(per_token("llama-3-8b", "i2-g64") == 18432);
  CHECK(per_token("llama-3-8b", "i2-g32") == 20480);
  CHECK(per_token("llama-3-8b", "i2-g32-z") == 3 * 8192);
}

TEST_CASE("KV heads are split between GPUs, latents are on each") {
  CHECK(kv_bytes_per_token(find_model("llama-3-70b"), Format{}, 8).count == 327'680 / 8);
  CHECK(kv_bytes_per_token(find_model("llama-3-70b"), Format{}, 16).count == 327'680 / 8);
  CHECK(kv_bytes_per_token(find_model("deepseek-v3"), Format{}, 8).count == 70'272);
}
