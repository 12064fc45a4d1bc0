#include "tests/support/shared_data.h"
#include "tests/traces/requests/reading.h"
#include "traces/requests/azure.h"

#include <catch2/catch.hpp>

using namespace umf;
using namespace umf::test;
using traces::requests::AzureReader;

namespace {

RequestFile read(const std::string& text) {
  return read_requests(
      [&] { return std::make_unique<AzureReader>(traces::io::Input::from_memory("a.csv", text)); });
}

const std::string kHeader = "TIMESTAMP,ContextTokens,GeneratedTokens\r\n";

} // namespace

TEST_CASE("Azure's code trace is read to its last line, which has no end") {
  const auto path = shared_file("data/traces/requests/AzureLLMInferenceTrace_code.csv");
  if (!path) return;
  const RequestFile file = read_requests([&] { return std::make_unique<AzureReader>(*path); });
  CHECK(file.fault.empty());
  // formats.md, section 6: 8,819 requests, 2,048 tokens in and 27.9 out in the mean.
  REQUIRE(file.requests.size() == 8819);
  std::uint64_t in = 0, out = 0;
  for (const auto& request : file.requests) {
    in += request.prompt_tokens;
    out += request.output_tokens;
  }
  CHECK(static_cast<double>(in) / 8819 == Approx(2048).margin(0.5));
  CHECK(static_cast<double>(out) / 8819 == Approx(27.9).margin(0.05));
  // First and last line: 18:17:03.9799600 and 19:14:19.9280160.
  CHECK(file.requests.front().arrival_ns == 0);
  CHECK(file.requests.back().arrival_ns == 3435'948'056'000);
}

TEST_CASE("times count from the first request, over midnight and a leap day") {
  const RequestFile file = read(kHeader + "2024-02-28 23:59:59.5,1,2\r\n"
                                          "2024-03-01 00:00:00,3,4");
  CHECK(file.fault.empty());
  REQUIRE(file.requests.size() == 2);
  CHECK(file.requests[1].arrival_ns == 86'400'500'000'000); // a day (the 29th) and half a second
  CHECK(file.requests[1].prompt_tokens == 3);
  CHECK(file.requests[1].output_tokens == 4);
}

TEST_CASE("a line of CSV that is no request is an error with its place") {
  const struct {
    std::string text, error;
  } wrong[] = {
      {"a,b,c\n", "a.csv:1: no header, expected \"TIMESTAMP,ContextTokens,GeneratedTokens\""},
      {kHeader + "2023-11-16 18:15:46,1\n",
       "a.csv:2: fewer than three cells, expected a time and two counts"},
      {kHeader + "2023-11-16 18:15:46,1,2,3\n",
       "a.csv:2: more than three cells, expected a time and two counts"},
      {kHeader + "2023-13-16 18:15:46,1,2\n",
       "a.csv:2: \"2023-13-16 18:15:46\" is no time, expected one like \"2023-11-16 "
       "18:15:46.6805900\""},
      {kHeader + "2023-11-16 18:15:46.,1,2\n",
       "a.csv:2: \"2023-11-16 18:15:46.\" is no time, expected one like \"2023-11-16 "
       "18:15:46.6805900\""},
      {kHeader + "2023-11-16 18:15:46,1,x\n",
       "a.csv:2: no number of tokens, expected whole numbers below 2^32"},
  };
  for (const auto& one : wrong)
    CHECK(read(one.text).fault == one.error);
}

TEST_CASE("an arrival before the one before it is counted") {
  const RequestFile file = read(kHeader + "2023-11-16 18:15:46,1,2\n2023-11-16 18:15:45,1,2\n");
  CHECK(file.oddities.at("arrival-goes-back") == 1);
  CHECK(file.requests[1].arrival_ns == 0);
}
