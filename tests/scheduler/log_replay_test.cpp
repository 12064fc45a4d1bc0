#include "tests/scheduler/carry_out.h"
#include "tests/scheduler/logged.h"
#include "tests/scheduler/reference_machine.h"

#include "model/base/json.h"
#include "model/policy/registry.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

/// A run written down and played back gives the same commands, whatever the machine did.
using namespace umf;
using namespace umf::test;
using namespace umf::scheduler;

namespace {

std::unique_ptr<policy::Policy> made(const std::string& json) {
  const JsonValue object = parse_json(json, "p.json");
  KeyContext context;
  auto policy = policy::kind_named(object.find(policy::kNameKey)->text()).make(object, context);
  context.throw_if_faulty();
  return policy;
}

/// Steps of the reference machine; its log, and how its brain stands at the end.
struct Logged {
  std::string bytes;
  Counters counters;

  Logged(std::uint64_t seed, const std::string& policy, std::vector<std::uint64_t> frames,
         Coherence coherence, int steps, bool packs = false) {
    ReferenceMachine machine(seed,
                             policy.empty() ? std::unique_ptr<policy::Policy>(
                                                  std::make_unique<RestlessPolicy>(seed, packs))
                                            : made(policy),
                             std::move(frames), coherence);
    machine.shake_link();
    LogHeader header = header_of(machine.brain().ground(), {policy}, coherence);
    header.degrading = ReferenceMachine::kDegrading;
    LogWriter writer(header, into(bytes));
    machine.tap(&writer.gpu(0));
    for (int step = 0; step < steps; ++step)
      machine.step();
    machine.drain();
    machine.release_all();
    writer.finish();
    counters = machine.brain().counters();
  }
};

void check_same(const Logged& run, const LogReplayOptions& options = {}) {
  const LogResult result = replayed(run.bytes, options);
  CHECK(result.difference == "");
  REQUIRE(result.counters.size() == 1);
  CHECK(result.counters[0] == run.counters);
  CHECK(result.commands == run.counters.commands);
  CHECK(result.events > result.commands);
}

const std::string kUmf =
    R"({"name":"umf","block":"64KiB","patience":1,"spread_least":"64KiB","promotion":"both",)"
    R"("pack":"both","sensor_window":"10us"})";
/// Collects from the pool and tunes itself.
const std::string kLoops =
    R"({"name":"umf","block":"64KiB","patience":1,"spread":false,"gc":"kv","gc_threshold":"3MiB",)"
    R"("gc_window":"200us","gc_pause":"50us","tuner":true,"tuner_period":"100us","tuner_calm":"1ms"})";

} // namespace

TEST_CASE("what a machine did at random under any policy is decided again from its log") {
  const std::string policy =
      GENERATE(std::string(R"({"name":"lru","block":"128KiB"})"), kUmf,
               std::string(R"({"name":"static","hbm_share":{"weight":0.5}})"),
               std::string(R"({"name":"remote-read"})"), kLoops);
  const bool staged = GENERATE(false, true);
  CAPTURE(policy, staged);
  Coherence coherence;
  if (staged) coherence = {PoolWrites::staged, true, {2 * kPage.count}};
  // HBM is short; the staging buffer takes an eighth of it at most.
  const Logged run(1, policy, {16, 60, 60}, coherence, 20'000);
  check_same(run);
  CHECK(run.counters.touches > 1000);
  if (policy.find("lru") != std::string::npos) CHECK(run.counters.faults > 100);
  if (policy == kLoops) CHECK(run.counters.faults > 0); // of collected pages
  if (policy.find("static") != std::string::npos) CHECK((run.counters.syncs > 100) == staged);
}

TEST_CASE("moves, packing, staged writes and frees in any order are decided again from the log") {
  const bool packs = GENERATE(false, true);
  const std::uint64_t seed = GENERATE(1u, 2u);
  CAPTURE(packs, seed);
  const Logged run(seed, "", {43, 40, 40}, {PoolWrites::staged, true, {3 * kPage.count}}, 40'000,
                   packs);
  LogReplayOptions options; // no scenario can name this policy
  options.policy = [&](const std::string&, std::uint32_t) {
    return std::make_unique<RestlessPolicy>(seed, packs);
  };
  check_same(run, options);
  CHECK(run.counters.commands > 500);
  CHECK(run.counters.refused > 50);
  CHECK(run.counters.syncs > 100);
  CHECK(run.counters.reclaimed_pages > 10);
  CHECK((run.counters.packed > 50) == packs);
}

TEST_CASE("brains that share frames have one log, whose order decides who gets which") {
  // Two GPUs with four frames of HBM each, that page on one pool, now the one, now the other.
  const std::string lru = R"({"name":"lru","block":"64KiB"})";
  const std::vector<std::string> policies = {lru, kUmf};
  memory::FrameAllocator hbm[2] = {memory::FrameAllocator(4), memory::FrameAllocator(4)}, none(0);
  memory::FrameAllocator pool(40);
  LogHeader header;
  header.page = kPage;
  header.tiers = {{"gpu0.hbm", policy::TierClass::hbm, 4},
                  {"gpu1.hbm", policy::TierClass::hbm, 4},
                  {"cxl", policy::TierClass::pool, 40}};
  header.gpus = {{policies[0], {{true, {}}, {false, {}}, {true, {}}}},
                 {policies[1], {{false, {}}, {true, {}}, {true, {}}}}};
  std::string bytes;
  LogWriter writer(header, into(bytes));
  std::vector<std::unique_ptr<Brain>> brains;
  for (std::uint32_t g = 0; g < 2; ++g) {
    policy::Ground ground{kPage, {}};
    for (std::uint32_t t = 0; t < 2; ++t)
      ground.tiers.push_back(
          {header.tiers[t].name, policy::TierClass::hbm, t == g ? &hbm[t] : &none});
    ground.tiers.push_back({"cxl", policy::TierClass::pool, &pool});
    brains.push_back(std::make_unique<Brain>(ground, made(policies[g])));
    brains.back()->tap(&writer.gpu(g));
  }
  RandomStream random(1, "two brains");
  std::vector<PageRun> runs;
  Femtoseconds now{};
  constexpr std::uint64_t kPages = 16; // of each GPU's tensor: 32 of 48 frames
  for (auto& brain : brains) {
    stream::Tensor tensor;
    tensor.role = stream::Role::weight;
    tensor.bytes = {kPages * kPage.count};
    brain->declare(tensor);
  }
  for (int access = 0; access < 4'000; ++access) {
    Brain& brain = *brains[random.next_below(2)];
    now += 1000_ns;
    const std::uint64_t page = random.next_below(kPages), pages = 1 + random.next_below(3);
    runs.clear();
    brain.touch(brain.space().at(0).base + page * kPage.count,
                {std::min(pages, kPages - page) * kPage.count}, random.next_below(4) == 0, now,
                runs);
    carry_out(brain, now, 8);
  }
  writer.finish();

  const LogResult result = replayed(bytes);
  CHECK(result.difference == "");
  REQUIRE(result.counters.size() == 2);
  for (std::size_t g = 0; g < 2; ++g) {
    CHECK(result.counters[g] == brains[g]->counters());
    CHECK(brains[g]->counters().commands > 100);
  }
}
