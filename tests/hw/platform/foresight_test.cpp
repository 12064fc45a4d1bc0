#include "hw/platform/foresight.h"
#include "model/base/random.h"
#include "tests/hw/support/machine.h"

#include <catch2/catch.hpp>

#include <map>
#include <set>

/// What is foreseen of a run is what its scheduler is asked.
namespace umf::test {

namespace {

using Pages = std::set<std::uint64_t>;
using Asked = std::map<std::pair<policy::StepNumber, stream::TensorId>, Pages>;

/// Everything in HBM; notes who asks for what.
class Spy : public policy::Policy {
public:
  explicit Spy(Asked& asked) : asked_(asked) {}
  void place(const policy::Need& need, const policy::Ground& ground,
             std::vector<policy::Grant>& grants) override {
    policy::grant(ground, policy::TierClass::hbm, need.pages, grants);
  }
  void touched(const policy::Touch& touch, const policy::Ground& ground,
               std::vector<policy::Order>&) override {
    if (touch.step == policy::kNoStep) return; // nobody's: pushed out by a release
    const std::uint64_t base = touch.tensor->base / ground.page.count;
    Pages& pages = asked_[{touch.step, touch.tensor->tensor.id}];
    for (std::uint64_t p = 0; p < touch.pages.count; ++p)
      pages.insert(touch.pages.first + p - base);
  }

private:
  Asked& asked_;
};

Asked foreseen(const policy::Future& future) {
  Asked all;
  for (const auto& [id, tensor] : future.tensors())
    for (const auto& use : tensor.uses)
      for (std::uint64_t p = use.first; p < use.past(); ++p)
        all[{use.step, id}].insert(p);
  return all;
}

/// Weights that stay, activations that come, are used and go; copies between.
std::vector<stream::Record> drawn(std::uint64_t seed) {
  RandomStream random(seed, "foresight");
  std::vector<stream::Record> records;
  const auto add = [&](const stream::Record& record) { records.push_back(record); };
  stream::TensorId next = 10;
  std::vector<stream::TensorId> alive;
  for (stream::TensorId w = 0; w < 6; ++w) {
    add(tensor(w, 12_MiB, stream::Role::weight));
    alive.push_back(w);
  }
  for (std::uint64_t k = 0; k < 60; ++k) {
    if (random.next_below(3) == 0) {
      add(tensor(next, 8_MiB));
      alive.push_back(next++);
    }
    std::vector<stream::Access> accesses;
    for (std::uint64_t a = 0; a < 1 + random.next_below(3); ++a) {
      const auto id = alive[random.next_below(alive.size())];
      const Bytes bytes{(1 + random.next_below(8)) << 20};
      accesses.push_back(random.next_below(3) == 0 ? writes(id, bytes) : reads(id, bytes));
    }
    if (k % 10 == 9)
      add(copy(k, stream::CopyKind::device_to_device, {(1 + random.next_below(4)) << 20}));
    else
      add(kernel(k, accesses));
    if (alive.size() > 9) {
      add(stream::Free{alive[6]});
      alive.erase(alive.begin() + 6);
    }
  }
  return records;
}

/// Rows of 160 KiB come one by one and are read for a while; then most of them are freed, in any
/// order, between scans of a weight that push them out of the L2.
std::vector<stream::Record> drawn_in_parts(std::uint64_t seed) {
  constexpr std::uint64_t kRow = 160 << 10, kRows = 60, kKept = 12;
  RandomStream random(seed, "foresight");
  std::vector<stream::Record> records = {tensor(1, 24_MiB, stream::Role::weight),
                                         tensor(2, {kRows * kRow}, stream::Role::kv_key)};
  const auto add = [&](const stream::Record& record) { records.push_back(record); };
  std::vector<std::uint64_t> alive;
  for (std::uint64_t row = 0; row < kRows; ++row) {
    alive.push_back(row);
    std::vector<stream::Access> accesses = {writes(2, {kRow}, row * kRow)};
    for (const std::uint64_t old : alive)
      if (old != row && random.next_below(2) == 0) accesses.push_back(reads(2, {kRow}, old * kRow));
    add(kernel(2 * row, accesses));
    add(kernel(2 * row + 1, {reads(1, {(1 + random.next_below(24)) << 20})}));
    while (alive.size() > kKept) {
      const auto gone = static_cast<std::ptrdiff_t>(random.next_below(alive.size()));
      add(stream::Free{2, alive[gone] * kRow, Bytes{kRow}});
      alive.erase(alive.begin() + gone);
    }
  }
  return records;
}

} // namespace

TEST_CASE(
    "of a trace that frees parts of tensors just the pages are asked for that were foreseen") {
  Asked asked;
  hw::Scenario scenario = machine();
  scenario.policies.front() = std::make_unique<Spy>(asked);
  const auto records = drawn_in_parts(5);
  const auto futures = hw::foresee(scenario, {tenant_of(records)});
  const Outcome run = replay(std::move(scenario), records);
  REQUIRE(run.unbalanced() == "");
  CHECK(run.platform->brain(0).counters().reclaimed_pages > 30);
  CHECK(foreseen(*futures.front()) == asked);
}

TEST_CASE("on one stream each operation asks for just the pages that were foreseen of it") {
  // An L2 of 32 MiB under 72 MiB of weights: hits, misses, write-backs and their owners all count.
  Asked asked;
  hw::Scenario scenario = machine();
  scenario.policies.front() = std::make_unique<Spy>(asked);
  const auto records = drawn(1);
  const auto futures = hw::foresee(scenario, {tenant_of(records)});
  const Outcome run = replay(std::move(scenario), records);
  REQUIRE(run.unbalanced() == "");
  CHECK(asked.size() > 60);
  CHECK(foreseen(*futures.front()) == asked);
}

TEST_CASE("a trace replayed again is foreseen again, with what it left alive") {
  Asked asked;
  hw::Scenario scenario = machine(R"({"replay": {"repeat": 3}})");
  scenario.policies.front() = std::make_unique<Spy>(asked);
  const auto records = drawn(2);
  const auto futures = hw::foresee(scenario, {tenant_of(records)});
  const Outcome run = replay(std::move(scenario), records);
  CHECK(futures.front()->steps() == 180);
  CHECK(foreseen(*futures.front()) == asked);
}

TEST_CASE("tenants' tensors have the same numbers whoever is faster") {
  // Two tenants of different length share L2 and HBM: which pages miss depends on who is when,
  // whose they are does not.
  Asked asked;
  hw::Scenario scenario = machine();
  scenario.policies.front() = std::make_unique<Spy>(asked);
  const auto one = drawn(3);
  auto two = drawn(4);
  two.resize(two.size() / 2);
  const auto futures = hw::foresee(scenario, {tenant_of(one), tenant_of(two)});
  const Outcome run = replay_tenants(std::move(scenario), {one, two});
  std::set<stream::TensorId> known, met;
  for (const auto& [id, tensor] : futures.front()->tensors())
    known.insert(id);
  for (const auto& [key, pages] : asked) {
    CHECK(known.count(key.second) == 1);
    met.insert(key.second);
  }
  CHECK(met.size() > 12);
}

} // namespace umf::test
