#include "tests/app/csv.h"
#include "tests/app/folder.h"
#include "tests/app/refusal.h"
#include "tests/app/samples.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace umf::test;
using Catch::Contains;
using Json = nlohmann::json;

namespace {

/// Replays a trace that is odd but bearable; its summary.
Json replayed(const Folder& folder, const std::string& trace) {
  const Ended ended =
      umfsim({"replay", trace, "--scenario", preset("h100-sxm"), "--out", "out"}, folder.path());
  CAPTURE(ended.err);
  REQUIRE(ended.status == 0);
  CHECK(ended.err.empty());
  for (const char c : ended.out) // what the terminal gets holds no escape codes
    CHECK((c == '\n' || c < 0 || c >= 0x20));
  Json summary = Json::parse(folder.read("out/summary.json"));
  CHECK(summary.at("ledger").at("ok") == true);
  return summary;
}

std::uint64_t times_seen(const Json& summary, const std::string& code) {
  for (const auto& oddity : summary.at("trace").at("oddities"))
    if (oddity.at("code") == code) return oddity.at("count");
  return 0;
}

std::string event(const std::string& name, const std::string& ts, const std::string& dur) {
  return R"({"ph":"X","cat":"kernel","name":")" + name + R"(","ts":)" + ts + R"(,"dur":)" + dur +
         R"(,"args":{"device":0,"stream":7}})";
}

} // namespace

TEST_CASE("a negative duration is counted and the trace still replays", "[app]") {
  Folder folder;
  folder.write("t.json", kineto(event("back", "10", "-2") + "," + event("on", "20", "3")));

  const Json summary = replayed(folder, "t.json");

  CHECK(times_seen(summary, "negative-duration") == 1);
  CHECK(summary.at("trace").at("kernels") == 2);
  CHECK(summary.at("trace").at("measured_kernel_ns") == 3000); // 0 and 3 us
}

TEST_CASE("a time that is no number is counted and the trace still replays", "[app]") {
  Folder folder;
  folder.write("t.json", kineto(event("when", "NaN", "2") + "," + event("on", "20", "3")));
  CHECK(times_seen(replayed(folder, "t.json"), "missing-time") == 1);
}

TEST_CASE("names keep no bytes that a table or a terminal would trip over", "[app]") {
  Folder folder;
  folder.write("t.json", kineto(event("a\xff\xfe", "1", "2") + "," +
                                event(R"(b\u001b[31m,\"c\"\n)", "10", "2")));

  const Json summary = replayed(folder, "t.json");

  CHECK(times_seen(summary, "invalid-utf8") == 1);
  const auto rows = csv_rows(folder.read("out/kernels.csv"));
  REQUIRE(rows.size() == 3); // the head and two kernels
  CHECK(rows[1][1] == "a??");
  CHECK_THAT(rows[2][1], Contains(",\"c\""));
  CHECK(rows[2].size() == rows[0].size());
}

TEST_CASE("names of any bytes come through JSON lines and back out of kernels.csv", "[app]") {
  Folder folder;
  const std::string head = kStreamHeader + tensor_line(0, 64);
  folder.write("t.jsonl",
               head + R"({"record":"kernel","id":0,"name":"void f<1, 2>(\"x\")\r\n","accesses":[]})"
                      "\n"
                      R"({"record":"kernel","id":1,"name":{"hex":"ff002c22"},"accesses":[]})"
                      "\n");
  replayed(folder, "t.jsonl");

  const auto rows = csv_rows(folder.read("out/kernels.csv"));
  REQUIRE(rows.size() == 3);
  CHECK(rows[1][1] == "void f<1, 2>(\"x\")\r\n");
  CHECK(rows[2][1] == std::string("\xff\0,\"", 4)); // 0xff, 0x00, comma, quote

  const Ended csv = umfsim(
      {"replay", "t.jsonl", "--scenario", preset("h100-sxm"), "--out", "out", "--format", "csv"},
      folder.path());
  CHECK(csv.out == folder.read("out/kernels.csv")); // a NUL does not end it
}

TEST_CASE("a fault that quotes a name stays one line", "[app]") {
  Folder folder;
  folder.write("t.jsonl", kStreamHeader + R"({"record":"kernel","id":1,"name":"a\u001b[2Jb",)"
                                          R"("accesses":[{"tensor":9,"length_bytes":4}]})"
                                          "\n");
  const Ended ended =
      umfsim({"replay", "t.jsonl", "--scenario", preset("h100-sxm")}, folder.path());
  check_refused(ended);
  CHECK_THAT(ended.err, Contains(R"("a\u001b[2Jb")"));
}

TEST_CASE("a trace without kernels takes no time and every share is a number", "[app]") {
  const auto [name, text] = GENERATE(table<std::string, std::string>(
      {{"empty.jsonl", kStreamHeader},
       {"none.json", kineto("")},
       {"cpu.json",
        kineto(R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":2})")}}));
  Folder folder;
  folder.write(name, text);

  const Json summary = replayed(folder, name);

  CHECK(summary.at("trace").at("kernels") == 0);
  CHECK(summary.at("time").at("simulated_ns") == 0);
  CHECK(folder.read("out/summary.json").find(": nan") == std::string::npos);
  CHECK(csv_rows(folder.read("out/kernels.csv")).size() == 1); // the head alone
  for (const auto& [tier, figures] : summary.at("tiers").items())
    CHECK(figures.at("utilisation") == 0.0);
  for (const auto& [link, figures] : summary.at("links").items())
    CHECK(figures.at("utilisation") == 0.0);
}

TEST_CASE("recorded times of any size do not upset the report", "[app]") {
  Folder folder;
  // 9 × 10^18 ns is 285 years, near the end of 64 bits.
  folder.write("t.jsonl", kStreamHeader + R"({"record":"kernel","id":0,"name":"long","start_ns":0,)"
                                          R"("end_ns":9000000000000000000,"accesses":[]})"
                                          "\n");
  const Json summary = replayed(folder, "t.jsonl");
  CHECK(summary.at("trace").at("measured_kernel_ns") == 9'000'000'000'000'000'000);

  const Ended ended = umfsim(
      {"replay", "t.jsonl", "--scenario", preset("h100-sxm"), "--out", "out"}, folder.path());
  CHECK_THAT(ended.out, Contains("measured       9000000000.000 s"));
}
