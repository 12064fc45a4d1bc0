#include "tests/app/child.h"
#include "tests/app/folder.h"
#include "tests/app/refusal.h"
#include "tests/app/samples.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

/// umfsim explain on runs of small traces.
namespace umf::test {

using Catch::Contains;
using Json = nlohmann::json;

namespace {

/// Two experts of 3 MiB in turn, one of which has no place in 4 MiB of HBM.
std::string experts(unsigned kernels) {
  std::string text = kStreamHeader;
  for (unsigned t = 0; t < 2; ++t)
    text += fmt::format(R"({{"record":"tensor","id":{0},"name":"t{0}","role":"expert",)"
                        R"("dtype":"f16","bytes":{1}}})"
                        "\n",
                        t, 3 << 20);
  for (unsigned k = 0; k < kernels; ++k)
    text += fmt::format(R"({{"record":"kernel","id":{0},"name":"k{0}","grid":[1056,1,1],)"
                        R"("block":[256,1,1],"rule":"recorded","accesses":)"
                        R"([{{"tensor":{1},"rule":"recorded","length_bytes":3145728}}]}})"
                        "\n",
                        k, k == 0 ? 0 : 1);
  return text;
}

Ended replay(const Folder& folder, const std::string& scenario,
             const std::vector<std::string>& more = {}, const std::string& out = "out") {
  std::vector<std::string> arguments = {"replay",
                                        "t.jsonl",
                                        "--scenario",
                                        scenario,
                                        "--out",
                                        out,
                                        "--quiet",
                                        "--set",
                                        "tiers.hbm.capacity=4MiB",
                                        "--set",
                                        "gpu.l2.capacity=1MiB",
                                        "--set",
                                        R"(policy={"name":"umf","block":"64KiB"})"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return umfsim(arguments, folder.path());
}

/// Leaves a finished run in `out`.
void finish(const Folder& folder) {
  folder.write("t.jsonl", experts(12));
  const Ended ended = replay(folder, preset("umf-small-hbm"));
  CAPTURE(ended.err);
  REQUIRE(ended.status == 0);
}

double ns(const Json& entry) {
  return entry.at("simulated_ns").get<double>();
}

const Json* named(const Json& entries, const char* key, const std::string& name) {
  for (const Json& entry : entries)
    if (entry.at(key) == name) return &entry;
  return nullptr;
}

} // namespace

TEST_CASE("a finished run is explained from its folder alone, each claim by a rerun", "[app]") {
  const Folder folder;
  finish(folder);
  const Ended ended = umfsim({"explain", "out"}, folder.path());
  CAPTURE(ended.err);
  REQUIRE(ended.status == 0);
  CHECK_THAT(ended.out, Contains("1  What bounded it"));
  CHECK_THAT(ended.out, Contains("held it up longest"));
  CHECK_THAT(ended.out, Contains("2  What each mechanism of umf was worth"));
  CHECK_THAT(ended.out, Contains("S6 promotion saves")); // else the pool is read every time
  CHECK_THAT(ended.out, Contains("3  What to try next"));
  CHECK_THAT(ended.out, Contains(R"(--set 'policy={"name":"lru"}')"));

  const Json summary = Json::parse(folder.read("out/summary.json"));
  const Json all = Json::parse(folder.read("out/explain.json"));
  for (const char* key : {"version", "trace", "scenario", "policy", "time", "bound", "blamed",
                          "limits", "mechanisms", "tries", "not_tried"})
    CHECK(all.contains(key));
  CHECK(all.at("time") == Json{{"simulated_ns", summary.at("time").at("simulated_ns")}});
  CHECK(all.at("limits").size() == 12); // four tiers, three links, all links, and four of the GPU
  CHECK(all.at("mechanisms").size() == 4);
  double blamed = 0;
  for (const Json& blame : all.at("blamed"))
    blamed += blame.at("share").get<double>();
  CHECK(blamed == Approx(1));
  for (const char* list : {"limits", "tries"}) {
    double before = 1;
    for (const Json& entry : all.at(list)) {
      if (entry.contains("refused")) continue;
      CHECK(entry.at("saved").get<double>() <= before);
      before = entry.at("saved").get<double>();
      CHECK(ns(entry) + entry.at("saved_ns").get<double>() == Approx(ns(all.at("time"))));
    }
  }
}

TEST_CASE("what explain tried is what replay does with its keys", "[app]") {
  const Folder folder;
  finish(folder);
  REQUIRE(umfsim({"explain", "out"}, folder.path()).status == 0);
  const Json all = Json::parse(folder.read("out/explain.json"));
  const Json* lru = named(all.at("tries"), "change", "policy lru");
  const Json* links = named(all.at("limits"), "limit", "links");
  REQUIRE(lru != nullptr);
  REQUIRE(links != nullptr);
  REQUIRE(replay(folder, preset("umf-small-hbm"),
                 {"--set", lru->at("set").at(0).get<std::string>()}, "lru")
              .status == 0);
  CHECK(ns(Json::parse(folder.read("lru/summary.json")).at("time")) == ns(*lru));
  REQUIRE(replay(folder, preset("umf-small-hbm"), {"--ideal", "links"}, "ideal").status == 0);
  CHECK(ns(Json::parse(folder.read("ideal/summary.json")).at("ideal").at(0).at("time")) ==
        ns(*links));
}

TEST_CASE("an explanation is the same twice, from anywhere, and on stdout as JSON", "[app]") {
  const Folder folder, elsewhere;
  finish(folder);
  REQUIRE(umfsim({"explain", "out"}, folder.path()).status == 0);
  const std::string first = folder.read("out/explain.json");
  const Ended ended =
      umfsim({"explain", (folder.path() / "out").string(), "--format", "json"}, elsewhere.path());
  CHECK(ended.status == 0);
  CHECK(ended.out == first);
  CHECK(folder.read("out/explain.json") == first);
  CHECK(elsewhere.entries().empty());

  REQUIRE(replay(folder, preset("umf-small-hbm"), {"--seed", "2"}).status == 0);
  CHECK(folder.entries().count("out/explain.json") == 0); // it was about another run
}

TEST_CASE("what there is no time for is named, not tried", "[app]") {
  const Folder folder;
  finish(folder);
  const Ended ended = umfsim({"explain", "out", "--within", "0"}, folder.path());
  REQUIRE(ended.status == 0);
  CHECK_THAT(ended.out, Contains("Not tried, beyond 8 changes or --within 0 s"));
  const Json all = Json::parse(folder.read("out/explain.json"));
  CHECK(all.at("limits").empty());
  CHECK(all.at("mechanisms").empty());
  CHECK(all.at("tries").empty());
  CHECK(all.at("bound").is_null());
  CHECK_FALSE(all.at("blamed").empty()); // that needs no rerun
  // 12 limits, 4 mechanisms, 3 policies at least.
  CHECK(all.at("not_tried").size() >= 19);
  check_refused(umfsim({"explain", "out", "--within", "-1"}, folder.path()));
}

TEST_CASE("a policy without mechanisms and a machine without a pool are explained, too", "[app]") {
  const Folder folder;
  folder.write("t.jsonl", plain_trace(5));
  REQUIRE(
      umfsim({"replay", "t.jsonl", "--scenario", preset("h100-sxm"), "--out", "out"}, folder.path())
          .status == 0);
  const Ended ended = umfsim({"explain", "out"}, folder.path());
  CAPTURE(ended.err);
  CHECK(ended.status == 0);
  CHECK_THAT(ended.out, !Contains("mechanism"));
  CHECK(Json::parse(folder.read("out/explain.json")).at("mechanisms").empty());
}

TEST_CASE("a folder that no replay wrote is refused", "[app]") {
  const Folder folder;
  folder.write("t.jsonl", plain_trace(3));
  const Ended none = umfsim({"explain", "nowhere"}, folder.path());
  check_refused(none);
  CHECK_THAT(none.err, Contains("nowhere: has no summary.json, expected a folder that umfsim "
                                "replay wrote"));
  REQUIRE(
      umfsim({"replay", "t.jsonl", "--scenario", preset("h100-sxm"), "--out", "out"}, folder.path())
          .status == 0);
  // As an older version wrote it, or serve-sim.
  folder.write("out/run.json", R"({"wall_s": 1})");
  const Ended old = umfsim({"explain", "out"}, folder.path());
  check_refused(old);
  CHECK_THAT(old.err, Contains("does not say what was replayed"));
  folder.write("out/run.json", R"({"request": {"traces": 5}})");
  check_refused(umfsim({"explain", "out"}, folder.path()));
  folder.write("out/summary.json", "{");
  check_refused(umfsim({"explain", "out"}, folder.path()));
}

TEST_CASE("a trace that has changed since is not explained", "[app]") {
  const Folder folder;
  finish(folder);
  std::string trace = folder.read("t.jsonl");
  folder.write("t.jsonl", trace + "\n");
  const Ended longer = umfsim({"explain", "out"}, folder.path());
  check_refused(longer);
  CHECK_THAT(longer.err, Contains("t.jsonl: has changed since it was replayed"));
  trace[trace.rfind("k11")] = 'q'; // as long as before
  folder.write("t.jsonl", trace);
  CHECK_THAT(umfsim({"explain", "out"}, folder.path()).err, Contains("has changed since"));
  std::filesystem::remove(folder.path() / "t.jsonl");
  const Ended gone = umfsim({"explain", "out"}, folder.path());
  check_refused(gone);
  CHECK_THAT(gone.err, Contains("is no longer there"));
  CHECK_FALSE(folder.entries().count("out/explain.json") > 0);
}

TEST_CASE("a scenario that has changed since is not explained", "[app]") {
  const Folder folder;
  folder.write("t.jsonl", experts(3));
  const auto machine = [&](const char* more) {
    folder.write("m.json", R"({"include": [")" + preset("umf-small-hbm") + R"("])" + more + "}");
  };
  machine("");
  REQUIRE(replay(folder, "m.json").status == 0);
  machine(R"(, "tiers": {"cxl": {"channels": 4}})");
  const Ended ended = umfsim({"explain", "out"}, folder.path());
  check_refused(ended);
  CHECK_THAT(ended.err, Contains("m.json: describes another machine"));
}

} // namespace umf::test
