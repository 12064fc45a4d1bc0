#include "tests/app/child.h"
#include "tests/app/csv.h"
#include "tests/app/folder.h"
#include "tests/app/refusal.h"
#include "tests/app/samples.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

/// Several traces on the command line: tenants of one machine.
using namespace umf::test;
using Catch::Contains;
using Json = nlohmann::json;

namespace {

Ended replay(const Folder& folder, std::vector<std::string> traces,
             const std::vector<std::string>& more = {}) {
  traces.insert(traces.begin(), "replay");
  traces.insert(traces.end(), {"--scenario", preset("umf-two-gpus"), "--out", "out"});
  traces.insert(traces.end(), more.begin(), more.end());
  return umfsim(traces, folder.path());
}

Json summary_of(const Folder& folder) {
  return Json::parse(folder.read("out/summary.json"));
}

} // namespace

TEST_CASE("each trace is a tenant with its own figures", "[app]") {
  Folder folder;
  folder.write("a.jsonl", plain_trace(20));
  folder.write("deep/b.jsonl", plain_trace(5));

  const Ended ended = replay(folder, {"a.jsonl", "deep/b.jsonl"});

  REQUIRE(ended.status == 0);
  CHECK_THAT(ended.out, Contains("a.jsonl + b.jsonl on umf-two-gpus"));
  const Json summary = summary_of(folder);
  CHECK(summary.at("trace").at("source") == "a.jsonl + b.jsonl");
  CHECK(summary.at("trace").at("kernels") == 25);
  CHECK_FALSE(summary.contains("repeats"));
  const Json& tenants = summary.at("tenants");
  REQUIRE(tenants.size() == 2);
  CHECK(tenants[0].at("name") == "a.jsonl");
  CHECK(tenants[1].at("name") == "b.jsonl");
  CHECK(tenants[0].at("kernels") == 20);
  CHECK(tenants[1].at("kernels") == 5);
  CHECK(tenants[0].at("read_bytes") == 20 << 20);
  CHECK(tenants[1].at("read_bytes") == 5 << 20);
  CHECK(tenants[0].at("simulated_ns") > tenants[1].at("simulated_ns"));
  CHECK(tenants[0].at("simulated_ns") == summary.at("time").at("simulated_ns"));
  CHECK(summary.at("ledger").at("ok") == true);

  const auto rows = csv_rows(folder.read("out/kernels.csv"));
  REQUIRE(rows.size() == 1 + 25);
  for (std::size_t k = 0; k < 25; ++k)
    CHECK(rows[1 + k][16] == (k < 20 ? "0" : "1"));
}

TEST_CASE("the same trace twice is two tenants with two names", "[app]") {
  Folder folder;
  folder.write("a.jsonl", plain_trace(3));
  REQUIRE(replay(folder, {"a.jsonl", "a.jsonl"}).status == 0);
  const Json tenants = summary_of(folder).at("tenants");
  CHECK(tenants[0].at("name") == "a.jsonl");
  CHECK(tenants[1].at("name") == "a.jsonl#2");
  CHECK(tenants[0].at("read_bytes") == tenants[1].at("read_bytes"));
}

TEST_CASE("tenants go to the GPUs and get the weights that the flags say", "[app]") {
  Folder folder;
  folder.write("a.jsonl", plain_trace(3));
  folder.write("b.jsonl", plain_trace(3));
  const Ended ended =
      replay(folder, {"a.jsonl", "b.jsonl"}, {"--tenant-gpus", "1,0", "--tenant-weights", "1,2.5"});
  REQUIRE(ended.status == 0);
  const Json summary = summary_of(folder);
  CHECK(summary.at("tenants")[0].at("gpu") == 1);
  CHECK(summary.at("tenants")[1].at("gpu") == 0);
  CHECK(summary.at("tenants")[1].at("weight") == 2.5);
  CHECK(summary.at("time_by_cause_per_gpu").size() == 2);
}

TEST_CASE("tenants that cannot be are refused with the key or the trace at fault", "[app]") {
  struct Row {
    std::vector<std::string> flags;
    std::string said;
  };
  const auto [flags, said] = GENERATE(values<Row>({
      {{"--tenant-gpus", "0,2"}, "/replay/tenant_gpus: tenant 1 is given GPU 2"},
      {{"--tenant-gpus", "0,1,1"}, "/replay/tenant_gpus: 3 entries for 2 trace(s)"},
      {{"--tenant-gpus", "zero"}, "/replay/tenant_gpus"},
      {{"--tenant-gpus", "-1"}, "/replay/tenant_gpus"},
      {{"--tenant-weights", "1,0"}, "/replay/tenant_weights"},
      {{"--tenant-weights", "1,2,3"}, "/replay/tenant_weights: 3 entries for 2 trace(s)"},
      {{"--tenant-gpus", "1,1"},
       "b.jsonl: the trace uses more devices than the scenario has for it"},
  }));
  Folder folder;
  folder.write("a.jsonl", plain_trace(1));
  folder.write("b.jsonl",
               plain_trace(1) + tensor_line(1, 64) + kernel_line(1, 1, 64, R"(,"device":1)"));
  const Ended ended = replay(folder, {"a.jsonl", "b.jsonl"}, flags);
  CAPTURE(flags, ended.err);
  check_refused(ended);
  CHECK_THAT(ended.err, Contains(said));
}

TEST_CASE("a fault of one trace among several names it", "[app]") {
  Folder folder;
  folder.write("a.jsonl", plain_trace(1));
  folder.write("b.jsonl", plain_trace(1) + kernel_line(1, 9, 64));
  const Ended ended = replay(folder, {"a.jsonl", "b.jsonl"});
  check_refused(ended);
  CHECK_THAT(ended.err, Catch::StartsWith("b.jsonl: operation 1 \"k1\" uses tensor 9"));
}

TEST_CASE("two runs of several tenants give the same bytes", "[app]") {
  Folder folder;
  folder.write("a.jsonl", plain_trace(40));
  folder.write("b.jsonl", plain_trace(30));
  const auto once = [&](const std::string& out) {
    REQUIRE(umfsim({"replay", "a.jsonl", "b.jsonl", "b.jsonl", "--scenario", preset("umf-two-gpus"),
                    "--repeat", "2", "--tenant-gpus", "0,1,0", "--out", out},
                   folder.path())
                .status == 0);
    return folder.read(out + "/summary.json") + folder.read(out + "/kernels.csv");
  };
  CHECK(once("one") == once("two"));
}

namespace {

/// One weight, read once a repetition, of a model that the header may name.
std::string weight_trace(const std::string& provenance) {
  return R"({"umfsim-stream":1,"format":"test","source":"by hand","provenance":")" + provenance +
         R"(","devices":[{"id":0,"name":"GPU"}]})"
         "\n"
         R"({"record":"tensor","id":0,"name":"w","role":"weight","dtype":"f16","bytes":1048576})"
         "\n" +
         kernel_line(0, 0, 1 << 20);
}

} // namespace

TEST_CASE("weights of one model in two traces are found, told and shared after a fork", "[app]") {
  Folder folder;
  folder.write("a.jsonl", weight_trace("model m"));
  folder.write("b.jsonl", weight_trace("model m"));
  const Ended spawned = replay(folder, {"a.jsonl", "b.jsonl"});
  REQUIRE(spawned.status == 0);
  CHECK_THAT(spawned.out, Contains("1.00 MiB too much at the peak (1.00 MiB in gpu0.hbm)"));
  const Json apart = summary_of(folder).at("processes");
  CHECK(apart.at("start") == "spawn");
  CHECK(apart.at("common_bytes") == 1 << 20);
  CHECK(apart.at("shared_bytes") == 0);
  CHECK(apart.at("duplicated_at_end").at("bytes") == 1 << 20);

  const Ended forked = replay(folder, {"a.jsonl", "b.jsonl"}, {"--set", "replay.processes=fork"});
  REQUIRE(forked.status == 0);
  CHECK_THAT(forked.out, Contains("forked: 1.00 MiB of weights are not loaded again"));
  const Json shared = summary_of(folder).at("processes");
  CHECK(shared.at("shared_bytes") == 1 << 20);
  CHECK(shared.at("duplicated_at_peak").at("bytes") == 0);
}

TEST_CASE("weights of equal names are not the same in files of unknown or other origin", "[app]") {
  Folder folder;
  folder.write("a.jsonl", weight_trace("model m"));
  folder.write("b.jsonl", weight_trace("model n"));
  folder.write("c.jsonl", weight_trace(""));
  folder.write("d.jsonl", weight_trace(""));
  REQUIRE(replay(folder, {"a.jsonl", "b.jsonl", "c.jsonl", "d.jsonl"}).status == 0);
  CHECK(summary_of(folder).at("processes").at("common_tensors") == 0);
  // One file is one origin.
  REQUIRE(replay(folder, {"c.jsonl", "c.jsonl"}).status == 0);
  CHECK(summary_of(folder).at("processes").at("common_tensors") == 1);
}

TEST_CASE("who foresees a replay refuses pages that forked tenants share", "[app]") {
  Folder folder;
  folder.write("a.jsonl", weight_trace("model m"));
  const Ended ended = replay(folder, {"a.jsonl", "a.jsonl"},
                             {"--set", "replay.processes=fork", "--policy", "belady"});
  check_refused(ended);
  CHECK_THAT(ended.err, Contains("fork: belady cannot foresee pages"));
}

TEST_CASE("each of several tenants says how long its steps took", "[app]") {
  Folder folder;
  folder.write("a.jsonl", plain_trace(3));
  REQUIRE(replay(folder, {"a.jsonl", "a.jsonl"}, {"--repeat", "2"}).status == 0);
  const Json summary = summary_of(folder);
  for (const Json& tenant : summary.at("tenants")) {
    CHECK(tenant.at("steps").at("count") == 2); // no marks: repetitions
    CHECK(tenant.at("steps").at("p50_ns") <= tenant.at("steps").at("p99_ns"));
    CHECK(tenant.at("steps").at("max_ns") == tenant.at("steps").at("p99_ns"));
  }
}
