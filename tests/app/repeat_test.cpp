#include "tests/app/child.h"
#include "tests/app/folder.h"
#include "tests/app/samples.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace umf::test;
using Json = nlohmann::json;

namespace {

/// A trace with oddities, whose places name the file.
void write_trace(const Folder& folder) {
  const auto event = [](int ts, int dur) {
    return R"({"ph":"X","cat":"kernel","name":"k","ts":)" + std::to_string(ts) + R"(,"dur":)" +
           std::to_string(dur) + R"(,"args":{"device":0,"stream":7}})";
  };
  folder.write("traces/t.json", kineto(event(1, 2) + "," + event(9, -2)));
  folder.write("traces/elsewhere/empty", "");
}

void check_same(const Folder& folder, const std::string& one, const std::string& other) {
  for (const std::string file : {"summary.json", "kernels.csv", "timeseries.csv", "timeline.json"})
    CHECK(folder.read(one + "/" + file) == folder.read(other + "/" + file));
}

} // namespace

TEST_CASE("two runs give the same bytes, whichever way the files are named", "[app]") {
  Folder folder;
  write_trace(folder);
  const auto replay = [&](const std::string& trace, const std::string& out,
                          const std::filesystem::path& from) {
    return umfsim({"replay", trace, "--scenario", preset("umf-small-hbm"), "--out", out}, from)
        .status;
  };
  const auto here = folder.path();

  REQUIRE(replay("traces/t.json", "one", here) == 0);
  REQUIRE(replay("traces/t.json", "two", here) == 0);
  REQUIRE(replay("traces/elsewhere/../t.json", "out/deep/three", here) == 0);
  REQUIRE(replay("t.json", "../four", here / "traces") == 0);
  REQUIRE(replay((here / "traces/t.json").string(), (here / "five").string(), "/") == 0);

  for (const std::string other : {"two", "out/deep/three", "four", "five"})
    check_same(folder, "one", other);
}

TEST_CASE("neither format, progress nor locale change the results", "[app]") {
  Folder folder;
  folder.write("t.jsonl", plain_trace(50));
  const auto replay = [&](const std::string& out, std::vector<std::string> more) {
    more.insert(more.begin(),
                {"replay", "t.jsonl", "--scenario", preset("h100-sxm"), "--out", out});
    return umfsim(more, folder.path()).status;
  };
  REQUIRE(replay("one", {}) == 0);
  REQUIRE(replay("two", {"--quiet", "--progress", "json"}) == 0);
  setenv("LC_ALL", "de_DE.UTF-8", 1);
  setenv("LANG", "de_DE.UTF-8", 1);
  REQUIRE(replay("three", {"--format", "csv"}) == 0);
  check_same(folder, "one", "two");
  check_same(folder, "one", "three");
}

TEST_CASE("a second run replaces the files of the first", "[app]") {
  Folder folder;
  folder.write("t.jsonl", plain_trace(1));
  folder.write("longer.jsonl", plain_trace(3));
  const auto replay = [&](const std::string& trace) {
    return umfsim({"replay", trace, "--scenario", preset("h100-sxm"), "--out", "out"},
                  folder.path());
  };
  REQUIRE(replay("longer.jsonl").status == 0);
  REQUIRE(replay("t.jsonl").status == 0);
  CHECK(Json::parse(folder.read("out/summary.json")).at("trace").at("kernels") == 1);
}

TEST_CASE("the hash names the machine: equal for equal machines alone", "[app]") {
  Folder folder;
  folder.write("t.jsonl", plain_trace(1));
  const auto hash = [&](const std::string& set) {
    REQUIRE(umfsim({"replay", "t.jsonl", "--scenario", preset("h100-sxm"), "--out", "out", "--set",
                    set},
                   folder.path())
                .status == 0);
    return Json::parse(folder.read("out/summary.json")).at("scenario").at("hash");
  };
  CHECK(hash("tiers.hbm.capacity=80GiB") == hash("/tiers/hbm/capacity=81920MiB"));
  CHECK(hash("tiers.hbm.capacity=80GiB") != hash("tiers.hbm.capacity=79GiB"));
  CHECK(hash("seed=1") != hash("seed=2"));
}

TEST_CASE("a --set refines the policy that --policy chose", "[app]") {
  Folder folder;
  folder.write("t.jsonl", plain_trace(1));
  const Ended ended = umfsim({"replay", "t.jsonl", "--scenario", preset("umf-small-hbm"), "--set",
                              "policy.name=hbm-only", "--policy", "static", "--out", "out"},
                             folder.path());
  REQUIRE(ended.status == 0);
  CHECK(Json::parse(folder.read("out/summary.json")).at("policy") == "hbm-only");
}
