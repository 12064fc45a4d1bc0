#include "tests/support/shared_data.h"
#include "tests/traces/requests/reading.h"
#include "traces/requests/mooncake.h"

#include <catch2/catch.hpp>

#include <set>

using namespace umf;
using namespace umf::test;
using traces::requests::MooncakeReader;

namespace {

RequestFile read(const std::string& text) {
  return read_requests([&] {
    return std::make_unique<MooncakeReader>(traces::io::Input::from_memory("m.jsonl", text));
  });
}

} // namespace

TEST_CASE("Mooncake's conversation trace is read to its last line") {
  const auto path = shared_file("data/traces/requests/conversation_trace.jsonl");
  if (!path) return;
  const RequestFile file = read_requests([&] { return std::make_unique<MooncakeReader>(*path); });
  CHECK(file.fault.empty());
  CHECK(file.oddities.empty());
  // formats.md, section 6: 12,031 requests in 3,537 s, mean 12,035 in and 343 out, 288,500 block
  // references, 182,790 of them distinct.
  REQUIRE(file.requests.size() == 12031);
  std::uint64_t in = 0, out = 0, references = 0;
  std::set<std::uint64_t> distinct;
  for (const auto& request : file.requests) {
    in += request.prompt_tokens;
    out += request.output_tokens;
    references += request.prefix_blocks.size();
    distinct.insert(request.prefix_blocks.begin(), request.prefix_blocks.end());
  }
  CHECK(in / 12031 == 12035);
  CHECK((out + 6015) / 12031 == 343); // rounded
  CHECK(references == 288500);
  CHECK(distinct.size() == 182790);
  CHECK(file.requests.back().arrival_ns / 1'000'000'000 == 3536);
}

TEST_CASE("a request's time, lengths and blocks are read, whatever else a line holds") {
  const RequestFile file = read("{\"timestamp\": 1.5, \"input_length\": 600, \"x\": [1, {}], "
                                "\"output_length\": 2, \"hash_ids\": [7, 8]}\n\n");
  CHECK(file.fault.empty());
  REQUIRE(file.requests.size() == 1);
  CHECK(file.requests[0].arrival_ns == 1'500'000);
  CHECK(file.requests[0].prompt_tokens == 600);
  CHECK(file.requests[0].output_tokens == 2);
  CHECK(file.requests[0].prefix_blocks == std::vector<std::uint64_t>{7, 8});
}

TEST_CASE("what a server would have met is repaired and counted") {
  const RequestFile file = read(
      "{\"timestamp\": 5, \"input_length\": 0, \"output_length\": 1, \"hash_ids\": []}\n"
      "{\"timestamp\": 4, \"input_length\": 513, \"output_length\": 0, \"hash_ids\": [1, 2]}\n"
      "{\"timestamp\": 6, \"input_length\": 512, \"output_length\": 1, \"hash_ids\": [1, 2, 3]}\n");
  CHECK(file.fault.empty());
  const std::map<std::string, std::uint64_t> odd = {
      {"arrival-goes-back", 1}, {"blocks-do-not-fit", 1}, {"empty-prompt", 1}, {"no-output", 1}};
  CHECK(file.oddities == odd);
  REQUIRE(file.requests.size() == 3);
  CHECK(file.requests[0].prompt_tokens == 1);
  CHECK(file.requests[1].arrival_ns == 5'000'000);
  CHECK(file.requests[1].output_tokens == 1);
  CHECK(file.requests[2].prefix_blocks.size() == 1);
}

TEST_CASE("a line that is no request is an error with its place") {
  const std::string good = "{\"timestamp\": 0, \"input_length\": 1, \"output_length\": 1}\n";
  const struct {
    std::string line, error;
  } wrong[] = {
      {"[1]", "m.jsonl:2: no JSON object, expected a request a line"},
      {"{\"timestamp\": 0, \"input_length\": 1}",
       "m.jsonl:2: no \"output_length\", expected timestamp, input_length and output_length"},
      {"{\"timestamp\": 0, \"input_length\": -1, \"output_length\": 1}",
       "m.jsonl:2: /input_length: no number of tokens, expected a whole number below 2^32"},
      {"{\"timestamp\": \"x\", \"input_length\": 1, \"output_length\": 1}",
       "m.jsonl:2: /timestamp: no time, expected milliseconds from 0 on"},
      {"{\"timestamp\": 0, \"hash_ids\": [1, \"x\"], \"input_length\": 1, \"output_length\": 1}",
       "m.jsonl:2: /hash_ids/1: no block number, expected a whole number of 64 bits"},
  };
  for (const auto& one : wrong) {
    const RequestFile file = read(good + one.line + "\n");
    CHECK(file.requests.size() == 1);
    CHECK(file.fault == one.error);
  }
}
