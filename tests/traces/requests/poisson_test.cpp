#include "tests/traces/requests/reading.h"
#include "traces/requests/poisson.h"

#include <catch2/catch.hpp>

using namespace umf;
using namespace umf::test;

namespace {

std::vector<stream::Request> drawn(const serving::PoissonConfig& config, std::uint64_t seed) {
  return read_requests(
             [&] { return std::make_unique<traces::requests::PoissonSource>(config, seed); })
      .requests;
}

} // namespace

TEST_CASE("requests arrive at the rate and with the lengths asked for") {
  serving::PoissonConfig config;
  config.rate = {4.0};
  config.requests = 40000;
  const auto requests = drawn(config, 1);
  REQUIRE(requests.size() == 40000);
  double in = 0, out = 0;
  for (const auto& request : requests) {
    in += request.prompt_tokens;
    out += request.output_tokens;
  }
  // Means of 40,000 draws: their standard deviation is 1 / sqrt(40000) = 0.5 % of the mean for
  // gaps and, at a spread of 0.5, sqrt(exp(0.25) - 1) / 200 = 0.27 % for lengths. Four of them:
  CHECK(static_cast<double>(requests.back().arrival_ns) / 1e9 == Approx(10000).epsilon(0.02));
  CHECK(in / 40000 == Approx(1024).epsilon(0.011));
  CHECK(out / 40000 == Approx(256).epsilon(0.011));
}

TEST_CASE("the same seed draws the same, another one other requests") {
  serving::PoissonConfig config;
  config.requests = 10;
  const auto ends = [&](std::uint64_t seed) { return drawn(config, seed).back().arrival_ns; };
  CHECK(ends(1) == ends(1));
  CHECK(ends(1) != ends(2));
}

TEST_CASE("without spread all lengths are alike") {
  serving::PoissonConfig config;
  config.requests = 5;
  config.spread = 0;
  for (const auto& request : drawn(config, 3)) {
    CHECK(request.prompt_tokens == 1024);
    CHECK(request.output_tokens == 256);
  }
}
