#include "tests/app/child.h"
#include "tests/app/folder.h"
#include "tests/app/samples.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace umf::test;
using Catch::Contains;
using Json = nlohmann::json;

/// Address traces, request by request through the banks of one memory.
namespace {

Ended replay(const Folder& folder, const std::string& trace,
             const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {"replay",       trace,  "--scenario", preset("h100-sxm"),
                                        "--resolution", "line", "--out",      "out"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return umfsim(arguments, folder.path());
}

} // namespace

TEST_CASE("every request of the shared address traces is served at line resolution") {
  struct Row {
    const char* file;
    unsigned requests, reads; ///< counted with awk
  };
  // grep -c READ: 5365 of 38374 lines; 8 loads and 2 stores; grep -c LD: 147 of 200.
  const Row row = GENERATE(Row{"dramsim3_example.trace", 38374, 5365},
                           Row{"ramulator2_example_inst.trace", 10, 8},
                           Row{"ramulator2_example_loadstore.trace", 200, 147});
  const auto trace = umf::test::shared_file(std::string("data/traces/address/") + row.file);
  if (!trace) return;
  const Folder folder;
  const Ended ended = replay(folder, trace->string());
  INFO(ended.err);
  REQUIRE(ended.status == 0);
  CHECK_THAT(ended.out, Contains("line resolution") && Contains("GB/s") && Contains("balances"));
  const Json summary = Json::parse(folder.read("out/summary.json"));
  CHECK(summary.at("resolution") == "line");
  CHECK(summary.at("trace").at("requests") == row.requests);
  CHECK(summary.at("trace").at("reads") == row.reads);
  CHECK(summary.at("ledger").at("ok") == true);
  const Json& tier = summary.at("tiers").at("hbm");
  CHECK(tier.at("read_bytes") == 64 * row.reads);
  CHECK(tier.at("write_bytes") == 64 * (row.requests - row.reads));
  CHECK(tier.at("refreshes").at("due") == tier.at("refreshes").at("issued"));
}

TEST_CASE("DRAMsim3's cycles are clocks of the tier") {
  const Folder folder;
  folder.write("t.trace", "0x0 READ 0\n0x40 READ 1000000\n");
  REQUIRE(replay(folder, "t.trace").status == 0);
  // H100: 3.35 TB/s over 5 × 1024 pins at 4 transfers a clock: 764.18 ps. The last read begins a
  // million clocks in and takes less than 200 ns.
  const double ns =
      Json::parse(folder.read("out/summary.json")).at("time").at("simulated_ns").get<double>();
  CHECK(ns > 764.1e3);
  CHECK(ns < 764.4e3 + 200);
}

TEST_CASE("one request at a time is slower than as many as are taken") {
  const Folder folder;
  std::string text;
  for (unsigned n = 0; n < 1000; ++n)
    text += fmt::format("LD {:#x}\n", n * 8192U);
  folder.write("t.trace", text);
  const auto time = [&](const std::vector<std::string>& more) {
    REQUIRE(replay(folder, "t.trace", more).status == 0);
    return Json::parse(folder.read("out/summary.json")).at("time").at("simulated_ns").get<double>();
  };
  const double many = time({}), one = time({"--outstanding", "1"});
  // A read takes at least controller_latency and a hit's tCL and data: 60 + 12.5 + 1.5 ns.
  CHECK(one > 1000 * 74.0);
  CHECK(many < one / 10);
}

TEST_CASE("a line that is no request ends the replay with its number and leaves no files") {
  struct Row {
    const char* text;
    const char* said;
  };
  const Row row = GENERATE(
      Row{"0x0 READ 0\n0x40 FETCH 3\n", "t.trace:2:"},
      Row{"0x0 READ 9\n0x40 READ 3\n", "t.trace:2:"},
      Row{"LD 0x40\nLD 0x80\nLD 0xffffffffff\n", "t.trace:3: address 0xffffffffff lies beyond"});
  const Folder folder;
  folder.write("t.trace", row.text);
  const Ended ended = replay(folder, "t.trace");
  CHECK(ended.status == 2);
  CHECK_THAT(ended.err, Contains(row.said) && Contains("expected"));
  CHECK(folder.entries().count("out/summary.json") == 0);
}

TEST_CASE("line resolution says what it cannot take") {
  const Folder folder;
  folder.write("t.trace", "LD 0x40\n");
  folder.write("k.jsonl", plain_trace(1));
  const Ended kernels = replay(folder, "k.jsonl");
  CHECK(kernels.status == 2);
  CHECK_THAT(kernels.err, Contains("line replays one address trace, expected burst"));
  const Ended tier = replay(folder, "t.trace", {"--tier", "hbn"});
  CHECK(tier.status == 2);
  CHECK_THAT(tier.err, Contains("--tier: no memory \"hbn\"") && Contains("did you mean \"hbm\"?"));
  const Ended against = replay(folder, "t.trace", {"--against", "lru"});
  CHECK(against.status == 2);
  CHECK_THAT(against.err, Contains("--against"));
  const Ended burst = umfsim(
      {"replay", "t.trace", "--scenario", preset("h100-sxm"), "--tier", "hbm"}, folder.path());
  CHECK(burst.status == 2);
  CHECK_THAT(burst.err, Contains("only with --resolution line"));
}
