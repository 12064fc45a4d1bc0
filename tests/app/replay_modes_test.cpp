#include "tests/app/child.h"
#include "tests/app/csv.h"
#include "tests/app/folder.h"
#include "tests/app/refusal.h"
#include "tests/app/samples.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

/// --replay and --repeat on the command line, and what they add to the reports.
using namespace umf::test;
using Catch::Contains;
using Json = nlohmann::json;

namespace {

Ended replay(const Folder& folder, std::vector<std::string> more) {
  more.insert(more.begin(),
              {"replay", "t.jsonl", "--scenario", preset("h100-sxm"), "--out", "out"});
  return umfsim(more, folder.path());
}

Json summary_of(const Folder& folder) {
  return Json::parse(folder.read("out/summary.json"));
}

std::string untimed_kernel(unsigned id) {
  return fmt::format(R"({{"record":"kernel","id":{},"name":"k"}})"
                     "\n",
                     id);
}

} // namespace

TEST_CASE("open replay keeps the recorded gaps and shows both spans", "[app]") {
  Folder folder;
  // Starts at 1000 and 9,001,000 ns: nine milliseconds in which the machine has nothing to do.
  folder.write("t.jsonl", kStreamHeader + tensor_line(0, 1 << 20) + kernel_line(1, 0, 1 << 20) +
                              kernel_line(9001, 0, 1 << 20));

  const Ended ended = replay(folder, {"--replay", "open"});

  REQUIRE(ended.status == 0);
  CHECK_THAT(ended.out, Contains("open, burst resolution"));
  CHECK_THAT(ended.out, Contains("first kernel to last"));
  const Json summary = summary_of(folder);
  CHECK(summary.at("replay") == "open");
  CHECK(summary.at("time").at("measured_span_ns") == 9'000'500);
  // Resident at their starts: 9 ms apart. The last one takes 14 µs: 8 blocks of 128 threads keep
  // 16 KiB in flight, so that 1 MiB is 64 times the L2's latency of 211 ns.
  const double span = summary.at("time").at("simulated_span_ns");
  CHECK(span > 9'000'000);
  CHECK(span < 9'020'000);
  CHECK(summary.at("time_by_cause").at("idle_ns") > 8'900'000);
  CHECK(summary.at("ledger").at("ok") == true);
}

TEST_CASE("hybrid replay counts what the trace does not tell of its host", "[app]") {
  Folder folder;
  folder.write("t.jsonl",
               kStreamHeader + tensor_line(0, 64) + kernel_line(1, 0, 64, R"(,"issue_ns":500)") +
                   R"({"record":"sync","waiting":{"device":0,"stream":0},"host_waits":true})" +
                   "\n" + kernel_line(2, 0, 64, R"(,"issue_ns":90500)") + kernel_line(3, 0, 64));
  const Ended ended = replay(folder, {"--replay", "hybrid"});
  REQUIRE(ended.status == 0);
  CHECK_THAT(ended.out, Contains("1 × operation without the time"));
  CHECK_THAT(ended.out, Contains("1 × host wait without an end"));
  const Json host = summary_of(folder).at("tenants").at(0).at("host_times");
  CHECK(host == Json({{"untimed_operations", 1}, {"backwards", 0}, {"untimed_waits", 1}}));
}

TEST_CASE("a mode whose times the trace lacks is refused, with what would do", "[app]") {
  Folder folder;
  folder.write("t.jsonl", kStreamHeader + untimed_kernel(1) + untimed_kernel(2));
  const Ended open = replay(folder, {"--replay", "open"});
  check_refused(open);
  CHECK_THAT(open.err, Catch::StartsWith("t.jsonl: no operation has a recorded time"));

  folder.write("t.jsonl", plain_trace(2)); // starts alone
  const Ended hybrid = replay(folder, {"--replay", "hybrid"});
  check_refused(hybrid);
  CHECK_THAT(hybrid.err, Catch::StartsWith("t.jsonl: no operation has the time of its host call"));
  CHECK(folder.entries() == std::set<std::string>{"t.jsonl"});

  folder.write("t.jsonl", kStreamHeader); // nothing to time
  CHECK(replay(folder, {"--replay", "open"}).status == 0);
}

TEST_CASE("times that go backwards are counted and replayed", "[app]") {
  Folder folder;
  folder.write("t.jsonl", kStreamHeader + tensor_line(0, 64) + kernel_line(5, 0, 64) +
                              kernel_line(3, 0, 64) + kernel_line(8, 0, 64));
  const Ended ended = replay(folder, {"--replay", "open"});
  REQUIRE(ended.status == 0);
  CHECK_THAT(ended.out, Contains("1 × time earlier than one it must follow"));
}

TEST_CASE("a trace repeats with warm state and each repetition is reported", "[app]") {
  Folder folder;
  folder.write("t.jsonl", plain_trace(20));
  const Ended ended = replay(folder, {"--repeat", "3"});
  REQUIRE(ended.status == 0);
  CHECK_THAT(ended.out, Contains("repeats        3 ×"));
  CHECK_THAT(ended.out, Contains("as the trace recorded, once"));

  const Json summary = summary_of(folder);
  const Json& repeats = summary.at("repeats");
  REQUIRE(repeats.size() == 3);
  CHECK(summary.at("tenants").at(0).at("repeats") == repeats);
  const double first = repeats[0].at("simulated_ns"), second = repeats[1].at("simulated_ns");
  CHECK(second <= first);
  CHECK(repeats[2].at("simulated_ns") == second);
  CHECK(first + 2 * second == Approx(summary.at("time").at("simulated_ns").get<double>()));
  CHECK(summary.at("trace").at("kernels") == 20);
  CHECK(summary.at("ledger").at("ok") == true);

  const auto rows = csv_rows(folder.read("out/kernels.csv"));
  REQUIRE(rows.size() == 1 + 60);
  CHECK(rows[0][15] == "repeat");
  CHECK(rows[0][16] == "tenant");
  for (std::size_t k = 0; k < 60; ++k) {
    CHECK(rows[1 + k][0] == std::to_string(k % 20));
    CHECK(rows[1 + k][15] == std::to_string(k / 20));
    CHECK(rows[1 + k][16] == "0");
  }
}

TEST_CASE("wrong modes and repetitions are faults of their keys", "[app]") {
  Folder folder;
  folder.write("t.jsonl", plain_trace(1));
  const auto [flag, value, said] = GENERATE(table<std::string, std::string, std::string>(
      {{"--replay", "opn", "/replay/mode: unknown choice \"opn\""},
       {"--repeat", "0", "/replay/repeat: 0"},
       {"--repeat", "-1", "/replay/repeat: "},
       {"--repeat", "2.5", "/replay/repeat: "},
       {"--repeat", "many", "/replay/repeat: "}}));
  const Ended ended = replay(folder, {flag, value});
  CAPTURE(flag, value, ended.err);
  check_refused(ended);
  CHECK_THAT(ended.err, Contains(said));
}

TEST_CASE("the bundled trace replays in every mode and the ledger balances", "[app]") {
  Folder folder;
  const std::string mode = GENERATE("closed", "open", "hybrid");
  const Ended ended =
      umfsim({"replay", source_file("traces/samples/h100-qwen1.5-0.5b.umft"), "--scenario",
              preset("umf-small-hbm"), "--replay", mode, "--repeat", "2", "--out", "out"},
             folder.path());
  CAPTURE(mode, ended.err);
  REQUIRE(ended.status == 0);
  const Json summary = summary_of(folder);
  CHECK(summary.at("replay") == mode);
  CHECK(summary.at("repeats").size() == 2);
  CHECK(summary.at("ledger").at("ok") == true);
}
