#include "model/serving/outcome.h"

#include <catch2/catch.hpp>

using namespace umf;
using namespace umf::serving;

TEST_CASE("percentiles are by nearest rank") {
  std::vector<double> values;
  for (int i = 100; i >= 1; --i)
    values.push_back(i);
  const Spread spread = spread_of(values);
  CHECK(spread.p50 == 50);
  CHECK(spread.p95 == 95);
  CHECK(spread.p99 == 99);
  CHECK(spread.max == 100);
  CHECK(spread.mean == Approx(50.5));
  CHECK(spread_of({7}).p50 == 7);
  CHECK(spread_of({}).max == 0);
}

TEST_CASE("a request counts as kept when both of its class's promises were") {
  const std::vector<ServiceClass> classes = {parse_class("chat 1 100ms 10ms")};
  Outcome outcome;
  outcome.output_tokens = 11;
  outcome.arrival_ns = 0;
  outcome.first_token_ns = 100'000'000; // 100 ms
  outcome.end_ns = 200'000'000;         // ten gaps of 10 ms
  const auto kept = [&] { return latency_of({outcome}, classes).kept; };
  CHECK(outcome.tpot_ns() == 1e7);
  CHECK(kept() == 1);
  ++outcome.end_ns;
  CHECK(kept() == 0);
  --outcome.end_ns;
  --outcome.arrival_ns; // one nanosecond longer to the first token
  CHECK(kept() == 0);
}

TEST_CASE("requests that are not done are in no figure, and classes are told apart") {
  const std::vector<ServiceClass> classes = {parse_class("a 0.5 1s 1s"),
                                             parse_class("b 0.5 1s 1s")};
  Outcome open, done;
  done.service_class = 1;
  done.output_tokens = 1;
  done.first_token_ns = done.end_ns = 5'000'000;
  CHECK(latency_of({open, done}, classes).requests == 1);
  CHECK(latency_of({open, done}, classes, 0).requests == 0);
  CHECK(latency_of({open, done}, classes, 1).ttft_ms.p50 == 5.0);
  CHECK(latency_of({open, done}, classes, 1).tpot_ms.max == 0.0); // one token has no gap
}
