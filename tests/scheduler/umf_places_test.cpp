#include "model/base/json.h"
#include "model/policy/registry.h"
#include "model/scheduler/brain.h"

#include <catch2/catch.hpp>

#include <deque>
#include <memory>
#include <string>
#include <vector>

using namespace umf;
using policy::TierClass;
using stream::Role;

/// `umf` with a brain and a machine that moves whatever is ordered before the next access.
namespace {

constexpr Bytes kPage = 64_KiB;

/// These keys and, where they say nothing, what the tests start from.
std::unique_ptr<policy::Policy> make_umf(const std::string& keys) {
  std::string text = R"({"name": "umf")";
  for (const std::string base :
       {R"("hbm_reserve_ratio": 0)", R"("demote_watermark": 0)", R"("promote_margin": 0)",
        R"("review": "0ns")", R"("prefetch": false)", R"("fetch_on_touch": false)"})
    if (keys.find(base.substr(0, base.find(':'))) == std::string::npos)
      text.append(", ").append(base);
  if (!keys.empty()) text.append(", ").append(keys);
  const JsonValue object = parse_json(text.append("}"), "p.json");
  for (const policy::Kind& kind : policy::kinds()) {
    if (kind.info->name != "policy.umf") continue;
    KeyContext context;
    auto made = kind.make(object, context);
    context.throw_if_faulty();
    return made;
  }
  return nullptr;
}

/// HBM (g), SRAM (s), pool (p) and host (h), of so many pages.
struct Bench {
  std::deque<memory::FrameAllocator> frames;
  scheduler::Brain brain;
  Femtoseconds now{0};

  explicit Bench(std::vector<std::uint64_t> pages, const std::string& keys = {})
      : frames(pages.begin(), pages.end()), brain({kPage,
                                                   {{"hbm", TierClass::hbm, &frames[0]},
                                                    {"sram", TierClass::sram, &frames[1]},
                                                    {"pool", TierClass::pool, &frames[2]},
                                                    {"host", TierClass::host, &frames[3]}}},
                                                  make_umf(keys)) {}

  /// Rows of 4 KiB: 16 to a page.
  void declare(stream::TensorId id, Role role, std::uint64_t pages) {
    stream::Tensor tensor;
    tensor.id = id;
    tensor.name = "t";
    tensor.role = role;
    tensor.bytes = {pages * kPage.count};
    tensor.shape = {static_cast<std::int64_t>(pages * 16), 4096};
    brain.declare(tensor);
  }
  void preload(stream::TensorId id, Role role, std::uint64_t pages) {
    declare(id, role, pages);
    brain.preload(id);
  }
  void access(stream::TensorId id, std::uint64_t offset, Bytes bytes, bool write) {
    now += 1000_ns;
    std::vector<memory::PageRun> runs;
    brain.touch(brain.space().at(id).base + offset, bytes, write, now, runs);
    settle();
  }
  void read(stream::TensorId id) {
    access(id, 0, {brain.space().at(id).pages * kPage.count}, false);
  }
  void settle() {
    brain.make_room();
    while (const auto command = brain.next_command()) {
      brain.suspend(*command);
      brain.quiesced(*command, now);
      brain.completed(*command);
      brain.make_room();
    }
  }
  /// Runs of pages: "4p 4h".
  std::string places(stream::TensorId id) const {
    const auto& entry = brain.space().at(id);
    std::vector<memory::PageRun> runs;
    brain.look(entry.base, {entry.pages * kPage.count}, runs);
    std::string text;
    std::uint64_t pages = 0;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const auto letter = [&](const memory::PageRun& run) {
        return run.state == memory::PageState::deferred ? '-' : "gsph"[run.tier];
      };
      pages += runs[i].count;
      if (i + 1 < runs.size() && letter(runs[i + 1]) == letter(runs[i])) continue;
      text += (text.empty() ? "" : " ") + std::to_string(pages) + letter(runs[i]);
      pages = 0;
    }
    return text;
  }
};

const std::string kAllOutside = R"("hbm_reserve_ratio": 1)";
const std::string kStriped = "4p 4h 4p 4h 4p 4h 4p 4h"; // a block of 32 pages in eight stripes

} // namespace

TEST_CASE("what lies outside is dealt in stripes of its own size, not shorter than spread_least") {
  // Both ways read alike. A block is 32 pages, an eighth of it 4 pages or 256 KiB.
  const auto [pages, keys, places] = GENERATE(table<std::uint64_t, std::string, std::string>(
      {{32, "", kStriped},
       {2, "", "2p"},    // one stripe of 256 KiB holds it
       {8, "", "4p 4h"}, // an eighth would be 64 KiB
       {96, "", "12p 12h 12p 12h 12p 12h 12p 12h"},
       {320, "", "32p 32h 32p 32h 32p 32h 32p 32h 32p 32h"}, // an eighth would be 40 pages
       {32, R"("spread_stripes": 1)", "32p"},
       {32, R"("spread_stripes": 2)", "16p 16h"},
       {32, R"("spread_least": "512KiB")", "8p 8h 8p 8h"},
       {8, R"("spread_least": "64KiB")", "1p 1h 1p 1h 1p 1h 1p 1h"},
       {32, R"("block": "128KiB")", "2p 2h 2p 2h 2p 2h 2p 2h 2p 2h 2p 2h 2p 2h 2p 2h"}}));
  CAPTURE(pages, keys);
  Bench bench({1, 0, 400, 400}, kAllOutside + (keys.empty() ? "" : ", " + keys));
  bench.preload(1, Role::weight, pages);
  CHECK(bench.places(1) == places);
}

TEST_CASE("a block in stripes comes home whole and goes back to its copies without a byte moved") {
  Bench bench({32, 0, 100, 100}, kAllOutside);
  bench.preload(1, Role::weight, 32);
  REQUIRE(bench.places(1) == kStriped);
  bench.read(1);
  bench.read(1); // has recurred
  REQUIRE(bench.places(1) == "32g");
  CHECK(bench.brain.counters().moved == Bytes{32 * kPage.count});

  bench.declare(2, Role::activation, 32);
  bench.access(2, 0, {32 * kPage.count}, true); // which takes HBM
  CHECK(bench.places(1) == kStriped);
  CHECK(bench.places(2) == "32g");
  CHECK(bench.brain.counters().returned == 32);
  CHECK(bench.brain.counters().moved == Bytes{32 * kPage.count}); // as before
}

TEST_CASE("a page written at home has no copy to go back to, the others of its block have") {
  Bench bench({32, 0, 100, 100}, kAllOutside);
  bench.preload(1, Role::weight, 32);
  bench.read(1);
  bench.read(1);
  REQUIRE(bench.places(1) == "32g");
  bench.access(1, 5 * kPage.count, kPage, true); // of the first stripe in the host's memory
  bench.declare(2, Role::activation, 32);
  bench.access(2, 0, {32 * kPage.count}, true);
  CHECK(bench.places(1) == "4p 1h 1p 2h 4p 4h 4p 4h 4p 4h"); // it goes to the pool, as others do
  CHECK(bench.brain.counters().returned == 31);
  CHECK(bench.brain.counters().moved == Bytes{(32 + 1) * kPage.count});
}

TEST_CASE("the page of a KV cache that is appended to comes home from the pool") {
  // Rows of 4 KiB, 16 of them a page; row 50 is in page 3.
  const auto [role, keys, places] = GENERATE(
      table<Role, std::string, std::string>({{Role::kv_key, "", "3p 1g 28p"},
                                             {Role::kv_value, "", "3p 1g 28p"},
                                             {Role::kv_key, R"(, "open_page_home": false)", "32p"},
                                             {Role::weight, "", "32p"}}));
  CAPTURE(keys);
  Bench bench({8, 0, 100, 100}, kAllOutside + R"(, "spread": false)" + keys);
  bench.preload(1, role, 32);
  bench.access(1, 50 * 4096, 4_KiB, true);
  CHECK(bench.places(1) == places);
}

TEST_CASE("an open page stays at home until it is written to its end") {
  const auto [rows, places, taken] = GENERATE(table<std::uint64_t, std::string, std::string>(
      {{14, "3p 1g 28p", "7g 1p"}, {16, "32p", "8g"}}));
  CAPTURE(rows);
  Bench bench({8, 0, 100, 100}, kAllOutside + R"(, "spread": false)");
  bench.preload(1, Role::kv_key, 32);
  for (std::uint64_t row = 0; row < rows; row += 2)
    bench.access(1, (48 + row) * 4096, 8_KiB, true);
  REQUIRE(bench.places(1) == "3p 1g 28p");
  bench.declare(2, Role::activation, 8); // takes what it can of HBM
  bench.access(2, 0, {8 * kPage.count}, true);
  CHECK(bench.places(1) == places);
  CHECK(bench.places(2) == taken);
}

TEST_CASE(
    "pages appended for the first time are at home while they are open, whatever is kept free") {
  // All of HBM is kept free, so that what is full leaves.
  Bench bench({4, 0, 100, 100}, R"("demote_watermark": 1, "patience": 1, "spread": false)");
  bench.declare(1, Role::kv_key, 8);
  bench.access(1, 0, {20 * 4096}, true); // page 0 and 4 rows of page 1
  CHECK(bench.places(1) == "1p 1g 6-");
  bench.access(1, 20 * 4096, {20 * 4096}, true); // to row 40, the eighth of page 2
  CHECK(bench.places(1) == "2p 1g 5-");
  bench.access(1, 40 * 4096, {88 * 4096}, true); // to the tensor's end
  CHECK(bench.places(1) == "8p");
}

TEST_CASE("an open page in the pool waits where HBM has no frame") {
  Bench bench({4, 0, 100, 100}, R"("spread": false)");
  bench.declare(1, Role::activation, 4);
  bench.access(1, 0, {4 * kPage.count}, true);
  bench.declare(2, Role::kv_key, 8);
  bench.access(2, 0, 4_KiB, true);
  CHECK(bench.places(2) == "1p 7-");
  bench.brain.release(1);
  bench.access(2, 4096, 4_KiB, true);
  CHECK(bench.places(2) == "1g 7-");
}

TEST_CASE("the rows of a KV cache written last live in SRAM while they are in the window") {
  // 16 rows a page; a window of 32 rows is two pages, and a third where it begins within one.
  const auto [role, window, first, then] =
      GENERATE(table<Role, std::string, std::string, std::string>(
          {{Role::kv_key, "32", "2g 2s 4-", "4g 3s 1-"},
           {Role::kv_value, "8", "3g 1s 4-", "6g 1s 1-"},
           {Role::kv_key, "0", "4g 4-", "7g 1-"},
           {Role::weight, "32", "4g 4-", "7g 1-"}}));
  CAPTURE(window);
  Bench bench({20, 6, 100, 100}, R"("sram_window": )" + window);
  bench.declare(1, role, 8);
  bench.access(1, 0, {4 * kPage.count}, true); // rows 0 to 63
  CHECK(bench.places(1) == first);
  bench.access(1, 4 * kPage.count, {44 * 4096}, true); // to row 107, the last but four of page 6
  bench.access(1, 0, 4_KiB, false);
  CHECK(bench.places(1) == then);
}

TEST_CASE("what lives shortly has SRAM to itself as far as it has ever wanted it") {
  Bench bench({20, 6, 100, 100}, R"("sram_window": 48)");
  bench.declare(1, Role::activation, 4);
  bench.access(1, 0, {4 * kPage.count}, true);
  bench.brain.release(1);
  bench.declare(2, Role::kv_key, 8);
  bench.access(2, 0, {4 * kPage.count}, true);
  CHECK(bench.places(2) == "2g 2s 4-"); // of three pages in the window, two beside the four
  bench.declare(3, Role::activation, 5);
  bench.access(3, 0, {5 * kPage.count}, true);
  CHECK(bench.places(3) == "4s 1g");
  bench.access(2, 0, 4_KiB, false); // now five of six are wanted: the window makes room
  CHECK(bench.places(2) == "4g 4-");
}

TEST_CASE("what leaves the window goes outside where HBM is full") {
  Bench bench({2, 6, 100, 100}, R"("sram_window": 16, "spread": false, "open_page_home": false)");
  bench.declare(1, Role::kv_key, 8);
  bench.access(1, 0, {2 * kPage.count}, true);
  CHECK(bench.places(1) == "1g 1s 6-");
  bench.access(1, 2 * kPage.count, kPage, true);
  bench.access(1, 3 * kPage.count, kPage, true);
  bench.access(1, 0, 4_KiB, false);
  CHECK(bench.places(1) == "2g 1p 1s 4-");
}
