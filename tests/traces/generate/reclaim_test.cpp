#include "tests/support/shared_data.h"
#include "tests/traces/generate/stream_check.h"

#include <catch2/catch.hpp>

using namespace umf;
using namespace umf::test;
using namespace umf::traces::generate;
using stream::Role;

namespace {

constexpr std::uint64_t kWindow = 256, kRow = 2 * 64 * 2; // of tiny.json: heads × dim × BF16

/// Every second of its four layers sees all tokens.
GenerateOptions tiny(const std::string& phase, std::uint64_t context, std::uint64_t batch,
                     std::uint64_t steps, bool reclaim) {
  auto options =
      options_of(source_file("tests/shapes/tiny.json").string(), phase, context, batch, steps);
  options.step.reclaim = reclaim;
  return options;
}

std::vector<stream::Free> frees(const Stream& stream) {
  std::vector<stream::Free> found;
  for (const stream::Record& record : stream.records)
    if (const auto* free = std::get_if<stream::Free>(&record)) found.push_back(*free);
  return found;
}

} // namespace

TEST_CASE("each step frees the key and the value that leave the window, layer by layer") {
  const Stream stream(tiny("decode", 300, 2, 3, true));
  const auto all = frees(stream);
  REQUIRE(all.size() == 3 * 2 * 2 * 2); // steps, windowed layers, keys and values, sequences
  for (std::size_t i = 0; i < all.size(); ++i) {
    const stream::Tensor& tensor = stream.tensors.at(all[i].tensor);
    CAPTURE(i, tensor.name);
    CHECK(tensor.layer == (i % 8 < 4 ? 0 : 2));
    CHECK(tensor.role == (i % 4 < 2 ? Role::kv_key : Role::kv_value));
    CHECK(tensor.bytes.count == 303 * kRow);
    // Token 301 is the first one made here; the window of token 302 begins behind token 46. The
    // first free is of all before that.
    const std::uint64_t behind = 300 + i / 8 + 2 - kWindow;
    CHECK(all[i].offset == (i < 8 ? 0 : behind - 1) * kRow);
    CHECK(all[i].offset + all[i].length->count == behind * kRow);
  }
}

TEST_CASE("nothing leaves a window that is not full") {
  // 257 tokens see 256: with the 256th the first one's time is over.
  CHECK(frees(Stream(tiny("decode", 254, 1, 1, true))).empty());
  CHECK(frees(Stream(tiny("decode", 255, 1, 1, true))).size() == 4);
}

TEST_CASE("prompts free what their chunks push out") {
  const Stream stream(tiny("prefill", 600, 1, 0, true));
  const auto all = frees(stream);
  REQUIRE(all.size() == 4);
  CHECK(all[0].offset == 0);
  CHECK(all[0].length == Bytes{(601 - kWindow) * kRow});
}

TEST_CASE("kernels touch the same bytes with frees as without") {
  const Stream with(tiny("decode", 300, 2, 3, true)), without(tiny("decode", 300, 2, 3, false));
  CHECK(frees(without).empty());
  REQUIRE(with.kernels.size() == without.kernels.size());
  for (const Role role : {Role::kv_key, Role::kv_value})
    for (const bool write : {false, true})
      CHECK(with.bytes(role, write) == without.bytes(role, write));
  // Without, a window is a ring.
  CHECK(without.tensors.at(frees(with).front().tensor).bytes.count == kWindow * kRow);
}
