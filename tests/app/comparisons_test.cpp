#include "tests/app/folder.h"
#include "tests/app/refusal.h"
#include "tests/app/samples.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace umf::test;
using Catch::Contains;
using Json = nlohmann::json;

namespace {

/// Reads all of a 3 MiB tensor with enough threads that bandwidth binds, not latency.
std::string wide_kernel(unsigned id, unsigned tensor) {
  return fmt::format(R"({{"record":"kernel","id":{0},"name":"k{0}","grid":[1056,1,1],)"
                     R"("block":[256,1,1],"rule":"recorded","accesses":)"
                     R"([{{"tensor":{1},"rule":"recorded","length_bytes":3145728}}]}})"
                     "\n",
                     id, tensor);
}

/// Two tensors of 3 MiB, each read once: 6 MiB do not fit into 4 MiB of HBM.
std::string two_tensors() {
  return kStreamHeader + tensor_line(0, 3 << 20) + tensor_line(1, 3 << 20) + wide_kernel(0, 0) +
         wide_kernel(1, 1);
}

Ended replay(const Folder& folder, const std::string& machine,
             const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {"replay",        "t.jsonl", "--scenario",
                                        preset(machine), "--out",   "out"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return umfsim(arguments, folder.path());
}

Json summary_of(const Folder& folder) {
  return Json::parse(folder.read("out/summary.json"));
}

double simulated_ns(const Json& summary) {
  return summary.at("time").at("simulated_ns").get<double>();
}

} // namespace

TEST_CASE("a policy that refuses the trace is a rung of the ladder, not the end of the run",
          "[app]") {
  Folder folder;
  folder.write("t.jsonl", two_tensors());
  const Ended ended =
      replay(folder, "umf-small-hbm",
             {"--set", "tiers.hbm.capacity=4MiB", "--policy", "static", "--against", "hbm-only"});
  CAPTURE(ended.err);
  REQUIRE(ended.status == 0);
  CHECK_THAT(ended.out, Contains("refused: "));
  const Json rung = summary_of(folder).at("against").at(0);
  CHECK(rung.at("policy") == "hbm-only");
  CHECK_THAT(rung.at("refused").get<std::string>(), Contains("\"t1\" does not fit"));
}

TEST_CASE("the same policy gives the same figures on the ladder as on its own", "[app]") {
  Folder folder;
  folder.write("t.jsonl", two_tensors());
  // Everything fits: hbm-only and static place alike and take the same time to the femtosecond.
  REQUIRE(replay(folder, "umf-small-hbm", {"--policy", "static", "--against", "hbm-only"}).status ==
          0);
  const Json ladder = summary_of(folder);
  REQUIRE(replay(folder, "umf-small-hbm", {"--policy", "hbm-only"}).status == 0);
  const Json alone = summary_of(folder);
  const Json rung = ladder.at("against").at(0);
  CHECK(rung.at("time") == alone.at("time"));
  CHECK(rung.at("time_by_cause") == alone.at("time_by_cause"));
  CHECK(ladder.at("time") == alone.at("time"));
}

TEST_CASE("all policies of the program stand on the ladder, each once", "[app]") {
  Folder folder;
  folder.write("t.jsonl", two_tensors());
  REQUIRE(
      replay(folder, "umf-small-hbm", {"--policy", "static", "--against", "hbm-only,all"}).status ==
      0);
  const Json summary = summary_of(folder);
  std::set<std::string> names;
  for (const auto& rung : summary.at("against"))
    CHECK(names.insert(rung.at("policy").get<std::string>()).second);
  CHECK(names.count("hbm-only") == 1);
  CHECK(names.count("static") == 0); // the run's own
}

TEST_CASE("lifting any limit of this chain of two reads makes it no longer", "[app]") {
  Folder folder;
  folder.write("t.jsonl", two_tensors());
  REQUIRE(replay(folder, "umf-small-hbm", {"--set", "tiers.hbm.capacity=4MiB", "--ideal", "all"})
              .status == 0);
  const Json summary = summary_of(folder);
  const double base = simulated_ns(summary);
  std::set<std::string> limits;
  for (const auto& lifted : summary.at("ideal")) {
    CAPTURE(lifted.at("limit"));
    limits.insert(lifted.at("limit").get<std::string>());
    CHECK(simulated_ns(lifted) <= base * (1 + 1e-9));
    CHECK(lifted.at("ledger").at("ok") == true);
  }
  CHECK(limits.count("hbm") == 1);
  CHECK(limits.count("link gpu0-sw0") == 1);
  CHECK(limits.count("links") == 1);
  CHECK(limits.count("l2") == 1);
  CHECK(limits.count("scheduler") == 1);
  CHECK(limits.count("launch") == 1);
  CHECK(limits.count("compute") == 1);
}

TEST_CASE("of two equal links in a row lifting one gains nothing, lifting both does", "[app]") {
  Folder folder;
  folder.write("t.jsonl", two_tensors());
  REQUIRE(
      replay(folder, "umf-small-hbm",
             {"--set", "tiers.hbm.capacity=4MiB", "--ideal", "link gpu0-sw0,link:sw0-cxl,links"})
          .status == 0);
  const Json summary = summary_of(folder);
  const auto gain = [&](std::size_t which) {
    return simulated_ns(summary) - simulated_ns(summary.at("ideal").at(which));
  };
  // 2 MiB come over links of some 50 GB/s: 40 us. A single hop's latency, 70 ns each way, counts
  // once or twice (with the first and the last piece); with both hops free the device's DDR5,
  // which is three times as fast, takes some 15 us.
  CHECK(gain(0) < 1000);
  CHECK(gain(1) < 1000);
  CHECK(gain(2) > 20000);
}

TEST_CASE("a link whose limit is lifted does not train down either", "[app]") {
  Folder folder;
  folder.write("t.jsonl", two_tensors());
  const auto lifted = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--set", "tiers.hbm.capacity=4MiB", "--ideal", "link sw0-cxl"});
    REQUIRE(replay(folder, "umf-small-hbm", more).status == 0);
    return summary_of(folder);
  };
  const Json trained = lifted({"--set", R"(links.sw0-cxl.training.changes=["1us gen1 x1"])"});
  const Json steady = lifted({});
  CHECK(simulated_ns(trained) > simulated_ns(steady));
  CHECK(simulated_ns(trained.at("ideal").at(0)) == simulated_ns(steady.at("ideal").at(0)));
}

TEST_CASE("SRAM without its limit is as fast as the L2 in front of it", "[app]") {
  Folder folder;
  folder.write("t.jsonl", two_tensors());
  // umf puts the 6 MiB of activations into 48 MiB of SRAM: two reads of 3 MiB at the L2's rate.
  REQUIRE(replay(folder, "umf-small-hbm", {"--policy", "umf", "--ideal", "sram"}).status == 0);
  const Json summary = summary_of(folder);
  CHECK(summary.at("tiers").at("sram").at("read_bytes") == 2 * 3145728);
  CHECK(simulated_ns(summary.at("ideal").at(0)) < simulated_ns(summary));
  CHECK(simulated_ns(summary.at("ideal").at(0)) > 2 * 3145728 / 7045.0);
}

TEST_CASE("without launch costs exactly the launches are gone", "[app]") {
  Folder folder;
  folder.write("t.jsonl", two_tensors());
  // Two kernels one after the other: each pays the eager launch and its own start and drain.
  REQUIRE(replay(folder, "h100-sxm",
                 {"--ideal", "launch", "--set", "gpu.launch.eager=1000ns", "--set",
                  "gpu.launch.kernel_overhead=500ns"})
              .status == 0);
  const Json summary = summary_of(folder);
  CHECK(simulated_ns(summary) - simulated_ns(summary.at("ideal").at(0)) ==
        Approx(2 * (1000 + 500)).margin(0.001));
}

TEST_CASE("how runs are cut into bursts is compared with another cutting", "[app]") {
  Folder folder;
  folder.write("t.jsonl", two_tensors());
  const Ended ended = replay(folder, "h100-sxm", {"--check-bursts", "64KiB"});
  CAPTURE(ended.err);
  REQUIRE(ended.status == 0);
  CHECK_THAT(ended.out, Contains("longest burst"));
  const Json summary = summary_of(folder);
  const Json cut = summary.at("bursts").at(0);
  CHECK(cut.at("max_burst") == "64KiB");
  CHECK(cut.at("ledger").at("ok") == true);
  CHECK(simulated_ns(cut) == Approx(simulated_ns(summary)).epsilon(0.01));
  CHECK(replay(folder, "h100-sxm", {"--check-bursts", "1KiB"}).status == 2);
}

TEST_CASE("a mechanism is left out and what it was worth is shown", "[app]") {
  Folder folder;
  // Three of six weights in turn, two of which have a place outside: they come home as they are
  // read.
  std::string text = kStreamHeader;
  for (unsigned t = 0; t < 2; ++t)
    text += fmt::format(R"({{"record":"tensor","id":{0},"name":"t{0}","role":"expert",)"
                        R"("dtype":"f16","bytes":{1}}})"
                        "\n",
                        t, 3 << 20);
  for (unsigned k = 0; k < 24; ++k)
    text += wide_kernel(k, k == 0 ? 0 : 1);
  folder.write("t.jsonl", text);
  const std::vector<std::string> umf = {"--policy", "umf",
                                        "--set",    "tiers.hbm.capacity=4MiB",
                                        "--set",    "policy.block=64KiB",
                                        "--set",    "gpu.l2.capacity=1MiB"};
  std::vector<std::string> words = umf;
  words.insert(words.end(), {"--without", "S6,S4,S6"});
  const Ended ended = replay(folder, "umf-small-hbm", words);
  CAPTURE(ended.err);
  REQUIRE(ended.status == 0);
  CHECK_THAT(ended.out, Contains("S6 promotion"));
  const Json summary = summary_of(folder);
  const Json& without = summary.at("without");
  REQUIRE(without.size() == 2);
  CHECK(without.at(0).at("mechanism") == "S6");
  CHECK(without.at(1).at("mechanism") == "S4");
  CHECK(simulated_ns(without.at(0)) > 1.5 * simulated_ns(summary)); // it reads the pool every time
  CHECK(without.at(0).at("scheduler").at("promotions") == 0);

  words = umf;
  words.insert(words.end(), {"--without", "all", "--set", "scheduler.operation_cost=12us"});
  REQUIRE(replay(folder, "umf-small-hbm", words).status == 0);
  CHECK(summary_of(folder).at("without").size() == 5); // S12 too, now that there is a host

  // What is off by default is left out by its name, and among all where it is on.
  words = umf;
  words.insert(words.end(), {"--without", "S8,all", "--set", "policy.tuner=true"});
  REQUIRE(replay(folder, "umf-small-hbm", words).status == 0);
  CHECK(summary_of(folder).at("without").size() == 6);
  CHECK(summary_of(folder).at("without").at(0).at("mechanism") == "S8");
  CHECK(summary_of(folder).at("without").at(5).at("mechanism") == "S9");
}

TEST_CASE("what the unit does is left out by its own name, whatever the policy", "[app]") {
  Folder folder;
  folder.write("t.jsonl", two_tensors());
  const Ended ended = replay(folder, "umf-small-hbm",
                             {"--policy", "static", "--set", "scheduler.pool_writes=staged",
                              "--set", "scheduler.operation_cost=12us", "--set",
                              R"(links.sw0-cxl.training.changes=["1ns gen4 x16"])", "--set",
                              "links.sw0-cxl.training.recovery=0ns", "--without", "all"});
  CAPTURE(ended.err);
  REQUIRE(ended.status == 0);
  CHECK_THAT(ended.out, Contains("S5 staged writes") && Contains("S7 read-only pool") &&
                            Contains("S12 host software"));
  CHECK_THAT(ended.out,
             Contains("degraded       a pool was read only for") && Contains("(1 by rate)"));
  const Json summary = summary_of(folder);
  const Json& unit = summary.at("scheduler");
  // From 1 ns to the end.
  CHECK(unit.at("degraded_ns").get<double>() == Approx(simulated_ns(summary) - 1));
  CHECK(unit.at("degrade").at("entered").at("rate") == 1);
  for (const Json& other : summary.at("without"))
    CHECK((other.at("scheduler").at("degraded_ns") == 0) == (other.at("mechanism") == "S7"));
}

TEST_CASE("comparisons with what is not there are refused with what is", "[app]") {
  Folder folder;
  folder.write("t.jsonl", two_tensors());
  const Ended policy = replay(folder, "h100-sxm", {"--against", "hbm-onyl"});
  check_refused(policy);
  CHECK_THAT(policy.err, Contains("no policy \"hbm-onyl\""));
  CHECK_THAT(policy.err, Contains("did you mean \"hbm-only\"?"));
  const Ended limit = replay(folder, "h100-sxm", {"--ideal", "link gpu0-sw9"});
  check_refused(limit);
  CHECK_THAT(limit.err, Contains("no limit \"link gpu0-sw9\""));
  const Ended mechanism = replay(folder, "umf-small-hbm", {"--policy", "umf", "--without", "S7"});
  check_refused(mechanism);
  CHECK_THAT(mechanism.err,
             Contains("\"S7\" of policy umf cannot be left out, expected all or one of "
                      "S3, S4, S5, S6, S8, S9"));
  check_refused(replay(folder, "h100-sxm", {"--without", "S4"}));
}
