#include "tests/traces/generate/stream_check.h"

#include <catch2/catch.hpp>

using namespace umf;
using namespace umf::test;
using stream::Role;

namespace {

constexpr std::uint64_t kToken = 8 * 128 * 2; ///< a token's keys in one layer of Llama-3-8B
constexpr std::uint64_t kBounds = 2 * kToken; ///< minima and maxima of a page's keys

traces::generate::GenerateOptions quest(std::uint64_t context) {
  auto options = options_of("llama-3-8b", "decode", context, 1, 1);
  options.access = "top-k";
  options.sets = {"access.budget=512"};
  return options;
}

} // namespace

TEST_CASE("top-k reads its budget and every page's bounds, all but the first layers") {
  const Stream stream(quest(8191)); // 8192 tokens are 512 whole pages
  const std::uint64_t all = 2 * 8192 * kToken;
  CHECK(stream.bytes(Role::kv_value, false) == all + 30 * 512 * kToken);
  CHECK(stream.bytes(Role::kv_key, false) == all + 30 * (512 * kToken + 512 * kBounds));
  CHECK(stream.flops("attn_decode") == Approx(4.0 * 4096 * (2 * 8192 + 30 * 512)).epsilon(1e-12));
  // The token is the last of a page, whose bounds are then known, in each of 32 layers.
  CHECK(stream.bytes(Role::kv_key, true) == 32 * (kToken + kBounds));
}

TEST_CASE("the page that is not whole is always read, and has no bounds") {
  const Stream stream(quest(8194)); // 8195 tokens: 512 pages and 3 tokens
  CHECK(stream.bytes(Role::kv_value, false) == 2 * 8195 * kToken + 30 * (512 + 3) * kToken);
  CHECK(stream.bytes(Role::kv_key, true) == 32 * kToken);
}

TEST_CASE("a cache within the budget is read whole, without bounds") {
  const Stream stream(quest(400));
  CHECK(stream.bytes(Role::kv_key, false) == 32 * 401 * kToken);
}

TEST_CASE("heads that choose for themselves gather their own part of a page") {
  auto options = quest(8191);
  options.sets.push_back("access.by_head=true");
  const Stream stream(options);
  // As many bytes: 8 heads × 32 pages × an eighth of a page.
  CHECK(stream.bytes(Role::kv_value, false) == 2 * 8192 * kToken + 30 * 512 * kToken);
  std::uint64_t blocks = 0;
  for (const stream::Kernel* kernel : stream.kernels)
    for (const stream::Access& access : kernel->accesses)
      if (stream.tensors.at(access.tensor).role == Role::kv_value && !access.indices.empty())
        blocks += access.indices.size();
  CHECK(blocks == 30 * 8 * 32);
}

TEST_CASE("windows and compressed entries are read as they are whatever the access") {
  auto options = options_of("deepseek-v4-flash", "decode", 50'000, 1, 1, "f8");
  const Stream dense(options);
  options.access = "sinks";
  CHECK(Stream(options).bytes(Role::kv_key, false) == dense.bytes(Role::kv_key, false));
}

TEST_CASE("latents are read by pages too") {
  auto options = options_of("deepseek-v3", "decode", 65'535, 1, 1, "f8");
  options.access = "top-k";
  options.sets = {"access.budget=1024", "access.dense_layers=0"};
  // 61 layers × (1024 tokens of 1152 B + 4096 pages' bounds of 2 × 1152 B).
  CHECK(Stream(options).bytes(Role::kv_key, false) == 61ULL * (1024 * 1152 + 4096 * 2 * 1152));
}
