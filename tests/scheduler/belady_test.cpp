#include "model/base/random.h"
#include "model/policy/future.h"
#include "model/scheduler/brain.h"
#include "tests/policy/ground.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <vector>

/// `belady` against the optimum found by trying everything, and against `lru`: one weight, of
/// which HBM holds a part, and accesses to a page each that are served one after the other.
namespace umf::test {

using policy::Future;
using Sequence = std::vector<std::uint64_t>; ///< pages of the tensor

namespace {

constexpr std::uint64_t kPool = 64; // frames: more than any tensor here has pages

/// The machine's side, without time: faults are served and commands done as soon as they come.
class Pager {
public:
  Pager(std::unique_ptr<policy::Policy> policy, std::uint64_t hbm, std::uint64_t pages,
        std::shared_ptr<const Future> future = nullptr)
      : hbm_(hbm), pool_(kPool), brain_(ground(), std::move(policy)) {
    if (future) brain_.foresee(std::move(future));
    stream::Tensor tensor;
    tensor.id = 1;
    tensor.role = stream::Role::weight;
    tensor.bytes = {pages * kPage.count};
    brain_.declare(tensor);
    brain_.preload(1);
  }

  void access(std::uint64_t page, policy::StepNumber step) {
    const std::uint64_t address = brain_.space().at(1).base + page * kPage.count;
    std::vector<memory::PageRun> runs;
    const auto again = [&] {
      runs.clear();
      brain_.again(address, kPage, false, {}, runs, step);
    };
    brain_.touch(address, kPage, false, {}, runs, step);
    for (int patience = 100; runs.front().state == memory::PageState::suspended; --patience) {
      REQUIRE(patience > 0);
      brain_.serve_faults(256, {});
      while (const auto command = brain_.next_command()) {
        brain_.suspend(*command);
        brain_.quiesced(*command);
        again();
        brain_.completed(*command);
        brain_.make_room();
      }
      again();
    }
  }

  std::uint64_t fetches() const { return brain_.counters().promotions; }
  std::uint64_t read_outside() const { return brain_.counters().remote_hits; }

private:
  policy::Ground ground() {
    return {kPage,
            {{"hbm", policy::TierClass::hbm, &hbm_}, {"pool", policy::TierClass::pool, &pool_}}};
  }
  memory::FrameAllocator hbm_, pool_;
  scheduler::Brain brain_;
};

std::shared_ptr<const Future> future_of(const Sequence& sequence) {
  auto future = std::make_shared<Future>();
  for (policy::StepNumber step = 0; step < sequence.size(); ++step) {
    future->issue(step, 0);
    future->use(1, step, sequence[step], 1, kPage);
  }
  return future;
}

Pager played(const std::string& policy, const std::string& keys, const Sequence& sequence,
             std::uint64_t hbm, std::uint64_t pages, bool told = true) {
  auto made = make_policy(R"({"name": ")" + policy + R"(", "hbm_reserve_ratio": 0, )" + keys + "}");
  return {std::move(made), hbm, pages, told ? future_of(sequence) : nullptr};
}

struct Count {
  std::uint64_t fetches = 0, outside = 0;
};

Count count(const std::string& policy, const std::string& keys, const Sequence& sequence,
            std::uint64_t hbm, std::uint64_t pages, bool told = true) {
  Pager pager = played(policy, keys, sequence, hbm, pages, told);
  for (policy::StepNumber step = 0; step < sequence.size(); ++step)
    pager.access(sequence[step], step);
  return {pager.fetches(), pager.read_outside()};
}

/// Fewest accesses that do not find their page, whatever is done: a set of pages in HBM is a
/// state, and each miss may put its page in the place of any other, or of none with `bypass`.
std::uint64_t optimum(const Sequence& sequence, std::uint64_t hbm, bool bypass) {
  std::map<std::uint64_t, std::uint64_t> least{{(std::uint64_t{1} << hbm) - 1, 0}};
  for (const std::uint64_t page : sequence) {
    std::map<std::uint64_t, std::uint64_t> next;
    const auto reach = [&](std::uint64_t state, std::uint64_t misses) {
      const auto [at, fresh] = next.try_emplace(state, misses);
      if (!fresh) at->second = std::min(at->second, misses);
    };
    const std::uint64_t bit = std::uint64_t{1} << page;
    for (const auto& [state, misses] : least) {
      if ((state & bit) != 0) {
        reach(state, misses);
        continue;
      }
      if (bypass) reach(state, misses + 1);
      for (std::uint64_t out = 0; out < 64; ++out)
        if ((state >> out & 1) != 0) reach((state & ~(std::uint64_t{1} << out)) | bit, misses + 1);
    }
    least = std::move(next);
  }
  std::uint64_t best = UINT64_MAX;
  for (const auto& [state, misses] : least)
    best = std::min(best, misses);
  return best;
}

Sequence drawn(RandomStream& random, std::uint64_t pages, std::uint64_t length) {
  Sequence sequence;
  for (std::uint64_t i = 0; i < length; ++i)
    sequence.push_back(random.next_below(pages));
  return sequence;
}

const std::string kMin = R"("block": "64KiB", "bypass": false)";
const std::string kBypass = R"("block": "64KiB", "bypass": true)";
const std::string kLru = R"("block": "64KiB")";

} // namespace

TEST_CASE("belady without bypass fetches as few pages as any demand paging can") {
  RandomStream random(1, "belady optimum");
  for (int round = 0; round < 150; ++round) {
    const std::uint64_t hbm = 1 + random.next_below(4), pages = hbm + 1 + random.next_below(4);
    const Sequence sequence = drawn(random, pages, 5 + random.next_below(30));
    CAPTURE(round, hbm, pages, sequence);
    const Count counted = count("belady", kMin, sequence, hbm, pages);
    CHECK(counted.fetches == optimum(sequence, hbm, false));
    CHECK(counted.outside == 0);
  }
}

TEST_CASE("belady with bypass misses as seldom as anything can") {
  RandomStream random(2, "belady optimum with bypass");
  for (int round = 0; round < 150; ++round) {
    const std::uint64_t hbm = 1 + random.next_below(4), pages = hbm + 1 + random.next_below(4);
    const Sequence sequence = drawn(random, pages, 5 + random.next_below(30));
    CAPTURE(round, hbm, pages, sequence);
    const Count counted = count("belady", kBypass, sequence, hbm, pages);
    CHECK(counted.fetches + counted.outside == optimum(sequence, hbm, true));
    CHECK(counted.fetches <= count("belady", kMin, sequence, hbm, pages).fetches);
  }
}

TEST_CASE("belady never fetches more than lru, whatever the trace and the block") {
  RandomStream random(3, "belady against lru");
  for (int round = 0; round < 200; ++round) {
    const std::uint64_t hbm = 2 * (1 + random.next_below(8));
    const std::uint64_t pages = std::min<std::uint64_t>(hbm + 2 * random.next_below(12), 48);
    const Sequence sequence = drawn(random, pages, 20 + random.next_below(200));
    CAPTURE(round, hbm, pages);
    for (const std::string block : {R"("block": "64KiB")", R"("block": "128KiB")"}) {
      const Count min = count("belady", block + R"(, "bypass": false)", sequence, hbm, pages);
      const Count lru = count("lru", block, sequence, hbm, pages);
      CHECK(min.fetches <= lru.fetches);
      const Count free = count("belady", block, sequence, hbm, pages);
      CHECK(free.fetches <= min.fetches);
    }
  }
}

TEST_CASE("a cyclic scan one page beyond HBM is the worst for lru and nearly nothing for belady") {
  // 4 pages in turn, 3 in HBM, 10 turns. LRU throws out what comes next: all but the first 3
  // accesses miss, 37. MIN misses once for every 3 accesses (what was just used is wanted last,
  // so 2 others stay): (40 - 3) / 3, rounded up, 13.
  Sequence sequence;
  for (std::uint64_t i = 0; i < 40; ++i)
    sequence.push_back(i % 4);
  CHECK(count("lru", kLru, sequence, 3, 4).fetches == 37);
  CHECK(count("belady", kMin, sequence, 3, 4).fetches == 13);
  // With bypass the same three stay and the fourth is read outside, once a turn.
  const Count bypass = count("belady", kBypass, sequence, 3, 4);
  CHECK(bypass.fetches == 0);
  CHECK(bypass.outside == 10);
}

TEST_CASE("belady without a future is lru") {
  RandomStream random(4, "belady untold");
  for (int round = 0; round < 20; ++round) {
    const Sequence sequence = drawn(random, 9, 100);
    CHECK(count("belady", kMin, sequence, 5, 9, false).fetches ==
          count("lru", kLru, sequence, 5, 9).fetches);
  }
}

TEST_CASE("a future that is wrong costs fetches, not the run") {
  // The future of another sequence, shorter than the run, and of another tensor.
  RandomStream random(5, "belady misled");
  for (int round = 0; round < 50; ++round) {
    const Sequence told = drawn(random, 9, 30), real = drawn(random, 9, 60);
    Pager pager = played("belady", kMin, told, 4, 9);
    for (policy::StepNumber step = 0; step < real.size(); ++step)
      pager.access(real[step], step);
    CHECK(pager.fetches() <= real.size());
  }
}

} // namespace umf::test
