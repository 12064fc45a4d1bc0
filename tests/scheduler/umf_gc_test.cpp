#include "tests/scheduler/carry_out.h"

#include "model/base/json.h"
#include "model/policy/registry.h"

#include <catch2/catch.hpp>

#include <deque>
#include <memory>
#include <string>
#include <vector>

/// S8 and S9 of `umf` with a brain, and a machine that does at once whatever is ordered.
using namespace umf;
using policy::TierClass;
using stream::Role;

namespace {

constexpr Bytes kPage = 64_KiB;

/// HBM (g), pool (p) and host (h), of so many pages; blocks of 4. Pages of KV caches that nobody
/// has touched for 10 us leave the pool while fewer than 8 of its pages are free.
struct Bench {
  std::deque<memory::FrameAllocator> frames;
  std::unique_ptr<scheduler::Brain> brain;
  Femtoseconds now{0};

  explicit Bench(std::vector<std::uint64_t> pages, const std::string& keys = R"("gc":"kv")")
      : frames(pages.begin(), pages.end()) {
    const std::string text =
        R"({"name":"umf","block":"256KiB","hbm_reserve_ratio":0,"demote_watermark":0,)"
        R"("promote_margin":0,"review":"0ns","prefetch":false,"fetch_on_touch":false,)"
        R"("promotion":"off","spread":false,"gc_threshold":"512KiB","gc_window":"10us",)"
        R"("gc_pause":"0ns",)" +
        keys + "}";
    KeyContext context;
    auto policy = policy::kind_named("umf").make(parse_json(text, "p.json"), context);
    context.throw_if_faulty();
    policy::Ground ground{kPage, {}};
    const TierClass kinds[] = {TierClass::hbm, TierClass::pool, TierClass::host};
    for (std::size_t t = 0; t < frames.size(); ++t)
      ground.tiers.push_back({"tier", kinds[t], &frames[t]});
    brain = std::make_unique<scheduler::Brain>(std::move(ground), std::move(policy));
  }
  void write(stream::TensorId id, Role role, std::uint64_t pages) {
    stream::Tensor tensor;
    tensor.id = id;
    tensor.name = "t";
    tensor.role = role;
    tensor.bytes = {pages * kPage.count};
    brain->declare(tensor);
    access(id, 0, pages, true);
  }
  /// Of whole pages.
  void access(stream::TensorId id, std::uint64_t first, std::uint64_t pages, bool write = false) {
    now += 1000_ns;
    std::vector<memory::PageRun> runs;
    brain->touch(brain->space().at(id).base + first * kPage.count, {pages * kPage.count}, write,
                 now, runs);
    test::carry_out(*brain, now);
  }
  /// Runs of pages: "4p 4h".
  std::string places(stream::TensorId id) const {
    const auto& entry = brain->space().at(id);
    std::vector<memory::PageRun> runs;
    brain->look(entry.base, {entry.pages * kPage.count}, runs);
    std::string text;
    std::uint64_t pages = 0;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      pages += runs[i].count;
      if (i + 1 < runs.size() && runs[i + 1].tier == runs[i].tier) continue;
      text += (text.empty() ? "" : " ") + std::to_string(pages) + "gph"[runs[i].tier];
      pages = 0;
    }
    return text;
  }
  const policy::Collections& gc() const { return *brain->collections(); }
};

} // namespace

TEST_CASE("a pool that runs full sends untouched pages of KV caches below it") {
  Bench bench({0, 24, 40});
  bench.write(1, Role::kv_key, 8);
  bench.write(2, Role::kv_value, 8);
  bench.write(3, Role::weight, 4);
  CHECK(bench.gc().runs == 1); // 4 free, but all of it is new
  CHECK(bench.gc().freed == 0);
  bench.now += 20'000_ns;
  bench.access(2, 4, 4); // the only ones touched lately
  CHECK(bench.places(1) == "8h");
  CHECK(bench.places(2) == "4h 4p");
  CHECK(bench.places(3) == "4p"); // not of a KV cache
  CHECK(bench.gc().freed == 12);
  CHECK(bench.gc().scanned == 32); // 16 pages of KV, twice
  CHECK(bench.brain->counters().faults == 0);
}

TEST_CASE("keys stay in the pool where values alone are collected") {
  Bench bench({0, 24, 40}, R"("gc":"values")");
  bench.write(1, Role::kv_key, 8);
  bench.write(2, Role::kv_value, 12);
  bench.now += 20'000_ns;
  bench.access(2, 0, 1);
  CHECK(bench.places(1) == "8p");
  CHECK(bench.places(2) == "1p 11h");
}

TEST_CASE("a collection that is not full ends when the threshold is free again") {
  Bench bench({0, 24, 40}, R"("gc":"kv","gc_full":false)");
  bench.write(1, Role::kv_key, 20);
  bench.now += 20'000_ns;
  bench.access(1, 0, 1);
  // 4 pages are free, 8 are to be: the first victims are pages 1 to 3, the rest of a block.
  CHECK(bench.places(1) == "1p 7h 12p");
}

TEST_CASE("what was collected faults, is filled once and counted as regret") {
  // HBM of 4 that weights fill: what comes back goes to the pool.
  Bench bench({4, 24, 40});
  bench.write(3, Role::weight, 4);
  bench.write(1, Role::kv_key, 20);
  bench.now += 20'000_ns;
  bench.access(1, 16, 4);
  REQUIRE(bench.places(1) == "16h 4p");
  // Frames of all 16 lie in a row in the host: the access is cut where mappings begin.
  bench.access(1, 2, 3);
  CHECK(bench.places(1) == "2h 3p 11h 4p");
  CHECK(bench.brain->counters().faults == 3);
  CHECK(bench.gc().regret == 3);
  CHECK(bench.gc().faults == 3);
  bench.access(1, 2, 3);
  CHECK(bench.brain->counters().faults == 3);
  CHECK(bench.brain->counters().unmet == 0);
}

TEST_CASE("where neither HBM nor pool has a frame a collected page is mapped where it is") {
  Bench bench({0, 24, 40});
  bench.write(1, Role::kv_key, 20);
  bench.now += 20'000_ns;
  bench.access(1, 16, 4);
  bench.write(3, Role::weight, 20); // takes the whole pool
  bench.access(1, 0, 2);
  CHECK(bench.places(1) == "16h 4p");
  CHECK(bench.brain->counters().faults == 2);
  CHECK(bench.brain->counters().unmet == 2);
  bench.access(1, 0, 2);
  CHECK(bench.brain->counters().faults == 2); // it has a mapping now
}

TEST_CASE("without a memory below the pool a collection frees nothing") {
  Bench bench({0, 24, 0});
  bench.write(1, Role::kv_key, 20);
  bench.now += 20'000_ns;
  bench.access(1, 0, 1);
  CHECK(bench.gc().runs > 0);
  CHECK(bench.gc().freed == 0);
  CHECK(bench.places(1) == "20p");
}

TEST_CASE("off, nothing is scanned or told") {
  Bench bench({0, 24, 40}, R"("gc":"off")");
  bench.write(1, Role::kv_key, 20);
  bench.now += 20'000_ns;
  bench.access(1, 0, 1);
  CHECK(bench.brain->collections() == nullptr);
  CHECK(bench.brain->tuning() == nullptr);
  CHECK(bench.brain->counters().commands == 0);
}

TEST_CASE("a raised reserve sends long-lived data out of HBM, a lowered one lets it back") {
  Bench bench({100, 100, 0},
              R"("tuner":true,"tuner_period":"1us","tuner_in_a_row":1,"tuner_reserve_step":0.05)");
  bench.write(1, Role::weight, 100);
  // From the start the tuner keeps 15 of 100 pages free.
  CHECK(bench.places(1) == "85g 15p");
  const auto sense = [&](double utilisation) {
    bench.now += 1000_ns;
    bench.brain->sense({bench.now, 1000_ns, utilisation, 0, 0, 0});
    test::carry_out(*bench.brain, bench.now);
  };
  sense(0.9);
  CHECK(bench.frames[0].free() >= 20);
  CHECK(bench.brain->tuning()->reserve == Approx(0.2));
  sense(0.9);
  CHECK(bench.frames[0].free() >= 25);
  CHECK(bench.frames[0].free() < 30); // no more than a block beyond what is asked for
  sense(0.9);                         // at its bound
  CHECK(bench.frames[0].free() < 30);
  CHECK(bench.brain->tuning()->raised == 2);
  sense(0.1);
  CHECK(bench.brain->tuning()->reserve == Approx(0.2));
  CHECK(bench.brain->tuning()->lowered == 1);
  CHECK(bench.brain->sensor_window().has_value());
}
