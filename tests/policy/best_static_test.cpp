#include "model/policy/future.h"
#include "tests/policy/ground.h"

#include <catch2/catch.hpp>

using namespace umf;
using namespace umf::test;
using policy::Future;
using Pages = TestGround::Pages;

/// HBM is tier 0 at 1 TB/s, the pool tier 1 at 50 GB/s and 1 us more. Pages of 64 KiB.
namespace {

constexpr std::uint32_t kOften = 10;

struct Bench {
  TestGround ground;
  std::shared_ptr<Future> future = std::make_shared<Future>();
  std::unique_ptr<policy::Policy> policy;
  policy::StepNumber step = 0;

  explicit Bench(std::uint64_t hbm, const std::string& keys = R"("stripe": "64KiB")") {
    ground.hbm(hbm).pool(1000);
    policy = make_policy(R"({"name": "best-static", )" + keys + "}");
    future->speeds = {{{1e12}, {}}, {{50e9}, 1000_ns}};
  }
  void tensor(stream::TensorId id, std::uint64_t pages, bool initial = true) {
    future->tensor(id).pages = pages;
    future->tensor(id).initial = initial;
    future->tensor(id).born = step;
  }
  void read(stream::TensorId id, std::uint64_t first, std::uint64_t pages) {
    future->issue(step, 0);
    future->use(id, step++, first, pages, {pages * kPage.count});
  }
  Pages place(stream::TensorId id, std::uint64_t first, std::uint64_t pages) {
    memory::AddressSpace::Entry entry;
    entry.tensor.id = id;
    entry.pages = first + pages;
    std::vector<policy::Grant> grants;
    const policy::Ground seen = ground.ground();
    policy->place({&entry, first, pages, true}, seen, grants);
    Pages placed;
    for (const auto& grant : grants) {
      placed.emplace_back(grant.tier, grant.pages);
      seen.tiers[grant.tier].frames->take(grant.pages);
    }
    return placed;
  }
  void told() { policy->foresee(future); }
};

} // namespace

TEST_CASE("best-static keeps what is read most in HBM, whichever comes first") {
  Bench bench(4);
  bench.tensor(1, 4);
  bench.tensor(2, 4);
  bench.read(1, 0, 4);
  for (std::uint32_t i = 0; i < kOften; ++i)
    bench.read(2, 0, 4);
  bench.told();
  CHECK(bench.place(1, 0, 4) == Pages{{1, 4}});
  CHECK(bench.place(2, 0, 4) == Pages{{0, 4}});
}

TEST_CASE("of a tensor only the pages that are read are worth a place") {
  // Rows of a table: pages 2 and 3 of 8 are read, and HBM has two.
  Bench bench(2);
  bench.tensor(1, 8);
  for (std::uint32_t i = 0; i < kOften; ++i)
    bench.read(1, 2, 2);
  bench.told();
  CHECK(bench.place(1, 0, 8) == Pages{{1, 2}, {0, 2}, {1, 4}});
}

TEST_CASE("equal tensors at the margin share HBM evenly and lie in stripes") {
  // Two of 8 pages, 8 frames: half of each, page by page in turn (stripes of two pages).
  Bench bench(8, R"("stripe": "128KiB")");
  bench.tensor(1, 8);
  bench.tensor(2, 8);
  for (std::uint32_t i = 0; i < kOften; ++i) {
    bench.read(1, 0, 8);
    bench.read(2, 0, 8);
  }
  bench.told();
  const Pages half{{1, 1}, {0, 1}, {1, 1}, {0, 1}, {1, 1}, {0, 1}, {1, 1}, {0, 1}};
  CHECK(bench.place(1, 0, 8) == half);
  CHECK(bench.place(2, 0, 8) == half);
}

TEST_CASE("without a spread of worth tensors are served one after the other") {
  Bench bench(8, R"("stripe": "64KiB", "spread": 1)");
  bench.tensor(1, 8);
  bench.tensor(2, 9); // a page more for the same latency: worth a little less
  for (std::uint32_t i = 0; i < kOften; ++i) {
    bench.read(1, 0, 8);
    bench.read(2, 0, 9);
  }
  bench.told();
  CHECK(bench.place(1, 0, 8) == Pages{{0, 8}});
  CHECK(bench.place(2, 0, 9) == Pages{{1, 9}});
}

TEST_CASE("frames are used again by what lives later") {
  // HBM of 4: an activation of 4 pages dies before the next one is born; both find room.
  Bench bench(4);
  bench.tensor(1, 4, false);
  bench.read(1, 0, 4);
  bench.future->tensor(1).dead = bench.step;
  bench.tensor(2, 4, false);
  bench.read(2, 0, 4);
  bench.told();
  CHECK(bench.place(1, 0, 4) == Pages{{0, 4}});
  bench.ground.ground().tiers[0].frames->give_back({0, 4});
  CHECK(bench.place(2, 0, 4) == Pages{{0, 4}});
}

TEST_CASE("a long stream leaves outside what the links carry meanwhile, a short one nothing") {
  // The link's part of 1.05 TB/s is 1 in 21. Leaving it there saves 1/21 of the time in HBM and
  // costs 1 us and a page's 1.31 us over the link, so it pays from 48.5 MB on: 740.4 pages.
  for (const std::uint64_t pages : {740, 741}) {
    Bench bench(1000);
    bench.tensor(1, pages);
    bench.read(1, 0, pages);
    bench.told();
    std::uint64_t outside = 0;
    for (const auto& [tier, count] : bench.place(1, 0, pages))
      outside += tier == 1 ? count : 0;
    CHECK(outside == (pages == 740 ? 0 : 35));
  }
}

TEST_CASE("what lies outside is divided between pool and host by their rates") {
  // The host's way carries half of what the pool's does: of every 3 pages outside it has one.
  Bench bench(4, R"("stripe": "1MiB")");
  bench.ground.tier(policy::TierClass::host, 1000);
  bench.future->speeds.push_back({{25e9}, 2000_ns});
  bench.tensor(1, 16);
  for (std::uint32_t i = 0; i < kOften; ++i)
    bench.read(1, 0, 16);
  bench.told();
  CHECK(bench.place(1, 0, 16) == Pages{{2, 4}, {1, 8}, {0, 4}});
}

TEST_CASE("best-static places what it does not know, and refuses what fits nowhere") {
  Bench bench(4);
  CHECK(bench.place(9, 0, 6) == Pages{{0, 4}, {1, 2}});
  CHECK_THROWS_AS(bench.place(9, 0, 2000), UserError);
}
