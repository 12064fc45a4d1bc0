#include "model/base/error.h"
#include "model/base/random.h"
#include "model/memory/page_table.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <vector>

using namespace umf;
using namespace umf::memory;

namespace {

constexpr std::uint64_t kPages = 200;
constexpr std::size_t kTiers = 3;

struct Page {
  PageState state = PageState::deferred;
  TierIndex tier = 0;
  std::uint64_t frame = 0;
};

/// What the runs must say, page by page.
void require_same(const std::vector<Page>& pages, PageNumber first,
                  const std::vector<PageRun>& runs) {
  PageNumber at = first;
  for (const PageRun& run : runs) {
    REQUIRE(run.first == at);
    REQUIRE(run.count > 0);
    for (std::uint64_t i = 0; i < run.count; ++i, ++at) {
      REQUIRE(at < pages.size());
      REQUIRE(run.state == pages[at].state);
      if (run.state == PageState::deferred) continue;
      REQUIRE(run.tier == pages[at].tier);
      REQUIRE(run.frame + i == pages[at].frame);
    }
  }
}

/// Runs the table needs if all that read as one are one.
std::size_t fewest_runs(const std::vector<Page>& pages) {
  std::size_t runs = 0;
  for (std::size_t p = 0; p < pages.size(); ++p) {
    if (pages[p].state == PageState::deferred) continue;
    const bool goes_on = p > 0 && pages[p - 1].state == pages[p].state &&
                         pages[p - 1].tier == pages[p].tier &&
                         pages[p - 1].frame + 1 == pages[p].frame;
    if (!goes_on) ++runs;
  }
  return runs;
}

std::vector<PageRun> lookup(const PageTable& table, PageNumber first, std::uint64_t count) {
  std::vector<PageRun> runs;
  table.lookup(first, count, runs);
  return runs;
}

} // namespace

TEST_CASE("runs of pages say what an array of pages says") {
  const std::uint64_t seed = GENERATE(1u, 2u, 3u);
  CAPTURE(seed);
  RandomStream random(seed, "page_table_test");
  PageTable table;
  std::vector<Page> pages(kPages);
  std::array<std::uint64_t, kTiers> peak{};
  for (int step = 0; step < 35'000; ++step) { // 105,000 operations in all
    const PageNumber first = random.next_below(kPages);
    const std::uint64_t count = 1 + random.next_below(std::min<std::uint64_t>(20, kPages - first));
    const std::uint64_t kind = random.next_below(4);
    CAPTURE(step, first, count, kind);
    const auto begin = pages.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = begin + static_cast<std::ptrdiff_t>(count);
    const auto is_deferred = [](const Page& p) { return p.state == PageState::deferred; };
    if (kind == 0 && std::all_of(begin, end, is_deferred)) {
      const auto tier = static_cast<TierIndex>(random.next_below(kTiers));
      const std::uint64_t frame = first + random.next_below(2); // often joins its neighbours
      table.map(first, count, tier, frame);
      for (std::uint64_t i = 0; i < count; ++i)
        pages[first + i] = {PageState::resident, tier, frame + i};
    } else if (kind == 1 && std::none_of(begin, end, is_deferred)) {
      const auto state = static_cast<PageState>(1 + random.next_below(3));
      table.set_state(first, count, state);
      std::for_each(begin, end, [&](Page& p) { p.state = state; });
    } else if (kind == 2) {
      std::vector<PageRun> gone = table.unmap(first, count);
      std::uint64_t unmapped = 0;
      for (const PageRun& run : gone) {
        require_same(pages, run.first, {run});
        unmapped += run.count;
      }
      REQUIRE(unmapped == static_cast<std::uint64_t>(count) -
                              static_cast<std::uint64_t>(std::count_if(begin, end, is_deferred)));
      std::fill(begin, end, Page{});
    } else {
      const auto runs = lookup(table, first, count);
      require_same(pages, first, runs);
      REQUIRE(runs.back().first + runs.back().count == first + count);
    }
    REQUIRE(table.runs() == fewest_runs(pages));
    for (TierIndex tier = 0; tier < kTiers; ++tier) {
      const auto resident =
          static_cast<std::uint64_t>(std::count_if(pages.begin(), pages.end(), [&](const Page& p) {
            return p.state != PageState::deferred && p.tier == tier;
          }));
      peak[tier] = std::max(peak[tier], resident);
      REQUIRE(table.resident(tier) == resident);
      REQUIRE(table.peak(tier) == peak[tier]);
    }
  }
}

TEST_CASE("pages mapped in pieces become one run when they read as one") {
  PageTable table;
  table.map(10, 5, 0, 100);
  table.map(20, 5, 0, 110);
  CHECK(table.runs() == 2);
  table.map(15, 5, 0, 105); // fills the gap in pages and in frames
  CHECK(table.runs() == 1);
  table.set_state(12, 2, PageState::moving);
  CHECK(table.runs() == 3);
  table.set_state(12, 2, PageState::resident);
  CHECK(table.runs() == 1);
}

TEST_CASE("runs stay apart where tier, frame or state differ") {
  PageTable table;
  table.map(0, 1, 0, 0);
  table.map(1, 1, 1, 1); // other tier
  table.map(2, 1, 1, 7); // other frames
  CHECK(table.runs() == 3);
}

TEST_CASE("gaps are looked up as deferred runs") {
  PageTable table;
  table.map(4, 2, 1, 50);
  const auto runs = lookup(table, 3, 4);
  REQUIRE(runs.size() == 3);
  CHECK(runs[0].state == PageState::deferred);
  CHECK(runs[1].state == PageState::resident);
  CHECK(runs[1].frame == 50);
  CHECK(runs[2].first == 6);
  CHECK(lookup(table, 4, 0).empty());
}

TEST_CASE("a page has one owner and a state only while mapped") {
  PageTable table;
  table.map(10, 10, 0, 0);
  CHECK_THROWS_AS(table.map(5, 6, 0, 100), InvariantError);
  CHECK_THROWS_AS(table.map(19, 1, 1, 100), InvariantError);
  CHECK_THROWS_AS(table.set_state(19, 2, PageState::moving), InvariantError);
  CHECK_THROWS_AS(table.set_state(10, 1, PageState::deferred), InvariantError);
}

TEST_CASE("states have names") {
  CHECK(name_of(PageState::deferred) == "deferred");
  CHECK(name_of(PageState::resident) == "resident");
  CHECK(name_of(PageState::moving) == "moving");
  CHECK(name_of(PageState::suspended) == "suspended");
}
