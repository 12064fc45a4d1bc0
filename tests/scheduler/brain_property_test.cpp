#include "tests/scheduler/reference_machine.h"

#include "model/base/json.h"
#include "model/policy/registry.h"

#include <catch2/catch.hpp>

#include <string>

using namespace umf;
using namespace umf::test;

namespace {

std::unique_ptr<policy::Policy> make_of(const std::string& json) {
  KeyContext context;
  auto made = policy::kind_named("umf").make(parse_json(json, "p.json"), context);
  context.throw_if_faulty();
  return made;
}

std::unique_ptr<policy::Policy> make(const std::string& name, const std::string& block) {
  // However seldom its moves come to something, it keeps looking.
  const std::string eager =
      name == "umf" ? R"(", "patience": 1, "spread_least": "64KiB"})" : R"("})";
  const JsonValue object =
      parse_json(R"({"name": ")" + name + R"(", "block": ")" + block + eager, "p.json");
  for (const policy::Kind& kind : policy::kinds()) {
    if (kind.info->name != "policy." + name) continue;
    KeyContext context;
    auto made = kind.make(object, context);
    context.throw_if_faulty();
    return made;
  }
  return nullptr;
}

/// Pages of KV caches in the pool leave it after 200 operations without an access while fewer than
/// 20 of its 30 frames are free.
const std::string kCollecting =
    R"({"name":"umf","block":"128KiB","patience":1,"spread":false,"gc":"kv","gc_threshold":"1280KiB",)"
    R"("gc_window":"200us","gc_pause":"50us"})";

/// 80,000 operations. Ownership is counted after each, data is checked at each access, and all of
/// it whenever everything in flight has ended.
void weather(ReferenceMachine& machine) {
  for (int step = 0; step < 80'000; ++step) {
    CAPTURE(step);
    REQUIRE_NOTHROW(machine.step());
    REQUIRE_NOTHROW(machine.check_ownership());
    if (step % 5'000 != 4'999) continue;
    REQUIRE_NOTHROW(machine.drain());
    REQUIRE_NOTHROW(machine.check_every_page());
  }
}

} // namespace

TEST_CASE("no interleaving of accesses and moves loses a page or its data") {
  // 4 × 80,000 operations (and 12 × 60,000 below: a million and more); ownership is counted after
  // each, data is checked at each access.
  const std::uint64_t seed = GENERATE(1u, 2u, 3u, 4u);
  CAPTURE(seed);
  ReferenceMachine machine(seed);
  weather(machine);
  // The dice did try what they are for.
  CHECK(machine.moves() > 300);
  CHECK(machine.refusals() > 80);
  CHECK(machine.parked() > 300);
  CHECK(machine.full_queues() > 100);
  CHECK(machine.raced() > 100);
  CHECK(machine.pages_reclaimed() > 50);
  const auto& counters = machine.brain().counters();
  CHECK(counters.commands == counters.refused + counters.completed);
  CHECK(counters.completed == machine.moves());
  CHECK(counters.refused == machine.refusals());
  CHECK(counters.reclaimed_pages == machine.pages_reclaimed());

  machine.release_all();
  for (policy::TierIndex tier = 0; tier < 3; ++tier) {
    CHECK(machine.used(tier) == 0);
    CHECK(machine.brain().table().resident(tier) == 0);
  }
  CHECK(machine.brain().table().runs() == 0);
}

TEST_CASE("no interleaving of staged writes, reads and moves tears a page or loses a write") {
  // A staging buffer of three pages, so that it is often full; writes of half pages join others.
  const bool forward = GENERATE(false, true);
  const std::uint64_t seed = GENERATE(1u, 2u);
  CAPTURE(forward, seed);
  ReferenceMachine machine(seed, nullptr, {43, 40, 40},
                           {scheduler::PoolWrites::staged, forward, {3 * kPage.count}});
  weather(machine);
  const auto& counters = machine.brain().counters();
  CHECK(counters.syncs > 1000);
  CHECK(counters.joined > 10);
  CHECK(counters.crowded > 100);
  CHECK((machine.forwarded() > 100) == forward);
  machine.release_all();
  CHECK(machine.used(0) == 3); // the buffer
  CHECK(machine.used(1) == 0);
}

TEST_CASE(
    "no interleaving of packing, unpacking, staged writes and moves loses a page or its data") {
  // Every third tensor is a KV cache of BF16, whose pages are packed and unpacked on the way.
  const std::uint64_t seed = GENERATE(1u, 2u);
  CAPTURE(seed);
  ReferenceMachine machine(seed, std::make_unique<RestlessPolicy>(seed, true), {43, 40, 40},
                           {scheduler::PoolWrites::staged, true, {3 * kPage.count}});
  weather(machine);
  CHECK(machine.brain().counters().packed > 100);
  CHECK(machine.brain().counters().unpacked > 100);
  CHECK(machine.brain().counters().syncs > 100);
  machine.release_all();
  CHECK(machine.used(0) == 3); // the staging buffer
  CHECK(machine.used(1) == 0);
  CHECK(machine.used(2) == 0);
}

TEST_CASE("no interleaving of collection, faults and accesses loses a page or its data") {
  // HBM of 4 frames: what comes back goes there or to the pool, or is mapped where it is.
  const bool staged = GENERATE(false, true);
  const std::uint64_t seed = GENERATE(1u, 2u, 3u);
  CAPTURE(staged, seed);
  scheduler::Coherence coherence;
  if (staged) coherence = {scheduler::PoolWrites::staged, true, {2 * kPage.count}};
  ReferenceMachine machine(seed, make_of(kCollecting), {16, 30, 60}, coherence);
  weather(machine);
  const policy::Collections& gc = *machine.brain().collections();
  const auto& counters = machine.brain().counters();
  CHECK(gc.runs > 50);
  CHECK(gc.freed > 200);
  CHECK(gc.regret > 50);
  CHECK(gc.regret <= gc.freed);
  CHECK(gc.faults <= gc.regret);
  CHECK(gc.faults == counters.faults); // nothing else has no mapping
  CHECK(counters.commands == counters.refused + counters.completed);
  machine.release_all();
  CHECK(machine.used(0) == machine.brain().staging_frames(0));
  CHECK(machine.used(1) == 0);
  CHECK(machine.used(2) == 0);
}

TEST_CASE("paging on an HBM smaller than one access loses no page and starves nobody") {
  // Accesses are of up to 12 pages. HBM has 4 frames, or one, which whoever writes must have to
  // itself for once; a block is one page, or as large as HBM, or larger.
  const auto [name, block, frames] =
      GENERATE(table<std::string, std::string, std::uint64_t>({{"lru", "64KiB", 4},
                                                               {"lru", "256KiB", 4},
                                                               {"lru", "2MiB", 4},
                                                               {"lru", "64KiB", 1},
                                                               {"umf", "64KiB", 4},
                                                               {"umf", "256KiB", 4}}));
  const std::uint64_t seed = GENERATE(1u, 2u);
  CAPTURE(name, block, frames, seed);
  ReferenceMachine machine(seed, make(name, block), {frames, 60, 10});
  for (int step = 0; step < 60'000; ++step) {
    CAPTURE(step);
    REQUIRE_NOTHROW(machine.step());
    REQUIRE_NOTHROW(machine.check_ownership());
    if (step % 2'500 != 2'499) continue;
    REQUIRE_NOTHROW(machine.drain());
    REQUIRE(machine.in_use() == 0);
    REQUIRE_NOTHROW(machine.check_every_page());
  }
  const auto& counters = machine.brain().counters();
  CHECK(counters.commands == counters.refused + counters.completed);
  if (name == "lru") {
    CHECK(counters.faults > 800);
    CHECK(counters.demotions > 300);
    CHECK(counters.refused == 0);
    // There are 60 pages at most, and as many frames and ten outside, at least five of them free
    // in one tier when four pages are in HBM or on their way out: everything can be exchanged.
    CHECK(counters.unmet == 0);
    CHECK(counters.remote_hits == 0);
  } else {
    CHECK(counters.faults == 0);
    CHECK(counters.completed > 10);
  }
  machine.release_all();
  for (policy::TierIndex tier = 0; tier < 3; ++tier)
    CHECK(machine.used(tier) == 0);
}

TEST_CASE("links that go bad at random times lose no page, and what is read only stays so") {
  // 1000 seeds of 800 operations under every policy that can be met at random, writes staged for
  // every second; each ends with all of it drained, checked and given back.
  const std::string name = GENERATE(as<std::string>(), "", "lru", "umf", "remote-read");
  CAPTURE(name);
  std::uint64_t entered = 0, forced = 0, writes = 0, declined = 0;
  for (std::uint64_t seed = 1; seed <= 250; ++seed) {
    CAPTURE(seed);
    const bool staged = seed % 2 == 0;
    const scheduler::Coherence coherence{staged ? scheduler::PoolWrites::staged
                                                : scheduler::PoolWrites::direct,
                                         seed % 4 == 0,
                                         {2 * kPage.count}};
    std::unique_ptr<policy::Policy> policy;
    KeyContext context;
    if (name == "remote-read")
      policy = policy::kind_named(name).make(parse_json(R"({"name":"remote-read"})", "p"), context);
    else if (!name.empty())
      policy = make(name, "64KiB");
    // Tight: HBM and host together do not hold all 60 pages.
    ReferenceMachine machine(seed, std::move(policy), {20, 50, name.empty() ? 50u : 20u},
                             coherence);
    machine.shake_link();
    for (int step = 0; step < 800; ++step) {
      CAPTURE(step);
      REQUIRE_NOTHROW(machine.step());
      if (step % 10 == 0) REQUIRE_NOTHROW(machine.check_ownership());
    }
    REQUIRE_NOTHROW(machine.drain());
    REQUIRE_NOTHROW(machine.check_every_page());
    const auto& counters = machine.brain().counters().degrade;
    for (const std::uint64_t times : counters.entered)
      entered += times;
    forced += counters.forced_pages;
    writes += counters.forced_writes;
    declined += counters.declined;
    machine.release_all();
    CHECK(machine.used(1) == 0);
    CHECK(machine.used(2) == 0);
  }
  // The dice did try what they are for: few pages lie outside for `lru`, which pages.
  CHECK(entered > 500);
  CHECK(writes > (name == "lru" ? 1 : 100));
  CHECK(forced + declined > 20);
}
