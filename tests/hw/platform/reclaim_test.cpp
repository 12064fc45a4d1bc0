#include "hw/platform/foresight.h"
#include "tests/hw/support/machine.h"
#include "tests/support/shared_data.h"
#include "traces/generate/generator.h"

#include <catch2/catch.hpp>

/// S1 on the whole machine: traces that free parts of tensors.
namespace umf::test {

namespace {

using Catch::Contains;
using stream::Role;

constexpr std::uint64_t kRow = 16 * 1024, kWindow = 16, kTokens = 200;
constexpr stream::TensorId kWeight = 1, kKeys = 2, kValues = 3;

stream::Free free_of(stream::TensorId id, std::uint64_t row, std::uint64_t rows = 1) {
  return {id, row * kRow, Bytes{rows * kRow}};
}

/// A token after the other writes its key and value and reads those of the last 16; with the 16th
/// the oldest one is of no use. Rows are a quarter of a page.
std::vector<stream::Record> sliding(bool reclaim = true, Bytes weight = 1_MiB) {
  std::vector<stream::Record> records;
  const auto add = [&](const stream::Record& record) { records.push_back(record); };
  add(tensor(kWeight, weight, Role::weight));
  add(tensor(kKeys, {kTokens * kRow}, Role::kv_key));
  add(tensor(kValues, {kTokens * kRow}, Role::kv_value));
  for (std::uint64_t t = 0; t < kTokens; ++t) {
    const std::uint64_t oldest = t + 1 - std::min(t + 1, kWindow);
    const Bytes seen{(t + 1 - oldest) * kRow};
    add(kernel(2 * t, {writes(kKeys, {kRow}, t * kRow), writes(kValues, {kRow}, t * kRow)}));
    add(kernel(2 * t + 1, {reads(kWeight, weight), reads(kKeys, seen, oldest * kRow),
                           reads(kValues, seen, oldest * kRow)}));
    if (!reclaim || t + 1 < kWindow) continue;
    add(free_of(kKeys, oldest));
    add(free_of(kValues, oldest));
  }
  return records;
}

constexpr std::uint64_t kFreed = kTokens - kWindow + 1; ///< rows of each: 185

std::uint64_t kv_pages(const Outcome& run) {
  std::uint64_t pages = 0;
  for (const auto& tier : run.platform->tiers())
    pages += tier.frames->used(memory::Region::kv);
  return pages;
}

} // namespace

TEST_CASE("a window's keys and values take the pages of the window, however long it slides") {
  const Outcome run = replay(machine(), sliding());
  const auto& frames = *run.platform->tiers()[0].frames;
  // 16 rows lie on 5 pages at most, beside 16 pages of the weight.
  CHECK(frames.peak_used() == 2 * 5 + 16);
  CHECK(kv_pages(run) == 2 * 4); // rows 185 to 199: of page 46 the last three
  const auto& brain = run.platform->brain(0);
  CHECK(brain.counters().reclaimed.count == 2 * kFreed * kRow);
  CHECK(brain.counters().reclaimed_pages == 2 * (kFreed / 4));
  CHECK(brain.holes().count == 2 * (kFreed % 4) * kRow);
  CHECK(brain.peak_holes().count == 2 * 3 * kRow);
  // What died in the L2 was never written.
  CHECK(run.platform->gpu(0).l2().statistics().discarded == 2 * kFreed * kRow);
  CHECK(run.platform->tiers()[0].module->statistics().write_bytes == 0);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("without frees they take all the pages they ever had") {
  const Outcome run = replay(machine(), sliding(false));
  CHECK(kv_pages(run) == 2 * kTokens / 4);
  CHECK(run.platform->brain(0).counters().reclaimed.count == 0);
}

TEST_CASE("pages of 4 KiB: the same bytes, and tables of runs instead of pages") {
  const Outcome run = replay(machine(R"({"scheduler": {"page": "4KiB"}})"), sliding(true, 16_MiB));
  const auto& brain = run.platform->brain(0);
  CHECK(brain.counters().reclaimed.count == 2 * kFreed * kRow);
  CHECK(brain.counters().reclaimed_pages == 2 * kFreed * 4); // a row is four pages
  CHECK(brain.peak_holes().count == 0);
  CHECK(kv_pages(run) == 2 * (kWindow - 1) * 4);
  CHECK(run.platform->tiers()[0].frames->peak_used() == 4096 + 2 * kWindow * 4);
  // Of 4096 + 120 pages: the weight is one run, a row of keys or values at most another.
  CHECK(brain.table().runs() <= 1 + 2 * (kWindow - 1));
  CHECK(run.unbalanced() == "");
}

TEST_CASE("a repetition makes anew what was freed in part") {
  const Outcome run = replay(machine(R"({"replay": {"repeat": 3}})"), sliding());
  CHECK(run.platform->brain(0).counters().reclaimed.count == 3 * 2 * kFreed * kRow);
  CHECK(kv_pages(run) == 2 * 4); // of the last one
  CHECK(run.unbalanced() == "");
}

TEST_CASE("a free waits for those who use the tensor and were issued before it, and for no other") {
  // Two streams: the long reader of row 0 goes on while others write behind it; the free comes
  // when it is done, though later kernels use the tensor until the end.
  std::vector<stream::Record> records = {tensor(kKeys, 16_MiB, Role::kv_key),
                                         kernel(0, {writes(kKeys, 64_KiB)}, 0, {0, 1})};
  const auto add = [&](const stream::Record& record) { records.push_back(record); };
  stream::Sync sync;
  sync.waiting = {0, 2};
  sync.awaited = stream::StreamId{0, 1};
  add(sync);
  add(kernel(1, {reads(kKeys, 64_KiB)}, 1e9, {0, 2})); // 10 µs
  add(stream::Free{kKeys, 0, 64_KiB});
  for (std::uint64_t k = 2; k < 40; ++k)
    add(kernel(k, {writes(kKeys, 64_KiB, (k - 1) << 16)}, 0, {0, 1}));
  const Outcome run = replay(machine(), records);
  CHECK(run.platform->brain(0).counters().reclaimed_pages == 1);
  CHECK(kv_pages(run) == 38);
  CHECK(run.unbalanced() == "");
}

TEST_CASE(
    "a page that is moving when its last bytes are freed is given back where it comes to rest") {
  /// Sends to the pool whatever is read in HBM; notes what became of it.
  struct Sender : policy::Policy {
    explicit Sender(std::vector<std::string>& log) : said(log) {}
    void place(const policy::Need& need, const policy::Ground&,
               std::vector<policy::Grant>& grants) override {
      grants.push_back({0, need.pages});
    }
    void touched(const policy::Touch& touch, const policy::Ground&,
                 std::vector<policy::Order>& orders) override {
      if (touch.pages.tier == 0) orders.push_back({touch.pages.first, touch.pages.count, 1});
    }
    void settled(const policy::Settled& move, const policy::Ground&,
                 std::vector<policy::Order>&) override {
      said.push_back(move.moved ? "moved" : "refused");
    }
    void released(const memory::AddressSpace::Entry&, const memory::PageRun& run,
                  const policy::Ground&) override {
      said.push_back("released from tier " + std::to_string(run.tier));
    }
    std::vector<std::string>& said;
  };
  std::vector<std::string> said;
  hw::Scenario scenario = machine(pool_patch());
  scenario.policies.front() = std::make_unique<Sender>(said);
  // The read of 64 KiB at 1 TB/s is done long before the link has them at 50 GB/s.
  const Outcome run = replay(std::move(scenario),
                             {tensor(kKeys, 128_KiB, Role::kv_key),
                              kernel(1, {reads(kKeys, 64_KiB)}), stream::Free{kKeys, 0, 64_KiB}});
  CHECK(said == std::vector<std::string>{"moved", "released from tier 1"});
  CHECK(kv_pages(run) == 0);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("windows that do not fit HBM slide as well") {
  // HBM of 1 MiB for windows of 512 KiB and a weight of 1 MiB: pages fault in and are sent out.
  const Outcome run = replay(machine(both(both(pool_patch(), R"({"policy": null})"),
                                          R"({"tiers": {"hbm": {"capacity": "1MiB"}},
                              "gpu": {"l2": {"capacity": "256KiB", "slices": 8}}, "policy": {"name": "lru", "block": "64KiB"}})")),
                             sliding());
  const auto& brain = run.platform->brain(0);
  CHECK(brain.counters().faults > 0);
  CHECK(brain.counters().reclaimed.count == 2 * kFreed * kRow);
  CHECK(brain.counters().reclaimed_pages == 2 * (kFreed / 4));
  CHECK(kv_pages(run) == 2 * 4);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("a generated window slides over few pages beside layers that see all") {
  traces::generate::GenerateOptions options;
  options.step.model = shapes::find_model(source_file("tests/shapes/tiny.json").string());
  options.step.reclaim = true;
  options.context = 300;
  options.steps = 100;
  traces::generate::Generator generator(options);
  std::vector<stream::Record> records;
  generator.declare(records);
  while (generator.next(records)) {
  }
  const Outcome run = replay(machine(R"({"scheduler": {"page": "4KiB"}})"), records);
  // Rows of 256 B, 16 a page. Layers 0 and 2: rows 145 to 399, on pages 9 to 24; the others see
  // all 400, on 25.
  CHECK(kv_pages(run) == 2 * 2 * (16 + 25));
  const auto& counters = run.platform->brain(0).counters();
  CHECK(counters.reclaimed.count == 2 * 2 * 145 * 256);
  // Rows 0 to 144 went, with pages 0 to 8; the first that any token here saw was row 45, on page 2.
  CHECK(counters.reclaimed_pages == 2 * 2 * 7);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("what is foreseen of a trace with frees is what is asked") {
  const auto records = sliding();
  const hw::Scenario scenario = machine();
  const auto futures = hw::foresee(scenario, {tenant_of(records)});
  const auto* keys = futures.front()->find(2);
  REQUIRE(keys != nullptr);
  CHECK(
      keys->uses.empty()); // all that is read was written just now, and died before the L2 was full
}

TEST_CASE("an operation that touches freed bytes is refused by name") {
  auto records = sliding();
  records.push_back(kernel(999, {reads(kKeys, 64_KiB, kRow * (kFreed - 1))}));
  CHECK_THROWS_WITH(replay(machine(), records),
                    Contains("999 \"k999\" touches bytes 3014656..3080192 of tensor \"t2\"") &&
                        Contains("freed")); // 184 × 16384
}

TEST_CASE("bytes freed twice are refused") {
  auto records = sliding();
  records.push_back(free_of(kValues, 7));
  CHECK_THROWS_WITH(replay(machine(), records),
                    Contains("tensor \"t3\"") && Contains("freed before"));
}

TEST_CASE("a free beyond its tensor is refused") {
  CHECK_THROWS_WITH(replay(machine(), {tensor(kKeys, 1_MiB), stream::Free{kKeys, 1 << 20, 1_KiB}}),
                    Contains("which has 1048576"));
}

} // namespace umf::test
