#include "tests/app/child.h"
#include "tests/app/csv.h"
#include "tests/app/folder.h"
#include "tests/app/samples.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <map>
#include <tuple>

/// The views of a run beside the summary: timeseries.csv, timeline.json, energy, steps.
using namespace umf::test;
using Catch::Contains;
using Json = nlohmann::ordered_json;

namespace {

/// Streams side by side, copies, a memset, an odd name; two steps after an operation of their own.
std::string busy_trace() {
  std::string text = kStreamHeader;
  for (unsigned t = 0; t < 4; ++t)
    text += tensor_line(t, 8 << 20);
  for (unsigned k = 0; k < 60; ++k) {
    if (k == 1 || k == 31)
      text += R"({"record":"mark","time_ns":)" + std::to_string(k) + R"(,"name":"ProfilerStep#)" +
              std::to_string(k / 30 + 7) + "\"}\n";
    const std::string on = R"(,"stream":)" + std::to_string(7 + k % 2);
    text += kernel_line(k, k % 4, (1 + k % 8) << 20, on);
  }
  text += R"({"record":"copy","id":60,"kind":"host-to-device","bytes":4000000,"stream":9})"
          "\n";
  text += R"({"record":"copy","id":61,"kind":"memset","bytes":100000,"stream":9})"
          "\n";
  return text;
}

struct Run {
  Folder folder;
  Json summary;
  explicit Run(const std::vector<std::string>& sets = {}, const std::string& trace = busy_trace()) {
    folder.write("t.jsonl", trace);
    std::vector<std::string> arguments = {
        "replay", "t.jsonl", "--scenario", preset("umf-small-hbm"), "--out", "out", "--quiet"};
    for (const std::string& set : sets) {
      arguments.push_back("--set");
      arguments.push_back(set);
    }
    const Ended ended = umfsim(arguments, folder.path());
    CAPTURE(ended.err);
    REQUIRE(ended.status == 0);
    summary = Json::parse(folder.read("out/summary.json"));
  }
  Json timeline() const { return Json::parse(folder.read("out/timeline.json")); }
};

/// "12.5" as a whole number of 10^-`digits`.
std::uint64_t scaled(const std::string& decimal, std::size_t digits) {
  const std::size_t dot = decimal.find('.');
  std::string fraction = dot == std::string::npos ? "" : decimal.substr(dot + 1);
  REQUIRE(fraction.size() <= digits);
  fraction.resize(digits, '0');
  return std::stoull(decimal.substr(0, dot) + fraction);
}

/// Sums of every column of timeseries.csv, times in femtoseconds.
std::map<std::string, std::uint64_t> column_sums(const std::string& csv) {
  const auto rows = csv_rows(csv);
  std::map<std::string, std::uint64_t> sums;
  for (std::size_t r = 1; r < rows.size(); ++r) {
    REQUIRE(rows[r].size() == rows[0].size());
    for (std::size_t c = 0; c < rows[r].size(); ++c)
      sums[rows[0][c]] += scaled(rows[r][c], rows[0][c].ends_with("_ns") ? 6 : 0);
  }
  return sums;
}

std::uint64_t fs(const Json& ns) {
  return static_cast<std::uint64_t>(ns.get<double>() * 1e6 + 0.5);
}

} // namespace

TEST_CASE("windows of timeseries.csv follow one another and sum to the summary", "[app]") {
  const Run run;
  const std::string csv = run.folder.read("out/timeseries.csv");
  const auto rows = csv_rows(csv);
  std::uint64_t at = 0;
  for (std::size_t r = 1; r < rows.size(); ++r) {
    CHECK(scaled(rows[r][0], 6) == at);
    at += scaled(rows[r][1], 6);
  }
  CHECK(at == fs(run.summary.at("time").at("simulated_ns")));

  auto sums = column_sums(csv);
  for (const auto& [name, tier] : run.summary.at("tiers").items()) {
    CHECK(sums.at(name + ".read_bytes") == tier.at("read_bytes"));
    CHECK(sums.at(name + ".write_bytes") == tier.at("write_bytes"));
  }
  for (const auto& [name, link] : run.summary.at("links").items()) {
    CHECK(sums.at(name + ".tx_bytes") == link.at("tx_bytes"));
    CHECK(sums.at(name + ".rx_bytes") == link.at("rx_bytes"));
  }
  for (const auto& [cause, time] : run.summary.at("time_by_cause").items())
    CHECK(sums.at("gpu0." + cause) == fs(time));
  const Json& scheduler = run.summary.at("scheduler");
  CHECK(sums.at("gpu0.remote_hits") == scheduler.at("remote_hits"));
  CHECK(sums.at("gpu0.faults") == scheduler.at("faults"));
  CHECK(sums.at("gpu0.migrated_bytes") == scheduler.at("migrated_bytes"));
}

TEST_CASE("occupancy in a window is the sum of its regions, at most the tier", "[app]") {
  const Run run;
  const auto rows = csv_rows(run.folder.read("out/timeseries.csv"));
  std::map<std::string, std::size_t> at;
  for (std::size_t c = 0; c < rows[0].size(); ++c)
    at[rows[0][c]] = c;
  for (std::size_t r = 1; r < rows.size(); ++r)
    for (const auto& [name, tier] : run.summary.at("tiers").items()) {
      const auto value = [&, &tier_name = name](const std::string& what) {
        return std::stoull(rows[r][at.at(tier_name + "." + what)]);
      };
      CHECK(value("used_bytes") ==
            value("kv_bytes") + value("activation_bytes") + value("weight_bytes"));
      CHECK(value("used_bytes") <= tier.at("peak_bytes").get<std::uint64_t>());
    }
  CHECK(run.summary.at("tiers").at("hbm").at("regions").at("activation").at("end_bytes") ==
        run.summary.at("tiers").at("hbm").at("peak_bytes"));
}

TEST_CASE("rows are as many as report.rows allows, and sums stay", "[app]") {
  const Run run({"report.rows=16", "report.window=100ns"});
  const std::string csv = run.folder.read("out/timeseries.csv");
  CHECK(csv_rows(csv).size() - 1 <= 16);
  CHECK(csv_rows(csv).size() - 1 >= 8);
  CHECK(column_sums(csv).at("hbm.read_bytes") ==
        run.summary.at("tiers").at("hbm").at("read_bytes"));
}

TEST_CASE("how closely a run is watched changes nothing else, not even the scenario's hash",
          "[app]") {
  const Run plain;
  for (const std::string set :
       {"report.window=1ps", "report.window=1s", "report.rows=16", "report.timeline_events=100"}) {
    CAPTURE(set);
    const Run other({set});
    CHECK(plain.folder.read("out/kernels.csv") == other.folder.read("out/kernels.csv"));
    CHECK(plain.folder.read("out/summary.json") == other.folder.read("out/summary.json"));
  }
}

TEST_CASE("timeline.json is in order of time and no two slices of a track overlap", "[app]") {
  const Run run;
  const Json timeline = run.timeline();
  double last = 0;
  std::map<std::pair<int, int>, double> free_from;
  std::size_t slices = 0, kernels = 0;
  for (const Json& event : timeline.at("traceEvents")) {
    const double ts = event.at("ts");
    CHECK(ts >= last);
    last = ts;
    if (event.at("ph") != "X") continue;
    ++slices;
    kernels += event.at("cat") == "kernel";
    double& from = free_from[{event.at("pid"), event.at("tid")}];
    CHECK(ts >= from - 1e-6); // written to 10⁻⁹ µs, read as doubles
    from = ts + event.at("dur").get<double>();
    for (const std::string key : {"id", "bound_by", "bytes_read", "dram_bytes", "energy_j"})
      CHECK(event.at("args").contains(key));
  }
  CHECK(slices == 62);
  CHECK(kernels == 60);
  CHECK(free_from.size() == 3); // streams 7, 8 and 9
  CHECK(timeline.at("otherData").at("slices_left_out") == 0);
  CHECK(last <= run.summary.at("time").at("simulated_ns").get<double>() / 1000 + 1e-6);
}

TEST_CASE("a write to the pool is in timeline.json with its five steps", "[app]") {
  // 8 MiB of keys that lie in the pool are written; half of HBM's eighth is the buffer.
  std::string trace = kStreamHeader;
  trace += R"({"record":"tensor","id":0,"name":"k","role":"kv-key","bytes":8388608})"
           "\n";
  trace += R"({"record":"kernel","id":0,"name":"append","rule":"recorded","accesses":[)"
           R"({"tensor":0,"write":true,"rule":"recorded","length_bytes":8388608}]})"
           "\n";
  const Run run({R"(policy={"name":"static","hbm_share":{"kv-key":0}})", "gpu.l2.capacity=1MiB",
                 "scheduler.pool_writes=staged"},
                trace);
  std::map<std::string, std::uint64_t> steps;
  const Json timeline = run.timeline();
  for (const Json& event : timeline.at("traceEvents"))
    if (event.value("cat", "") == "sync") ++steps[event.at("name").get<std::string>().substr(0, 1)];
  const std::uint64_t syncs = run.summary.at("scheduler").at("worm_syncs").get<std::uint64_t>();
  CHECK(syncs > 0);
  CHECK(steps == std::map<std::string, std::uint64_t>{{"1", syncs}, {"3", syncs}, {"4", syncs}});
}

TEST_CASE("every track of timeline.json has a name", "[app]") {
  const Run run;
  std::set<std::pair<int, int>> threads, named;
  std::set<int> processes, named_processes;
  std::set<std::string> names;
  const Json timeline = run.timeline();
  for (const Json& event : timeline.at("traceEvents")) {
    if (event.at("ph") == "X")
      threads.emplace(event.at("pid").get<int>(), event.at("tid").get<int>());
    if (event.at("ph") != "M") processes.insert(event.at("pid").get<int>());
    if (event.at("ph") == "C") names.insert(event.at("name"));
    if (event.at("name") == "thread_name")
      named.emplace(event.at("pid").get<int>(), event.at("tid").get<int>());
    if (event.at("name") == "process_name") named_processes.insert(event.at("pid").get<int>());
  }
  CHECK(threads == named);
  CHECK(std::includes(named_processes.begin(), named_processes.end(), processes.begin(),
                      processes.end()));
  for (const std::string counter :
       {"hbm traffic (GB/s)", "hbm occupancy (GiB)", "cxl traffic (GB/s)", "gpu0-sw0 (GB/s)"})
    CHECK(names.count(counter) == 1);
}

TEST_CASE("a timeline too long keeps the longest slices and says what it left out", "[app]") {
  const Run run({"report.timeline_events=100", "report.rows=8"}, plain_trace(300));
  const Json timeline = run.timeline();
  const Json& facts = timeline.at("otherData");
  std::size_t slices = 0, samples = 0;
  double shortest = 1e30;
  for (const Json& event : timeline.at("traceEvents")) {
    samples += event.at("ph") == "C";
    if (event.at("ph") != "X") continue;
    ++slices;
    shortest = std::min(shortest, event.at("dur").get<double>());
  }
  CHECK(slices + samples <= 100);
  CHECK(slices >= 50);
  CHECK(facts.at("slices_kept") == slices);
  CHECK(facts.at("samples_kept") == samples);
  CHECK(slices + facts.at("slices_left_out").get<std::size_t>() == 300);
  std::size_t kept = 0, left_out = 0;
  for (const Json& track : facts.at("tracks")) {
    kept += track.at("kept").get<std::size_t>();
    left_out += track.at("left_out").get<std::size_t>();
  }
  CHECK(kept == slices);
  CHECK(left_out == 300 - slices);

  std::size_t longer = 0; // than the shortest that was kept: all of them are in
  const auto rows = csv_rows(run.folder.read("out/kernels.csv"));
  for (std::size_t r = 1; r < rows.size(); ++r)
    longer += std::stod(rows[r][6]) / 1000 > shortest + 1e-9;
  CHECK(longer < slices);
}

TEST_CASE("a name that is long or no text does not break the timeline", "[app]") {
  std::string trace = kStreamHeader + tensor_line(0, 1 << 20);
  std::string line = kernel_line(0, 0, 1 << 20);
  line.replace(line.find("\"k0\""), 4, "\"q\\\"uote\\n" + std::string(5000, 'x') + "é\"");
  const Run run({}, trace + line);
  const Json timeline = run.timeline();
  for (const Json& event : timeline.at("traceEvents"))
    if (event.at("ph") == "X") CHECK(event.at("name").get<std::string>().size() < 200);
}

TEST_CASE("energy of kernels, copies, moves and idling sums to the total", "[app]") {
  const Run run;
  const std::string file = run.folder.read("out/summary.json");
  const Json& energy = run.summary.at("energy");
  const auto total = [&](const char* parts) {
    double sum = 0;
    for (const auto& [name, joules] : energy.at(parts).items())
      sum += joules.get<double>();
    return sum;
  };
  const double all = energy.at("total_j");
  CHECK(all > 0);
  CHECK(total("by_place") == Approx(all).epsilon(1e-12));
  CHECK(total("by_account") == Approx(all).epsilon(1e-12));
  CHECK(energy.at("mean_power_w") ==
        Approx(all / (run.summary.at("time").at("simulated_ns").get<double>() * 1e-9)));

  double tiers = 0;
  for (const auto& [name, tier] : run.summary.at("tiers").items())
    tiers += tier.at("energy_j").get<double>();
  CHECK(tiers == Approx(energy.at("by_place").at("tiers_j").get<double>()).epsilon(1e-12));
  CHECK(run.summary.at("links").at("gpu0-host").at("energy_j").get<double>() > 0);
}

TEST_CASE("steps hold every operation, and their energies are those of their kernels", "[app]") {
  const Run run;
  const Json& steps = run.summary.at("energy").at("steps");
  REQUIRE(steps.size() == 3);
  CHECK(steps[0].at("name") == "before the first step");
  CHECK(steps[1].at("name") == "ProfilerStep#7");
  CHECK(steps[2].at("name") == "ProfilerStep#8");
  CHECK(steps[0].at("operations") == 1);
  CHECK(steps[1].at("operations") == 30);
  CHECK(steps[2].at("operations") == 31); // 29 kernels, a copy and a memset

  // Digit by digit: kernels 1 to 30 of kernels.csv, in femtojoules.
  std::uint64_t kernels = 0;
  const auto rows = csv_rows(run.folder.read("out/kernels.csv"));
  constexpr std::size_t energy_j = 14; // its column
  CHECK(rows[0].at(energy_j) == "energy_j");
  for (std::size_t r = 2; r <= 31; ++r)
    kernels += scaled(rows[r].at(energy_j), 15);
  const std::string file = run.folder.read("out/summary.json");
  const std::size_t at = file.find("\"energy_j\": ", file.find("ProfilerStep#7")) + 12;
  CHECK(scaled(file.substr(at, file.find_first_not_of("0123456789.", at) - at), 15) == kernels);
}

TEST_CASE("a trace without marks is one step", "[app]") {
  const Run run({}, plain_trace(5));
  const Json& steps = run.summary.at("energy").at("steps");
  REQUIRE(steps.size() == 1);
  CHECK(steps[0].at("name") == "whole run");
  CHECK(steps[0].at("operations") == 5);
}

TEST_CASE("progress says how far, how fast and what lies where", "[app]") {
  Folder folder;
  folder.write("t.jsonl", plain_trace(2000));
  const Ended ended = umfsim({"replay", "t.jsonl", "--scenario", preset("h100-sxm"), "--out", "out",
                              "--quiet", "--progress", "json"},
                             folder.path());
  REQUIRE(ended.status == 0);
  const Json step = Json::parse(ended.err.substr(0, ended.err.find('\n')));
  for (const std::string key : {"percent", "left_s", "simulated_ns", "speed"})
    CHECK(step.contains(key));
  const Json& hbm = step.at("tiers").at("hbm");
  CHECK(hbm.at("used_bytes") == 1 << 20);
  CHECK(hbm.at("capacity_bytes") == 80ULL << 30);
  CHECK(hbm.at("regions").at("activation") == 1 << 20);
  CHECK(hbm.at("regions").at("kv") == 0);
}
