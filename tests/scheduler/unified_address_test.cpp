#include "model/scheduler/brain.h"

#include <catch2/catch.hpp>

#include <memory>
#include <vector>

/// S2: the example of the umf-three-tier document as states of pages: a KV cache of 128,000 tokens
/// × 5120 in BF16, of which 1,024 tokens lie in HBM, K of the next 80,000 in the pool and V of them
/// compressed in SRAM, and the last 36,736 are deferred.
using namespace umf;
using memory::PageState;

namespace {

constexpr Bytes kPage = 64_KiB;
/// K and V have half of the 5120 values each: 5 KiB a token, 64 tokens on five pages.
constexpr std::uint64_t kTokenBytes = 2560 * 2;
constexpr std::uint64_t pages_of(std::uint64_t tokens) {
  return tokens * kTokenBytes / kPage.count;
}
static_assert(pages_of(1'024) == 80 && pages_of(80'000) == 6'250 && pages_of(128'000) == 10'000);

enum Tiers : policy::TierIndex { kHbm, kSram, kPool };

/// What SRAM holds of packed pages of 20 KiB: 32 in each ten frames, and what is left over.
std::uint64_t sram_holds(std::uint64_t frames) {
  return frames / 10 * 32 + frames % 10 * kPage.count / 20480;
}

struct Example : policy::Policy {
  void place(const policy::Need& need, const policy::Ground& ground,
             std::vector<policy::Grant>& grants) override {
    if (need.first_page < pages_of(1'024)) return grants.push_back({kHbm, need.pages});
    if (need.tensor->tensor.role == stream::Role::kv_key)
      return grants.push_back({kPool, need.pages});
    const std::uint64_t fast = std::min(need.pages, sram_holds(ground.free_pages(kSram)));
    grants.push_back({kSram, fast, false, true});
    grants.push_back({kPool, need.pages - fast, false, true});
  }
};

std::uint64_t count(const std::vector<memory::PageRun>& runs, PageState state,
                    policy::TierIndex tier, bool packed) {
  std::uint64_t pages = 0;
  for (const memory::PageRun& run : runs)
    if (run.state == state && (state == PageState::deferred || run.tier == tier) &&
        (run.packed > 0) == packed)
      pages += run.count;
  return pages;
}

} // namespace

TEST_CASE("S2: the document's tensor of 128,000 tokens, page by page") {
  memory::FrameAllocator hbm((1_GiB).count / kPage.count), sram((48_MiB).count / kPage.count),
      pool((8_GiB).count / kPage.count);
  scheduler::Brain brain({kPage,
                          {{"hbm", policy::TierClass::hbm, &hbm},
                           {"sram", policy::TierClass::sram, &sram},
                           {"pool", policy::TierClass::pool, &pool}}},
                         std::make_unique<Example>());
  const auto declare = [&](stream::TensorId id, stream::Role role) {
    stream::Tensor tensor;
    tensor.id = id;
    tensor.role = role;
    tensor.dtype = stream::DType::bf16;
    tensor.shape = {128'000, 2560};
    tensor.bytes = {128'000 * kTokenBytes};
    brain.declare(tensor);
    return brain.space().at(id).base;
  };
  const std::uint64_t k = declare(1, stream::Role::kv_key), v = declare(2, stream::Role::kv_value);
  CHECK(hbm.used() + sram.used() + pool.used() == 0); // nothing is touched yet
  CHECK(brain.table().runs() == 0);
  for (const std::uint64_t base : {k, v}) {
    brain.reserve(base, {1'024 * kTokenBytes});
    brain.reserve(base + 1'024 * kTokenBytes, {80'000 * kTokenBytes});
  }

  std::vector<memory::PageRun> keys, values;
  brain.look(k, {128'000 * kTokenBytes}, keys);
  brain.look(v, {128'000 * kTokenBytes}, values);
  CHECK(count(keys, PageState::resident, kHbm, false) == 80);
  CHECK(count(keys, PageState::resident, kPool, false) == 6'250);
  // 48 MiB of SRAM are 768 frames: 76 slabs of 32 pages and one of 25. V of 80,000 tokens in INT4
  // has 6,250 · 20 KiB = 122 MiB: the document's SRAM holds 31,449 tokens of them, not 80,000. The
  // others lie packed in the pool.
  CHECK(count(values, PageState::resident, kHbm, false) == 80);
  CHECK(count(values, PageState::resident, kSram, true) == 2'457);
  CHECK(count(values, PageState::resident, kPool, true) == 6'250 - 2'457);
  CHECK(sram.used() == 768);
  // 3,793 packed pages: 118 slabs of ten frames, and 17 pages on six.
  CHECK(pool.used() == 6'250 + 118 * 10 + 6);

  // What is left is deferred and has no frame: the 36,736 tokens that the document defers, and the
  // 10,240 that it gives no place at all (128,000 - 1,024 - 80,000 - 36,736).
  for (const auto* runs : {&keys, &values}) {
    CHECK(count(*runs, PageState::deferred, 0, false) == 3'670);
    CHECK(pages_of(36'736 + 10'240) == 3'670);
  }
  CHECK(brain.table().runs() < 250); // a run a slab, not an entry a page

  brain.release(1);
  brain.release(2);
  CHECK(hbm.used() + sram.used() + pool.used() == 0);
}
