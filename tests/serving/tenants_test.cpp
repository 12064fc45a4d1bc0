#include "model/base/error.h"
#include "model/serving/batcher.h"

#include <catch2/catch.hpp>

#include <map>

/// Several tenants of one server.
using namespace umf;
using namespace umf::serving;

TEST_CASE("a tenant is read, or refused with what is expected") {
  const Tenant math = parse_tenant("olympiad math 0.5Hz gold 2", 0.3);
  CHECK(math.name == "olympiad");
  CHECK(math.prompt.mean == 128);
  CHECK(math.output.mean == 1024);
  CHECK(math.rate == Hertz{0.5});
  CHECK(math.service_class == "gold");
  CHECK(math.weight == 2);
  const Tenant own = parse_tenant("own 1800/220 1Hz gold 1", 0.3);
  CHECK(own.prompt.mean == 1800);
  CHECK(own.output.mean == 220);
  CHECK(own.output.spread == 0.3);
  CHECK(parse_tenant("log trace:a.csv recorded gold 1", 0).trace == "a.csv");
  for (const char* wrong :
       {"", "a", "a math 1Hz gold", "a math 1Hz gold 1 more", "a maths 1Hz gold 1",
        "a 0/5 1Hz gold 1", "a 5/0 1Hz gold 1", "a 5/x 1Hz gold 1", "a 99999999/1 1Hz gold 1",
        "a math 0Hz gold 1", "a math 1 gold 1", "a math recorded gold 1", "a trace: recorded g 1",
        "a trace:f 1Hz gold 1", "a math 1Hz gold 0", "a math 1Hz gold 1e9", "a  math 1Hz 1"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(parse_tenant(wrong, 0.5), UserError);
  }
}

TEST_CASE("tenants of one name or of an unknown class are faults") {
  const auto is_faulty = [](std::vector<std::string> tenants) {
    Config config;
    config.tenants = std::move(tenants);
    KeyContext context;
    check(config, "/serving", context);
    return context.faulty();
  };
  CHECK_FALSE(is_faulty({"a math 1Hz default 1", "b math 1Hz default 1"}));
  CHECK(is_faulty({"a math 1Hz default 1", "a code 1Hz default 1"}));
  CHECK(is_faulty({"a math 1Hz gold 1"}));
  CHECK(is_faulty({"a math"}));
}

TEST_CASE("Jain's index is 1 of equal parts and 1/n where one has all") {
  CHECK(jain_index({}) == 1);
  CHECK(jain_index({3, 3, 3}) == Approx(1));
  CHECK(jain_index({0, 0, 5, 0}) == Approx(0.25));
  // (1 + 3)^2 / (2 (1 + 9))
  CHECK(jain_index({1, 3}) == Approx(0.8));
}

namespace {

stream::Request request(std::uint64_t id, std::uint32_t prompt, std::uint32_t output) {
  stream::Request made;
  made.id = id;
  made.prompt_tokens = prompt;
  made.output_tokens = output;
  return made;
}

/// Order in which requests end that are all there at once, one at a time. The first tenant asks for
/// everything before the second asks for anything.
std::vector<std::uint32_t> order_of(Fairness fairness, std::vector<double> weights,
                                    std::vector<std::uint32_t> requests,
                                    std::vector<std::string> classes = {"default 1 1s 1s"},
                                    std::vector<std::string> class_of = {"default", "default"}) {
  Config config;
  config.block = config.trace_block = 4;
  config.max_sequences = 1;
  config.watermark = 0;
  config.fairness = fairness;
  config.classes = std::move(classes);
  std::vector<std::uint32_t> order;
  Batcher batcher(config, 64, 0, 1, [&](const Outcome& o) { order.push_back(o.tenant); });
  batcher.set_weights(weights);
  std::uint64_t id = 0;
  for (std::uint32_t t = 0; t < requests.size(); ++t)
    for (std::uint32_t r = 0; r < requests[t]; ++r) {
      stream::Request made = request(id++, 4, 3);
      made.service_class = class_of[t];
      batcher.arrive(made, t);
    }
  Iteration iteration;
  for (std::int64_t now = 1; batcher.plan(now, iteration); ++now)
    batcher.finish(iteration, now);
  return order;
}

} // namespace

TEST_CASE("by arrival a tenant that floods goes first") {
  CHECK(order_of(Fairness::arrival, {1, 1}, {4, 2}) ==
        std::vector<std::uint32_t>{0, 0, 0, 0, 1, 1});
}

TEST_CASE("by tokens tenants take turns") {
  // A request is charged 4 + 3 · 2 = 10; at equal charges the older one goes.
  CHECK(order_of(Fairness::tokens, {1, 1}, {4, 2}) == std::vector<std::uint32_t>{0, 1, 0, 1, 0, 0});
}

TEST_CASE("by tokens a tenant of twice the weight gets twice as much") {
  // Charges: 10 each for the first, 5 for the second.
  CHECK(order_of(Fairness::tokens, {1, 2}, {3, 4}) ==
        std::vector<std::uint32_t>{0, 1, 1, 0, 1, 1, 0});
}

TEST_CASE("the better class goes first, whatever fairness says") {
  const auto fairness = GENERATE(Fairness::arrival, Fairness::tokens);
  CHECK(order_of(fairness, {1, 1}, {2, 2}, {"gold 0.5 1s 1s", "rest 0.5 1s 1s"},
                 {"rest", "gold"}) == std::vector<std::uint32_t>{1, 1, 0, 0});
}

TEST_CASE("who asked for nothing has saved up nothing") {
  Config config;
  config.block = config.trace_block = 4;
  config.max_sequences = 1;
  config.watermark = 0;
  config.fairness = Fairness::tokens;
  std::vector<std::uint32_t> order;
  Batcher batcher(config, 64, 0, 1, [&](const Outcome& o) { order.push_back(o.tenant); });
  batcher.set_weights({1, 1});
  Iteration iteration;
  std::int64_t now = 0;
  std::uint64_t id = 0;
  const auto serve = [&](std::size_t until) {
    while (order.size() < until && batcher.plan(++now, iteration))
      batcher.finish(iteration, now);
  };
  for (int r = 0; r < 8; ++r)
    batcher.arrive(request(id++, 4, 3), 0);
  serve(4); // 40 charged to the first, who still waits
  for (int r = 0; r < 4; ++r)
    batcher.arrive(request(id++, 4, 3), 1);
  serve(8);
  // The second begins at the first's charge: turns, not four in a row.
  CHECK(std::vector<std::uint32_t>(order.begin() + 4, order.end()) ==
        std::vector<std::uint32_t>{0, 1, 0, 1});
}
