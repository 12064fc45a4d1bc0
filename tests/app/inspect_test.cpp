#include "tests/app/child.h"
#include "tests/app/folder.h"
#include "tests/app/samples.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <map>
#include <sstream>

using namespace umf::test;
using Catch::Contains;
using Json = nlohmann::json;

namespace {

/// Rows of the table of expected figures, by column name.
std::vector<std::map<std::string, std::string>> expected_rows(const std::string& table) {
  const auto cells = [](const std::string& line) {
    std::vector<std::string> list(1);
    for (const char c : line)
      if (c == '\t')
        list.emplace_back();
      else
        list.back() += c;
    return list;
  };
  std::istringstream lines(table);
  std::string line;
  std::getline(lines, line);
  const auto names = cells(line);
  std::vector<std::map<std::string, std::string>> rows;
  while (std::getline(lines, line)) {
    auto values = cells(line);
    values.resize(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (i == 0) rows.emplace_back();
      rows.back()[names[i]] = values[i];
    }
  }
  return rows;
}

std::uint64_t count(const std::string& cell) {
  return cell.empty() ? 0 : std::stoull(cell);
}

/// Milliseconds with three decimals, as in the table; it leaves none where no kernel ran.
std::string milliseconds(const Json& ns) {
  return ns == 0 ? "" : fmt::format("{:.3f}", ns.get<double>() / 1e6);
}

} // namespace

TEST_CASE("inspect --format json is one object with the keys of the contract", "[app]") {
  Folder folder;
  folder.write("t.jsonl", plain_trace(3));
  const Ended ended = umfsim({"inspect", "t.jsonl", "--format", "json"}, folder.path());
  REQUIRE(ended.status == 0);
  CHECK(ended.err.empty());
  const Json found = Json::parse(ended.out);
  for (const std::string key :
       {"format", "device", "kernels", "copies", "streams", "requests", "measured_kernel_ns",
        "busy_ns", "copy_bytes", "inferred_bytes", "oddities"})
    CHECK(found.contains(key));
  CHECK(found.at("format") == "test");
  CHECK(found.at("device") == "GPU");
  CHECK(found.at("kernels") == 3);
  CHECK(found.at("measured_kernel_ns") == 1500);                   // 3 × 500 ns
  CHECK(found.at("inferred_bytes").at("recorded") == 3 * 1048576); // 3 reads of 1 MiB
  CHECK(folder.entries() == std::set<std::string>{"t.jsonl"});
}

TEST_CASE("inspect for people names device, counts, times and rules", "[app]") {
  Folder folder;
  folder.write("t.jsonl", plain_trace(3));
  const Ended ended = umfsim({"inspect", "t.jsonl"}, folder.path());
  REQUIRE(ended.status == 0);
  for (const std::string said : {"format", "GPU", "3 of 3 names", "1.5 us", "recorded"})
    CHECK_THAT(ended.out, Contains(said));
}

TEST_CASE("inspect counts every profiler trace of the table right", "[app]") {
  const auto table = shared_file("data/traces/kineto_expected.tsv");
  if (!table) return;
  Folder folder;
  const auto rows = expected_rows(bytes_of(*table));
  REQUIRE(rows.size() == 20);
  for (const auto& row : rows) {
    const auto trace = shared_file("data/traces/" + row.at("file"));
    const Ended ended = umfsim({"inspect", trace->string(), "--format", "json"}, folder.path());
    CAPTURE(row.at("file"), ended.err);
    REQUIRE(ended.status == 0);
    const Json found = Json::parse(ended.out);
    CHECK(found.at("kernels") == count(row.at("kernels")));
    CHECK(found.at("copies") == count(row.at("memcpys")));
    CHECK(found.at("copy_bytes") == count(row.at("memcpy_bytes")));
    CHECK(milliseconds(found.at("measured_kernel_ns")) == row.at("sum_kernel_ms"));
    CHECK(milliseconds(found.at("busy_ns")) == row.at("busy_union_ms"));
  }
}

TEST_CASE("shapes pass from one profiler trace to another and from no other file", "[app]") {
  Folder folder;
  folder.write("t.jsonl", plain_trace(3));
  folder.write("k.json", "{\"traceEvents\":[]}");
  for (const auto& pair : {std::pair("t.jsonl", "k.json"), std::pair("k.json", "t.jsonl")}) {
    const Ended ended =
        umfsim({"inspect", pair.first, "--shapes-from", pair.second}, folder.path());
    CHECK(ended.status == 2);
    CHECK_THAT(ended.err, Contains("t.jsonl") && Contains("expected"));
  }
}

TEST_CASE("inspect says how many kernels took their shapes from a capture", "[app]") {
  const std::string pair = "data/traces/kineto/inference_sglang_decode_";
  const auto decode = shared_file(pair + "sglang_Qwen3-8B_decode.json.gz");
  const auto capture = shared_file(pair + "capture_traces_bs_32_rank0.json.gz");
  if (!decode || !capture) return;
  Folder folder;
  const Ended ended =
      umfsim({"inspect", decode->string(), "--shapes-from", capture->string(), "--format", "json"},
             folder.path());
  REQUIRE(ended.status == 0);
  const Json found = Json::parse(ended.out);
  // tests/traces/kineto/capture_test.cpp derives the number.
  CHECK(found.at("kernels_by_rule").at("captured") == 36 * 13 + 4);
  CHECK(found.at("inferred_bytes").at("captured") > 0);
  // Two attention kernels a layer, and those around the graph that have no operator.
  CHECK(found.at("oddities").dump().find("no-captured-shapes") != std::string::npos);
}

TEST_CASE("inspect tells an address trace and counts its requests", "[app]") {
  Folder folder;
  folder.write("t", "0x1000 READ 3\n0x2000 WRITE 9\n0x1040 READ 12\n");
  const Ended ended = umfsim({"inspect", "t", "--format", "json"}, folder.path());
  REQUIRE(ended.status == 0);
  const Json found = Json::parse(ended.out);
  for (const std::string key :
       {"format", "device", "kernels", "copies", "streams", "requests", "measured_kernel_ns",
        "busy_ns", "copy_bytes", "inferred_bytes", "oddities"})
    CHECK(found.contains(key));
  CHECK(found.at("format") == "address");
  CHECK(found.at("kernels") == 0);
  CHECK(found.at("requests") == 3);
  CHECK(found.at("reads") == 2);
  CHECK(found.at("writes") == 1);
  CHECK(found.at("lowest_address") == 0x1000);
  CHECK(found.at("highest_address") == 0x2000);
  CHECK(found.at("last_cycle") == 12);
  CHECK_THAT(umfsim({"inspect", "t"}, folder.path()).out,
             Contains("3: 2 reads, 1 writes") && Contains("0x1000 to 0x2000"));
}
