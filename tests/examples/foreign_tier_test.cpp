#include "tests/app/child.h"
#include "tests/app/folder.h"
#include "tests/app/samples.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace umf::test;
using Catch::Contains;
using Json = nlohmann::ordered_json;

/// examples/foreign-tier: `umfsim` with a third party's memory in place of HBM.
namespace {

const std::string kScenario = source_file("examples/foreign-tier/h100-foreign-hbm.json").string();

/// Nanoseconds of simulated time, with `model` for HBM.
double replay(const std::string& trace, const std::string& model) {
  Folder folder;
  const Ended ended = Child({"replay", trace, "--scenario", kScenario, "--set",
                             "tiers.hbm.model=" + model, "--quiet", "--out", "out"},
                            folder.path(), UMFSIM_FOREIGN)
                          .wait();
  INFO(ended.err);
  REQUIRE(ended.status == 0);
  const Json summary = Json::parse(folder.read("out/summary.json"));
  CHECK(summary.at("ledger").at("ok") == true);
  CHECK(summary.at("tiers").at("hbm").at("read_bytes") > 0);
  return summary.at("time").at("simulated_ns").get<double>();
}

} // namespace

TEST_CASE("the example replays the sample on a foreign memory, as slowly as that is") {
  const std::string sample = source_file("traces/samples/h100-qwen1.5-0.5b.umft").string();
  CHECK(replay(sample, "simple-memory") < replay(sample, "slow-memory"));
}

TEST_CASE("one sector from the example's memories takes 500 ns more from the slower") {
  Folder folder;
  folder.write("t.jsonl", kStreamHeader + tensor_line(0, 32) + kernel_line(0, 0, 32));
  const std::string trace = (folder.path() / "t.jsonl").string();
  // Latencies of 100 and 600 ns; 32 B take 0.01 and 0.08 ns.
  CHECK(replay(trace, "slow-memory") - replay(trace, "simple-memory") ==
        Approx(500 + 0.08 - 0.01).margin(0.001));
}

TEST_CASE("umfsim itself has no foreign module and says so") {
  Folder folder;
  const Ended ended = umfsim({"check", kScenario}, folder.path());
  CHECK(ended.status == 2);
  CHECK_THAT(ended.err, Contains("no foreign module is called \"simple-memory\""));
}
