#include "model/base/random.h"
#include "model/serving/batcher.h"

#include <catch2/catch.hpp>

#include <map>

using namespace umf;
using namespace umf::serving;

namespace {

Config small() {
  Config config;
  config.block = 4;
  config.trace_block = 4;
  config.max_batched_tokens = 8;
  config.watermark = 0;
  return config;
}

stream::Request request(std::uint64_t id, std::uint32_t prompt, std::uint32_t output,
                        std::vector<std::uint64_t> names = {}) {
  stream::Request made;
  made.id = id;
  made.prompt_tokens = prompt;
  made.output_tokens = output;
  made.prefix_blocks = std::move(names);
  return made;
}

/// A batcher whose iterations take a microsecond each.
struct Server {
  explicit Server(const Config& config, std::uint32_t blocks, std::uint32_t context = 0)
      : batcher(config, blocks, context, 1, [this](const Outcome& o) { outcomes.push_back(o); }) {}

  bool step() {
    if (!batcher.plan(now, iteration)) return false;
    now += 1000;
    batcher.finish(iteration, now);
    return true;
  }
  void run() {
    while (step()) {
    }
  }

  std::vector<Outcome> outcomes;
  Batcher batcher;
  Iteration iteration;
  std::int64_t now = 0;
};

} // namespace

TEST_CASE("a prompt is computed in chunks, and its last chunk gives the first token") {
  Server server(small(), 16);
  server.batcher.arrive(request(0, 20, 3));
  std::vector<std::uint64_t> tokens;
  while (server.step())
    tokens.push_back(server.iteration.tokens);
  // 20 tokens by 8: 8, 8, 4; then the other two output tokens one by one.
  CHECK(tokens == std::vector<std::uint64_t>{8, 8, 4, 1, 1});
  REQUIRE(server.outcomes.size() == 1);
  CHECK(server.outcomes[0].first_token_ns == 3000);
  CHECK(server.outcomes[0].end_ns == 5000);
  CHECK(server.batcher.blocks().held() == 0);
}

TEST_CASE("decoding sequences go first and prompts share what is left of an iteration") {
  Server server(small(), 16);
  server.batcher.arrive(request(0, 4, 9));
  REQUIRE(server.step());
  server.batcher.arrive(request(1, 20, 1));
  REQUIRE(server.step());
  REQUIRE(server.iteration.works.size() == 2);
  CHECK(server.iteration.works[0].decodes());
  CHECK(server.iteration.works[1].tokens == 7); // 8 less the one that decodes
  CHECK(server.iteration.works[1].past == 0);
}

TEST_CASE("a computed prefix is not computed again, but its last block is") {
  Server server(small(), 16);
  server.batcher.arrive(request(0, 8, 1, {1, 2}));
  server.run();
  server.batcher.arrive(request(1, 8, 1, {1, 2}));
  server.run();
  REQUIRE(server.outcomes.size() == 2);
  CHECK(server.outcomes[0].cached_tokens == 0);
  // Of two cached blocks the last one is computed anew: some token must give the answer.
  CHECK(server.outcomes[1].cached_tokens == 4);
  CHECK(server.batcher.counters().computed_tokens == 8 + 4);
}

TEST_CASE("blocks of a trace may be cut into smaller ones") {
  Config config = small();
  config.block = 2;
  Server server(config, 16);
  server.batcher.arrive(request(0, 8, 1, {1, 2}));
  server.run();
  server.batcher.arrive(request(1, 8, 1, {1, 3}));
  server.run();
  CHECK(server.outcomes[1].cached_tokens == 4); // both halves of block 1
}

TEST_CASE("without a prefix cache everything is computed") {
  Config config = small();
  config.prefix_cache = false;
  Server server(config, 16);
  for (std::uint64_t i = 0; i < 2; ++i) {
    server.batcher.arrive(request(i, 8, 1, {1, 2}));
    server.run();
  }
  CHECK(server.batcher.counters().computed_tokens == 16);
}

TEST_CASE("for want of blocks the last admitted starts again and loses no token") {
  Server server(small(), 4);
  server.batcher.arrive(request(0, 4, 8)); // up to three blocks each: 4 + 7 cached tokens
  server.batcher.arrive(request(1, 4, 8));
  server.run();
  REQUIRE(server.outcomes.size() == 2);
  CHECK(server.outcomes[0].id == 0);
  CHECK(server.outcomes[0].preemptions == 0);
  CHECK(server.outcomes[1].preemptions == 1);
  // Both reach 8 cached tokens (two blocks each) with five tokens given; then the first needs a
  // third block, and the second computes its 4 + 5 tokens once more.
  CHECK(server.batcher.counters().recomputed_tokens == 9);
  CHECK(server.outcomes[1].output_tokens == 8);
}

TEST_CASE("what never fits is refused, not waited for") {
  Server server(small(), 4, 20);
  server.batcher.arrive(request(0, 12, 5)); // 17 tokens: five blocks of four
  CHECK(server.batcher.counters().too_long == 1);
  server.batcher.arrive(request(1, 12, 4));
  server.run();
  CHECK(server.batcher.counters().done == 1);
  Server tight(small(), 100, 20);
  tight.batcher.arrive(request(0, 12, 9)); // 21 tokens of 20
  CHECK(tight.batcher.counters().too_long == 1);
}

TEST_CASE("better classes are admitted first, whenever they came") {
  Config config = small();
  config.classes = {"gold 0.5 1s 1s", "iron 0.5 1s 1s"};
  config.max_sequences = 1;
  Server server(config, 16);
  for (std::uint64_t i = 0; i < 4; ++i) {
    auto made = request(i, 4, 2);
    made.service_class = i < 2 ? "iron" : "gold";
    server.batcher.arrive(made);
  }
  server.run();
  std::vector<std::uint64_t> order;
  for (const Outcome& outcome : server.outcomes)
    order.push_back(outcome.id);
  CHECK(order == std::vector<std::uint64_t>{2, 3, 0, 1});
}

TEST_CASE("steady iterations done at once leave what they leave one by one") {
  const auto run = [](std::uint32_t fold) {
    Config config = small();
    config.fold_steady = fold;
    Server server(config, 64);
    for (std::uint64_t i = 0; i < 5; ++i)
      server.batcher.arrive(request(i, 3 + static_cast<std::uint32_t>(i), 20));
    while (server.batcher.plan(server.now, server.iteration)) {
      const std::uint32_t times = server.batcher.steady(server.iteration);
      server.batcher.finish(server.iteration, server.now + 1000, times, 1000);
      server.now += 1000 * times;
    }
    std::map<std::uint64_t, std::pair<std::int64_t, std::int64_t>> ends;
    for (const Outcome& outcome : server.outcomes)
      ends[outcome.id] = {outcome.first_token_ns, outcome.end_ns};
    CHECK(server.batcher.blocks().held() == 0);
    return ends;
  };
  CHECK(run(16) == run(1));
}

TEST_CASE("any requests end with every token given once and every block free") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    RandomStream random(seed, "batcher");
    Config config = small();
    config.max_batched_tokens = static_cast<std::uint32_t>(1 + random.next_below(40));
    config.max_sequences = static_cast<std::uint32_t>(1 + random.next_below(8));
    config.prefix_cache = random.next_below(4) > 0;
    config.classes = {"a 0.3 1s 1s", "b 0.7 1s 1s"};
    config.fold_steady = static_cast<std::uint32_t>(1 + random.next_below(9));
    const auto blocks = static_cast<std::uint32_t>(8 + random.next_below(40));
    Server server(config, blocks);
    std::uint64_t arrived = 0, emitted = 0, expected = 0;
    while (arrived < 80 || !server.batcher.idle()) {
      if (arrived < 80 && random.next_below(3) == 0) {
        std::vector<std::uint64_t> names;
        const auto prompt = static_cast<std::uint32_t>(1 + random.next_below(40));
        std::uint64_t name = random.next_below(3);
        for (std::uint32_t b = 0; b < prompt / 4; ++b)
          names.push_back(name = name * 7 + 1 + random.next_below(2));
        server.batcher.arrive(request(
            arrived++, prompt, static_cast<std::uint32_t>(1 + random.next_below(20)), names));
      }
      if (!server.batcher.plan(server.now, server.iteration)) continue;
      REQUIRE(server.iteration.tokens <= config.max_batched_tokens);
      const std::uint32_t times = server.batcher.steady(server.iteration);
      for (const Work& work : server.iteration.works)
        emitted += work.emits ? times : 0;
      server.batcher.finish(server.iteration, server.now + 1000, times, 1000);
      server.now += 1000 * times;
      server.batcher.blocks().prove();
    }
    for (const Outcome& outcome : server.outcomes) {
      expected += outcome.output_tokens;
      REQUIRE(outcome.admitted_ns >= 0);
      REQUIRE(outcome.first_token_ns <= outcome.end_ns);
    }
    const BatchCounters& counters = server.batcher.counters();
    CHECK(emitted == expected);
    CHECK(counters.done + counters.too_long == 80);
    CHECK(server.batcher.blocks().held() == 0);
  }
}
