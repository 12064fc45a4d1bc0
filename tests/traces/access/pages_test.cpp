#include "traces/access/access.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

using namespace umf;
using namespace umf::traces::access;
using Catch::Contains;

namespace {

using Pages = std::vector<std::uint64_t>;

Pages chosen(PageChooser& chooser, std::uint64_t tokens, std::uint32_t layer = 5,
             std::uint64_t sequence = 0) {
  Pages pages;
  CHECK(chooser.choose({sequence, layer, 0, tokens}, pages));
  return pages;
}

/// Share of `b` that is in `a`.
double shared(const Pages& a, const Pages& b) {
  Pages both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return static_cast<double>(both.size()) / static_cast<double>(b.size());
}

std::unique_ptr<PageChooser> make(const char* name, const std::vector<std::string>& sets = {}) {
  return make_pages(name, sets, 7);
}

} // namespace

TEST_CASE("dense access chooses nothing: all is read") {
  Pages pages;
  CHECK_FALSE(make("dense")->choose({0, 0, 0, 1000}, pages));
}

TEST_CASE("sinks and the newest tokens are always read, pages come ascending and once") {
  const auto chooser = make("sinks", {"access.sinks=20", "access.recent=64"});
  for (std::uint64_t tokens = 4096; tokens < 4200; ++tokens) {
    const Pages pages = chosen(*chooser, tokens);
    CHECK(std::is_sorted(pages.begin(), pages.end()));
    CHECK(std::adjacent_find(pages.begin(), pages.end()) == pages.end());
    CHECK(pages[0] == 0);
    CHECK(pages[1] == 1); // 20 tokens: two pages of 16
    CHECK(pages.back() == tokens / 16 - 1);
    // The last 64 tokens begin in page (tokens - 64) / 16.
    CHECK(std::binary_search(pages.begin(), pages.end(), (tokens - 64) / 16));
  }
}

TEST_CASE("heavy hitters stay for some steps and then drift") {
  const auto still = make("sinks", {"access.reference=0", "access.recent=0", "access.alpha=1.2"});
  const Pages first = chosen(*still, 65'536);
  // 4096 pages, 819 draws; those of low rank fall together.
  CHECK(first.size() > 100);
  CHECK(first.size() < 700);
  const double next = shared(chosen(*still, 65'537), first);
  const double later = shared(chosen(*still, 65'536 + 1000), first);
  CHECK(next > later + 0.1); // 1000 steps: each rank has moved, by chance onto pages like these
  const auto wild = make(
      "sinks", {"access.reference=0", "access.recent=0", "access.alpha=1.2", "access.drift=1"});
  CHECK(shared(chosen(*wild, 65'537), chosen(*wild, 65'536)) < next - 0.1);
}

TEST_CASE("a long reference is one stretch, at its rate, for all layers") {
  const auto chooser = make("sinks", {"access.heavy_share=0", "access.recent=0", "access.sinks=0",
                                      "access.reference=0.25", "access.reference_length=160"});
  unsigned steps = 0;
  for (std::uint64_t tokens = 100'000; tokens < 102'000; ++tokens) {
    const Pages pages = chosen(*chooser, tokens);
    CHECK(chosen(*chooser, tokens, 60) == pages);
    if (pages.empty()) continue;
    ++steps;
    CHECK(pages.back() - pages.front() + 1 == pages.size());
    CHECK(pages.size() <= 10); // 160 / 16, less at the end
  }
  // 500 ± 4 × sqrt(2000 × 0.25 × 0.75).
  CHECK(steps > 420);
  CHECK(steps < 580);
}

TEST_CASE("top-k reads its budget to the page, and everything in the first layers") {
  const auto chooser = make("top-k", {"access.budget=512"});
  CHECK(chooser->has_bounds());
  for (const std::uint64_t tokens : {1024u, 20'000u, 1'000'000u})
    CHECK(chosen(*chooser, tokens).size() == 32);
  Pages pages;
  CHECK_FALSE(chooser->choose({0, 1, 0, 20'000}, pages));
  CHECK_FALSE(chooser->choose({0, 5, 0, 512}, pages)); // all fits the budget
}

TEST_CASE("what is chosen depends on names and the seed alone") {
  const auto chooser = make("top-k");
  const Pages first = chosen(*chooser, 50'000, 5, 3);
  chosen(*chooser, 50'000, 6, 3);
  CHECK(chosen(*chooser, 50'000, 5, 3) == first);
  CHECK(chosen(*chooser, 50'000, 5, 4) != first);
  CHECK(chosen(*make_pages("top-k", {}, 8), 50'000, 5, 3) != first);
}

TEST_CASE("wrong names and keys are told") {
  CHECK_THROWS_WITH(make("quest"), Contains("unknown access \"quest\"") && Contains("top-k"));
  CHECK_THROWS_WITH(make("top-k", {"access.budgit=5"}), Contains("did you mean \"budget\""));
  CHECK_THROWS_WITH(make("top-k", {"access.page=0"}), Contains("/access/page"));
  CHECK_THROWS_WITH(make("top-k", {"budget=5"}), Contains("access.budget=1024"));
}
