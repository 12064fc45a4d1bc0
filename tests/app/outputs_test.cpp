#include "tests/app/child.h"
#include "tests/app/csv.h"
#include "tests/app/folder.h"
#include "tests/app/samples.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <sstream>

using namespace umf::test;
using Catch::Contains;
using Json = nlohmann::ordered_json;

namespace {

/// Reads and copies on a machine with a pool, so that every section has something to say.
std::string small_trace() {
  std::string text = plain_trace(20);
  text += R"({"record":"copy","id":20,"kind":"host-to-device","bytes":4096})"
          "\n";
  return text;
}

Ended replay(const Folder& folder, std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = {"replay", "t.jsonl", "--scenario", preset("umf-small-hbm"),
                                        "--out",  "out"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return umfsim(arguments, folder.path());
}

struct Replayed {
  Folder folder;
  Json summary;
  Replayed() {
    folder.write("t.jsonl", small_trace());
    REQUIRE(replay(folder).status == 0);
    summary = Json::parse(folder.read("out/summary.json"));
  }
};

/// "12.5" of nanoseconds is 12,500,000 fs, counted without floating point.
std::int64_t femtoseconds(const std::string& decimal) {
  const std::size_t dot = decimal.find('.');
  std::string fraction = dot == std::string::npos ? "" : decimal.substr(dot + 1);
  REQUIRE(fraction.size() <= 6);
  fraction.resize(6, '0');
  return std::stoll(decimal.substr(0, dot)) * 1'000'000 + std::stoll(fraction);
}

/// The digits behind `key` as they stand in the file.
std::string digits_of(const std::string& file, const std::string& key) {
  const std::size_t at = file.find("\"" + key + "\": ");
  REQUIRE(at != std::string::npos);
  const std::size_t from = at + key.size() + 4;
  return file.substr(from, file.find_first_not_of("0123456789.", from) - from);
}

const std::vector<std::string> kCauses = {
    "compute_ns",       "hbm_bandwidth_ns", "hbm_latency_ns",    "l2_fabric_ns",    "sram_ns",
    "cxl_bandwidth_ns", "cxl_latency_ns",   "link_bandwidth_ns", "link_latency_ns", "migration_ns",
    "coherence_ns",     "translation_ns",   "scheduler_ns",      "launch_ns",       "idle_ns"};

} // namespace

TEST_CASE("summary.json has every key that scripts lean on", "[app]") {
  const Replayed run;
  const std::string pointer = GENERATE(
      "/version", "/scenario/name", "/scenario/hash", "/seed", "/resolution", "/policy", "/replay",
      "/trace/source", "/trace/format", "/trace/kernels", "/trace/unknown_kernels", "/trace/copies",
      "/trace/streams", "/trace/measured_kernel_ns", "/trace/inferred_bytes/recorded",
      "/time/simulated_ns", "/tiers/hbm/read_bytes", "/tiers/hbm/write_bytes",
      "/tiers/hbm/peak_bytes", "/tiers/hbm/capacity_bytes", "/tiers/hbm/utilisation",
      "/tiers/hbm/max_channel_utilisation", "/tiers/hbm/hit_rate", "/tiers/hbm/energy_j",
      "/tiers/hbm/regions/kv/peak_bytes", "/tiers/hbm/regions/weight/end_bytes",
      "/tiers/hbm/latency_ns/sm/mean", "/tiers/hbm/latency_ns/sm/p50",
      "/tiers/hbm/latency_ns/sm/p95", "/tiers/hbm/latency_ns/sm/p99",
      "/tiers/hbm/latency_ns/sm/max", "/tiers/cxl/energy_j", "/tiers/cxl/latency_ns",
      "/links/gpu0-sw0/tx_bytes", "/links/gpu0-sw0/rx_bytes", "/links/gpu0-sw0/payload_bytes",
      "/links/gpu0-sw0/utilisation", "/links/gpu0-sw0/replays", "/links/gpu0-sw0/energy_j",
      "/energy/total_j", "/energy/mean_power_w", "/energy/by_place/idle_j",
      "/energy/by_account/operations_j", "/energy/steps/0/energy_j", "/scheduler/translations",
      "/scheduler/tlb_hit_rate", "/scheduler/remote_hits", "/scheduler/faults",
      "/scheduler/faults_per_s", "/scheduler/migrated_bytes", "/scheduler/prefetch/issued",
      "/scheduler/prefetch/useful", "/scheduler/prefetch/late", "/scheduler/prefetch/wasted",
      "/scheduler/prefetch/hit_rate", "/scheduler/promotions", "/scheduler/demotions",
      "/scheduler/gc_runs", "/scheduler/gc", "/scheduler/tuner", "/scheduler/worm_syncs",
      "/scheduler/degraded_ns", "/ledger/ok", "/ledger/checks/0/name", "/ledger/checks/0/ok",
      "/ledger/checks/0/left", "/ledger/checks/0/right");
  CAPTURE(pointer);
  CHECK(run.summary.contains(Json::json_pointer(pointer)));
}

TEST_CASE("run.json has what may differ between two runs", "[app]") {
  const Replayed run;
  const Json facts = Json::parse(run.folder.read("out/run.json"));
  for (const std::string key : {"wall_s", "speed", "peak_rss_bytes", "host", "started", "command"})
    CHECK(facts.contains(key));
  const Json& trace = facts.at("request").at("traces").at(0);
  CHECK(trace.at("path") == (run.folder.path() / "t.jsonl").string());
  CHECK(trace.at("bytes") == run.folder.read("t.jsonl").size());
  CHECK(trace.at("xxh3").get<std::string>().size() == 16);
  CHECK_THAT(facts.at("command").get<std::string>(), Contains("replay t.jsonl --scenario"));
}

TEST_CASE("the causes of time sum to the simulated time, to the femtosecond", "[app]") {
  const Replayed run;
  const std::string file = run.folder.read("out/summary.json");

  std::int64_t sum = 0;
  for (const auto& [cause, time] : run.summary.at("time_by_cause").items())
    sum += femtoseconds(digits_of(file, cause));

  CHECK(sum == femtoseconds(digits_of(file, "simulated_ns")));
  CHECK(sum > 0);
  for (const std::string& cause : kCauses)
    CHECK(run.summary.at("time_by_cause").contains(cause));
}

TEST_CASE("kernels.csv has its head and a row a kernel, times in nanoseconds", "[app]") {
  const Replayed run;
  const auto rows = csv_rows(run.folder.read("out/kernels.csv"));

  CHECK_THAT(run.folder.read("out/kernels.csv"),
             Catch::StartsWith("id,name,stream,phase,layer,start_ns,duration_ns,measured_ns,"
                               "bytes_read,bytes_written,dram_bytes,inferred_share,flops,bound_by,"
                               "energy_j,repeat,tenant\n"));
  REQUIRE(rows.size() == 1 + 20);
  std::int64_t before = 0;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const auto& row = rows[i];
    REQUIRE(row.size() == 17);
    CHECK(row[0] == std::to_string(i - 1));
    CHECK(row[7] == "500"); // as kernel_line() recorded
    CHECK(row[8] == "1048576");
    CHECK(row[9] == "0");
    CHECK(row[11] == "0");                 // all bytes recorded
    CHECK(femtoseconds(row[5]) >= before); // one stream: one after another
    before = femtoseconds(row[5]) + femtoseconds(row[6]);
  }
  CHECK(before <= femtoseconds(digits_of(run.folder.read("out/summary.json"), "simulated_ns")));
}

TEST_CASE("stdout gets what --format says, the files stay the same", "[app]") {
  const Replayed run;
  const std::string summary = run.folder.read("out/summary.json");
  const std::string kernels = run.folder.read("out/kernels.csv");

  CHECK(replay(run.folder, {"--format", "json"}).out == summary);
  CHECK(replay(run.folder, {"--format", "csv"}).out == kernels);
  CHECK(replay(run.folder, {"--quiet"}).out.empty());
  CHECK(replay(run.folder, {"--quiet", "--format", "json"}).out.empty());
  CHECK(run.folder.read("out/summary.json") == summary);
  CHECK(run.folder.entries() == std::set<std::string>{"out/", "out/kernels.csv", "out/run.json",
                                                      "out/summary.json", "out/timeline.json",
                                                      "out/timeseries.csv", "t.jsonl"});
}

TEST_CASE("the page for people says time, tiers, links, causes and ledger", "[app]") {
  const Replayed run;
  const std::string page = replay(run.folder).out;
  for (const std::string said :
       {"t.jsonl on umf-small-hbm", "simulated ", "measured ", "where the time went", "hbm ",
        "cxl ", "gpu0-sw0 ", "bytes by rule", ": ok",
        "out/summary.json, kernels.csv, timeseries.csv, timeline.json, run.json"})
    CHECK_THAT(page, Contains(said));
}

TEST_CASE("progress is on stderr, one JSON object a line when asked", "[app]") {
  Folder folder;
  folder.write("t.jsonl", plain_trace(30'000));
  const Ended ended = umfsim({"replay", "t.jsonl", "--scenario", preset("h100-sxm"), "--out", "out",
                              "--quiet", "--progress", "json"},
                             folder.path());

  CHECK(ended.status == 0);
  CHECK(ended.out.empty());
  std::istringstream lines(ended.err);
  std::uint64_t done = 0;
  for (std::string line; std::getline(lines, line);) {
    const Json step = Json::parse(line);
    CHECK(step.at("done") > done);
    CHECK(step.at("all") == 30'000);
    CHECK(step.contains("elapsed_s"));
    CHECK(step.contains("left_s"));
    done = step.at("done");
  }
  CHECK(done > 0);
}

TEST_CASE("without a terminal there is no progress unless asked for", "[app]") {
  const Replayed run;
  CHECK(replay(run.folder).err.empty());
  CHECK(replay(run.folder, {"--progress", "never"}).err.empty());
}

TEST_CASE("a stdout that takes nothing is an error, not a short report", "[app]") {
  if (!std::filesystem::exists("/dev/full")) return;
  const Replayed run;
  for (const std::string verb : {"schema", "describe"}) {
    const std::string line = std::string(UMFSIM_PROGRAM) + " " + verb + " >/dev/full 2>/dev/null";
    const int status = std::system(line.c_str());
    CHECK(WEXITSTATUS(status) == 2);
  }
}
