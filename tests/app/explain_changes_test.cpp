#include "app/report/explain.h"
#include "hw/fabric/cause.h"
#include "tests/app/samples.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <map>

/// What explain tries, from made-up summaries.
namespace umf::app {

using Json = nlohmann::ordered_json;
using Names = std::vector<std::string>;

namespace {

/// 1000 ns, of which each cause has what `causes` says.
Json summary_with(const std::map<std::string, double>& causes) {
  Json by_cause = Json::object();
  for (std::size_t c = 0; c < hw::kCauses; ++c)
    by_cause[std::string(hw::name_of(static_cast<hw::Cause>(c))) + "_ns"] = 0;
  for (const auto& [cause, ns] : causes)
    by_cause[cause + "_ns"] = ns;
  return {{"time", {{"simulated_ns", 1000}}},
          {"time_by_cause", by_cause},
          {"links", Json::object()},
          {"tiers", Json::object()},
          {"scheduler",
           {{"remote_pages", 0},
            {"faults", 0},
            {"commands_refused", 0},
            {"prefetch", {{"issued", 0}, {"late", 0}}}}}};
}

/// A run of umf on a shipped machine, on which nothing is remarkable.
FinishedRun quiet_run(const std::string& machine) {
  FinishedRun run;
  run.request.traces = {"t.jsonl"};
  run.request.scenario = test::preset(machine);
  run.request.sets = {R"(/policy={"name":"umf"})"};
  run.summary = summary_with({{"compute", 1000}});
  for (const char* tier : {"hbm", "sram", "cxl", "host"})
    run.summary["tiers"][tier] = {{"peak_bytes", 0}, {"regions", {{"kv", {{"peak_bytes", 0}}}}}};
  for (const char* link : {"gpu0-host", "gpu0-sw0", "sw0-cxl"})
    run.summary["links"][link] = {{"utilisation", 0.0}};
  return run;
}

Names names_of(const std::vector<Change>& changes) {
  Names names;
  for (const Change& change : changes)
    names.push_back(change.name);
  return names;
}

/// What --set it takes; empty where there is no such change.
Names sets_of(const Changes& changes, const std::string& name) {
  for (const Change& change : changes.tries)
    if (change.name == name) return change.sets;
  return {};
}

} // namespace

TEST_CASE("time is blamed on the limits that would have to be lifted, largest first", "[app]") {
  const Json summary = summary_with({{"link_bandwidth", 600},
                                     {"link_latency", 40},
                                     {"cxl_bandwidth", 200},
                                     {"cxl_latency", 50},
                                     {"idle", 110}});
  const auto two = blames(summary, {"hbm", "cxl", "link a", "link b", "links"});
  REQUIRE(two.size() == 3);
  CHECK(two[0].name == "links");
  CHECK(two[0].share == Approx(0.64)); // 600 + 40 of 1000
  CHECK(two[1].name == "cxl");
  CHECK(two[1].share == Approx(0.25)); // 200 + 50
  CHECK(two[2].name == "idle");
  CHECK_FALSE(two[2].liftable);

  // A link alone is to blame by its name; a machine without a pool has nothing to lift for it.
  const auto one = blames(summary, {"hbm", "link a"});
  CHECK(one[0].name == "link a");
  CHECK(one[1].name == "cxl_bandwidth");
  CHECK_FALSE(one[1].liftable);
}

TEST_CASE("limits are lifted in order of blame, links by how busy they were", "[app]") {
  Json summary = summary_with({{"link_bandwidth", 700}, {"hbm_latency", 300}});
  summary["links"] = {{"a", {{"utilisation", 0.2}}}, {"b", {{"utilisation", 0.8}}}};
  // Link a: 0.7 × 0.2 / 0.8 is less than HBM's 0.3.
  CHECK(by_blame(summary, {"hbm", "cxl", "link a", "link b", "links", "l2"}) ==
        Names{"links", "link b", "hbm", "link a", "cxl", "l2"});
}

TEST_CASE("reruns fit two at a time, each as long as the run was", "[app]") {
  CHECK(reruns_within(120, 30) == 8);
  CHECK(reruns_within(119, 30) == 6);
  CHECK(reruns_within(10, 30) == 0);
  CHECK(reruns_within(0, 0) == 0);
  CHECK(reruns_within(120, 0) == 2000);
}

TEST_CASE("few reruns are shared among limits, mechanisms and changes", "[app]") {
  struct Row {
    std::size_t reruns, limits, mechanisms;
    std::size_t of_limits, of_mechanisms, of_changes;
  };
  const Row row = GENERATE(Row{0, 12, 4, 0, 0, 0},     // not even the run itself
                           Row{2, 12, 4, 1, 0, 0},     // one beside it
                           Row{8, 12, 4, 3, 2, 2},     // 7: 2 kept, 3 of 5, 2
                           Row{16, 12, 4, 6, 4, 5},    // 15: 5 kept, 5 of 10, 4, one more left
                           Row{2000, 12, 4, 12, 4, 8}, // all
                           Row{8, 12, 0, 5, 0, 2},     // mechanisms leave theirs to limits
                           Row{8, 1, 0, 1, 0, 6});     // and both to changes
  CAPTURE(row.reruns, row.limits, row.mechanisms);
  const Shares shares = shared_out(row.reruns, row.limits, row.mechanisms);
  CHECK(shares.limits == row.of_limits);
  CHECK(shares.mechanisms == row.of_mechanisms);
  CHECK(shares.tries == row.of_changes);
}

TEST_CASE("where nothing is remarkable only other policies are tried, not the run's own", "[app]") {
  const Changes changes = changes_for(quiet_run("umf-small-hbm"), std::nullopt);
  CHECK(names_of(changes.tries) == Names{"policy best-static", "policy lru", "policy remote-read"});
  CHECK(sets_of(changes, "policy lru") == Names{R"(policy={"name":"lru"})"});
  CHECK(changes.refused.empty());
}

TEST_CASE("busy links get one more each, all along the way, and the next generation", "[app]") {
  FinishedRun run = quiet_run("umf-small-hbm");
  run.summary["time_by_cause"]["link_bandwidth_ns"] = 900;
  run.summary["links"]["gpu0-sw0"]["utilisation"] = 0.95;
  run.summary["links"]["sw0-cxl"]["utilisation"] = 0.9;
  run.summary["links"]["gpu0-host"]["utilisation"] = 0.9; // elsewhere
  const Changes changes = changes_for(run, std::nullopt);
  CHECK(sets_of(changes, "one more link on gpu0-sw0, sw0-cxl") ==
        Names{"links.gpu0-sw0.count=2", "links.sw0-cxl.count=2"});
  CHECK(sets_of(changes, "the next generation on gpu0-sw0, sw0-cxl") ==
        Names{"links.gpu0-sw0.generation=6", "links.sw0-cxl.generation=6"});

  // One that idles on the way is left alone.
  run.summary["links"]["sw0-cxl"]["utilisation"] = 0.3;
  CHECK(sets_of(changes_for(run, std::nullopt), "one more link on gpu0-sw0") ==
        Names{"links.gpu0-sw0.count=2"});
}

TEST_CASE("links that gain are tried though time was not blamed on them", "[app]") {
  FinishedRun run = quiet_run("umf-small-hbm");
  run.summary["links"]["gpu0-host"]["utilisation"] = 0.4;
  CHECK(sets_of(changes_for(run, 0.01), "one more link on gpu0-host").empty());
  CHECK(sets_of(changes_for(run, 0.02), "one more link on gpu0-host") ==
        Names{"links.gpu0-host.count=2"});
}

TEST_CASE("a rate asked of the memory behind the links is raised with them", "[app]") {
  FinishedRun run = quiet_run("umf-three-tier");
  run.summary["links"]["gpu0-sw0"]["utilisation"] = 0.9;
  run.summary["links"]["sw0-cxl"]["utilisation"] = 0.9;
  // 400 GB/s × 9/8 is more than 8 channels of 51.2 GB/s: then what they carry.
  const Names eight = sets_of(changes_for(run, 0.5), "one more link on gpu0-sw0, sw0-cxl");
  CHECK(eight ==
        Names{"links.gpu0-sw0.count=9", "links.sw0-cxl.count=9", "tiers.cxl.bandwidth=null"});
  run.request.sets.emplace_back("tiers.cxl.channels=16");
  const Names sixteen = sets_of(changes_for(run, 0.5), "one more link on gpu0-sw0, sw0-cxl");
  CHECK(sixteen ==
        Names{"links.gpu0-sw0.count=9", "links.sw0-cxl.count=9", "tiers.cxl.bandwidth=450GB/s"});
}

TEST_CASE("what the scenario checker refuses is left out, with its reason", "[app]") {
  FinishedRun run = quiet_run("umf-small-hbm");
  run.request.sets.emplace_back("links.gpu0-host.generation=6"); // there is no seventh
  run.summary["links"]["gpu0-host"]["utilisation"] = 0.9;
  const Changes changes = changes_for(run, 0.5);
  REQUIRE(names_of(changes.refused) == Names{"the next generation on gpu0-host"});
  CHECK_THAT(changes.refused.front().why, Catch::Contains("/links/gpu0-host/generation"));
}

TEST_CASE("full HBM, late prefetches, refused moves and KV outside suggest their keys", "[app]") {
  FinishedRun run = quiet_run("umf-small-hbm");
  run.summary["tiers"]["hbm"]["peak_bytes"] = 500 << 20; // of 512 MiB
  run.summary["tiers"]["cxl"]["regions"]["kv"]["peak_bytes"] = 1 << 20;
  run.summary["scheduler"]["remote_pages"] = 7;
  run.summary["scheduler"]["commands_refused"] = 3;
  run.summary["scheduler"]["prefetch"] = {{"issued", 100}, {"late", 5}};
  const Changes changes = changes_for(run, std::nullopt);
  CHECK(sets_of(changes, "a quarter more HBM") == Names{"tiers.hbm.capacity=640MiB"});
  CHECK(sets_of(changes, "twice the prefetch window") == Names{"policy.prefetch_window=1024"});
  CHECK(sets_of(changes, "half the prefetch window") == Names{"policy.prefetch_window=256"});
  CHECK(sets_of(changes, "twice the command queue") == Names{"scheduler.command_queue=32"});
  CHECK(sets_of(changes, "KV outside HBM in fewer bits") == Names{"policy.pack=away"});

  run.summary["scheduler"]["remote_pages"] = 0; // nothing lay outside: more room is of no use
  run.summary["scheduler"]["prefetch"]["late"] = 4;
  const Changes fewer = changes_for(run, std::nullopt);
  CHECK(sets_of(fewer, "a quarter more HBM").empty());
  CHECK(sets_of(fewer, "twice the prefetch window").empty());
}

TEST_CASE("an explanation in words says what helped, what hurt and what is no difference",
          "[app]") {
  const auto of = [](double ns) -> Json {
    return {{"simulated_ns", ns},
            {"saved_ns", 1000 - ns},
            {"saved", 1 - ns / 1000},
            {"times_as_fast", 1000 / ns}};
  };
  const auto entry = [&](Json head, double ns) {
    head.update(of(ns));
    return head;
  };
  const Json all = {
      {"trace", "t"},
      {"scenario", {{"name", "m"}}},
      {"policy", "umf"},
      {"time", {{"simulated_ns", 1000}}},
      {"bound", {{"time", {{"simulated_ns", 400}}}}},
      {"blamed", Json::array({{{"name", "links"}, {"share", 0.9}, {"liftable", true}},
                              {{"name", "idle"}, {"share", 0.1}, {"liftable", false}}})},
      {"limits", Json::array({entry({{"limit", "links"}, {"blamed", 0.9}}, 500),
                              entry({{"limit", "link a"}, {"busy", 0.8}}, 990),
                              entry({{"limit", "link b"}, {"busy", 0.8}}, 1000),
                              entry({{"limit", "l2"}, {"blamed", 0.0}}, 1000)})},
      {"mechanisms", Json::array({entry({{"mechanism", "S6"}, {"what", "promotion"}}, 1610),
                                  entry({{"mechanism", "S4"}, {"what", "prefetch"}}, 900),
                                  entry({{"mechanism", "S3"}, {"what", "spreading"}}, 1004)})},
      {"tries",
       Json::array({entry({{"change", "c"}, {"why", "y"}, {"set", {"a.b={\"it's\":1}"}}}, 950),
                    {{"change", "d"}, {"set", {"e=1"}}, {"refused", "no such key"}}})},
      {"not_tried", {"without S5"}}};
  const std::string text = explanation_text(all, 60, 5);
  for (const char* said :
       {"links                     90.0 %     500.000 ns   2.00 times as fast",
        "No difference: l2.", "links held it up longest: 90.0 % of the time.",
        "90.0 % was blamed on links, lifting it saves 50.0 %",
        "Nothing to lift for: idle 10.0 % of the time.",
        "No link alone is worth more than 1.0 %, all together 50.0 %",
        "S6 promotion saves 610.000 ns: without it the run takes 1.610 µs, 61.0 % more.",
        "S4 prefetch costs 100.000 ns: without it the run takes 900.000 ns, 10.0 % less.",
        "No difference (below 0.5 %): S3 spreading.", "400.000 ns   the floor",
        "950.000 ns   c: 5.0 % less time (y)", R"(--set 'a.b={"it'\''s":1}')",
        "refused   d: no such key",
        "Not tried, beyond 8 changes or --within 60 s (a run takes 5.0 s): without S5."})
    CHECK_THAT(text, Catch::Contains(said));
}

} // namespace umf::app
