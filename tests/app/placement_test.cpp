#include "tests/app/folder.h"
#include "tests/app/refusal.h"
#include "tests/app/samples.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace umf::test;
using Catch::Contains;
using Catch::StartsWith;
using Json = nlohmann::json;

namespace {

/// A machine without a pool, its HBM as large as said.
Ended replay_in(const Folder& folder, const std::string& capacity) {
  return umfsim({"replay", "t.jsonl", "--scenario", preset("h100-sxm"), "--policy", "hbm-only",
                 "--set", "tiers.hbm.capacity=" + capacity, "--set", "scheduler.page=64KiB",
                 "--out", "out"},
                folder.path());
}

} // namespace

TEST_CASE("hbm-only refuses a trace that HBM cannot hold, with the tensor and both sizes",
          "[app]") {
  Folder folder;
  // Two tensors of 3 MiB: the second finds 5 − 3 = 2 MiB.
  folder.write("t.jsonl", kStreamHeader + tensor_line(4, 3 << 20) + tensor_line(5, 3 << 20) +
                              kernel_line(0, 4, 3 << 20) + kernel_line(1, 5, 3 << 20));

  const Ended small = replay_in(folder, "5MiB");

  CAPTURE(small.err);
  check_refused(small);
  CHECK_THAT(small.err, StartsWith("t.jsonl: "));
  CHECK_THAT(small.err, Contains("\"t5\""));
  CHECK_THAT(small.err, Contains("3145728 B"));                   // what it needs
  CHECK_THAT(small.err, Contains("2097152 B free of 5242880 B")); // what there is
  CHECK(folder.entries() == std::set<std::string>{"t.jsonl"});

  CHECK(replay_in(folder, "8MiB").status == 0);
}

TEST_CASE("a trace of two devices needs a machine of two GPUs", "[app]") {
  Folder folder;
  folder.write("t.jsonl", kStreamHeader + tensor_line(0, 64) + tensor_line(1, 64) +
                              kernel_line(0, 0, 64) + kernel_line(1, 1, 64, R"(,"device":1)"));
  const auto replay_on = [&](const std::string& gpus) {
    return umfsim({"replay", "t.jsonl", "--scenario", preset("h100-sxm"), "--set", "gpus=" + gpus,
                   "--out", "out"},
                  folder.path());
  };

  const Ended one = replay_on("1");
  check_refused(one);
  CHECK_THAT(one.err, StartsWith("t.jsonl: "));
  CHECK_THAT(one.err, Contains("expected \"gpus\": 2 or more"));

  REQUIRE(replay_on("2").status == 0);
  const Json summary = Json::parse(folder.read("out/summary.json"));
  CHECK(summary.at("gpus") == 2);
  CHECK(summary.at("ledger").at("ok") == true);
}
