#include "tests/scheduler/logged.h"
#include "tests/scheduler/reference_machine.h"

#include "model/base/json.h"
#include "model/policy/registry.h"

#include <catch2/catch.hpp>

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
    LogWriter writer(header_of(machine.brain().ground(), {policy}, coherence), into(bytes));
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

} // namespace

TEST_CASE("what a machine did at random under any policy is decided again from its log") {
  const std::string policy =
      GENERATE(std::string(R"({"name":"lru","block":"128KiB"})"), kUmf,
               std::string(R"({"name":"static","hbm_share":{"weight":0.5}})"),
               std::string(R"({"name":"remote-read"})"));
  const bool staged = GENERATE(false, true);
  CAPTURE(policy, staged);
  Coherence coherence;
  if (staged) coherence = {PoolWrites::staged, true, {2 * kPage.count}};
  // HBM is short; the staging buffer takes an eighth of it at most.
  const Logged run(1, policy, {16, 60, 60}, coherence, 20'000);
  check_same(run);
  CHECK(run.counters.touches > 1000);
  if (policy.find("lru") != std::string::npos) CHECK(run.counters.faults > 100);
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
