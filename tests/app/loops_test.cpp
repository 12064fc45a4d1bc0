#include "tests/app/child.h"
#include "tests/app/csv.h"
#include "tests/app/folder.h"
#include "tests/app/samples.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>

/// What a run says of collections of the pool (S8) and of the tuner (S9).
using namespace umf::test;
using Catch::Contains;
using Json = nlohmann::ordered_json;

namespace {

struct Run {
  Folder folder;
  std::string terminal;
  Json unit; ///< the summary's scheduler

  explicit Run(const std::string& policy, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {
        "replay",     source_file("tests/walk/traces/paging.jsonl").string(),
        "--scenario", preset("umf-small-hbm"),
        "--out",      "out",
        "--set",      "tiers.hbm.capacity=64MiB",
        "--set",      "gpu.l2.capacity=4MiB",
        "--set",      "policy={\"name\":\"umf\",\"spread\":false" + policy + "}"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ended ended = umfsim(arguments, folder.path());
    INFO(ended.err);
    REQUIRE(ended.status == 0);
    terminal = ended.out;
    unit = Json::parse(folder.read("out/summary.json")).at("scheduler");
  }
  /// Of all windows.
  std::uint64_t sum(const std::string& column) const {
    const auto rows = csv_rows(folder.read("out/timeseries.csv"));
    const auto& head = rows.front();
    const auto at = std::find(head.begin(), head.end(), column) - head.begin();
    REQUIRE(at < static_cast<std::ptrdiff_t>(head.size()));
    std::uint64_t all = 0;
    for (std::size_t r = 1; r < rows.size(); ++r)
      all += std::stoull(rows[r][static_cast<std::size_t>(at)]);
    return all;
  }
};

// The pool of 256 GiB always counts as full.
const std::string kCollects =
    R"(,"gc":"kv","gc_threshold":"256GiB","gc_window":"10us","gc_pause":"10us")";
const std::string kTunes =
    R"(,"tuner":true,"sensor_window":"10us","tuner_period":"20us","tuner_calm":"50us")";

} // namespace

TEST_CASE("a run says what was collected and what of it was wanted again", "[app]") {
  const Run run(kCollects);
  const Json& gc = run.unit.at("gc");
  CHECK(run.unit.at("gc_runs") == gc.at("runs"));
  CHECK(gc.at("runs") > 1);
  CHECK(gc.at("to") == "host");
  CHECK(gc.at("freed_bytes") == gc.at("freed_pages").get<std::uint64_t>() * 65536);
  CHECK(gc.at("regret_pages") > 0);
  CHECK(gc.at("regret_pages") <= gc.at("freed_pages"));
  CHECK(gc.at("fault_pages") == run.unit.at("faults"));
  CHECK(gc.at("scan_ns") > 0);
  CHECK(run.unit.at("tuner").is_null());
  CHECK(run.sum("gpu0.collected_bytes") == gc.at("freed_bytes"));
  CHECK_THAT(run.terminal, Contains("collection ") && Contains("page-table entries"));
  CHECK_THAT(run.folder.read("out/timeline.json"), Contains("scan of the page table"));
}

TEST_CASE("a run whose policy does neither has nothing of them", "[app]") {
  const Run run("");
  CHECK(run.unit.at("gc_runs") == 0);
  CHECK(run.unit.at("gc").is_null());
  CHECK(run.unit.at("tuner").is_null());
  CHECK(run.folder.read("out/timeseries.csv").find("collected") == std::string::npos);
  CHECK(run.folder.read("out/timeseries.csv").find("reserve") == std::string::npos);
}

TEST_CASE("a run says what the tuner did, and its settings window by window", "[app]") {
  const Run run(kTunes);
  const Json& tuner = run.unit.at("tuner").at(0);
  CHECK(tuner.at("periods") > 10);
  CHECK(tuner.at("changes") == tuner.at("reserve_raised").get<std::uint64_t>() +
                                   tuner.at("reserve_lowered").get<std::uint64_t>() +
                                   tuner.at("prefetch_window_changes").get<std::uint64_t>());
  CHECK(tuner.at("prefetch_window") == 1536); // no faults
  CHECK(run.sum("gpu0.hbm_reserve_bytes") > 0);
  CHECK(run.sum("gpu0.prefetch_window_rows") > 512);
  CHECK_THAT(run.terminal, Contains("tuner "));
}

TEST_CASE("bounds of the reserve that contradict each other are refused", "[app]") {
  Folder folder;
  folder.write("t.jsonl", plain_trace(1));
  const Ended ended = umfsim({"replay", "t.jsonl", "--scenario", preset("umf-small-hbm"),
                              "--policy", "umf", "--set", "policy.tuner_reserve_min=0.3"},
                             folder.path());
  CHECK(ended.status == 2);
  CHECK_THAT(ended.err, Contains("tuner_reserve_min") &&
                            Contains("0.3 is above tuner_reserve_max of 0.25, expected at most"));
}
