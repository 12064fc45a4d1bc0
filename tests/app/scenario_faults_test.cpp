#include "tests/app/folder.h"
#include "tests/app/refusal.h"
#include "tests/app/samples.h"

#include <catch2/catch.hpp>

using namespace umf::test;
using Catch::Contains;
using Catch::StartsWith;

namespace {

/// A machine of HBM alone; `more` stands in its HBM.
std::string machine(const std::string& more) {
  return R"({ "name": "m",
  "tiers": { "hbm": { "kind": "hbm", )" +
         more + R"( } },
  "policy": { "name": "hbm-only" } })";
}

} // namespace

TEST_CASE("a fault in a scenario is a line with file, line, column and pointer", "[app]") {
  struct Row {
    std::string text, said;
  };
  const auto [text, said] = GENERATE(values<Row>({
      {"", "m.json:1:1: "},
      {"{ \"name\": ", "m.json:1:11: "},
      {"[]", "m.json:1:1: found "},
      {machine(R"("capacitty": "80GiB")"),
       "m.json:2:38: /tiers/hbm/capacitty: unknown key \"capacitty\", did you mean \"capacity\"?"},
      {machine(R"("colour": "red")"), "m.json:2:38: /tiers/hbm/colour: unknown key \"colour\""},
      {machine(R"("stacks": 5, "stacks": 6)"),
       "m.json:2:51: /tiers/hbm/stacks: duplicate key \"stacks\", expected it once (first on "
       "line 2)"},
      {machine(R"("capacity": "80ns")"),
       "m.json:2:50: /tiers/hbm/capacity: unknown unit \"ns\" in \"80ns\", expected a size"},
      {machine(R"("capacity": "80")"), "m.json:2:50: /tiers/hbm/capacity: "},
      {machine(R"("capacity": 80)"),
       "m.json:2:50: /tiers/hbm/capacity: the number 80 has no unit, expected a size"},
      {machine(R"("capacity": "-1GiB")"), "m.json:2:50: /tiers/hbm/capacity: "},
      {machine(R"("stacks": 0)"), "m.json:2:48: /tiers/hbm/stacks: "},
      {machine(R"("stacks": 2.5)"), "m.json:2:48: /tiers/hbm/stacks: "},
      {machine(R"("standard": "hbm9")"),
       "m.json:2:50: /tiers/hbm/standard: unknown standard \"hbm9\", expected ddr5-4800"},
      // One HBM3 stack of 1024 pins at 6.4 Gb/s carries 819.2 GB/s.
      {machine(R"("stacks": 1, "bandwidth": "900GB/s")"),
       "m.json:2:64: /tiers/hbm/bandwidth: 900GB/s is more than 1 stack(s) of this standard "
       "carry, expected at most 819.2GB/s"},
      {R"({ "name": "m", "include": ["none.json"] })", "m.json:1:28: /include/0: no file"},
      {R"({ "name": "m", "include": ["m.json"] })", "m.json:1:28: /include/0: \"m.json\" includes"},
      {R"({ "name": "m", "polizy": {}, "policy": { "name": "hbm-only" } })",
       "m.json:1:16: /polizy: unknown key \"polizy\", did you mean \"policy\"?"},
  }));
  Folder folder;
  folder.write("m.json", text);
  folder.write("t.jsonl", plain_trace(1));

  const Ended checked = umfsim({"check", "m.json"}, folder.path());
  CAPTURE(text, checked.err);
  CHECK(checked.status == 2);
  CHECK(checked.out.empty());
  CHECK_THAT(checked.err, StartsWith(said));

  const Ended replayed =
      umfsim({"replay", "t.jsonl", "--scenario", "m.json", "--out", "out"}, folder.path());
  CHECK(replayed.status == 2);
  CHECK(replayed.err == checked.err);
  CHECK(folder.entries() == std::set<std::string>{"m.json", "t.jsonl"});
}

TEST_CASE("a missing scenario is named", "[app]") {
  Folder folder;
  folder.write("t.jsonl", plain_trace(1));
  for (const Ended& ended :
       {umfsim({"check", "none.json"}, folder.path()),
        umfsim({"replay", "t.jsonl", "--scenario", "none.json"}, folder.path())}) {
    check_refused(ended);
    CHECK_THAT(ended.err, StartsWith("none.json: cannot be opened"));
  }
}

TEST_CASE("several faults of a scenario are told at once, a line each", "[app]") {
  Folder folder;
  folder.write("m.json", machine(R"("capacity": 80, "bandwith": "1TB/s", "standard": "hbm9")"));

  const Ended ended = umfsim({"check", "m.json"}, folder.path());

  CAPTURE(ended.err);
  check_refused(ended, 3);
  CHECK_THAT(ended.err, Contains("m.json:2:50: /tiers/hbm/capacity: "));
  CHECK_THAT(ended.err, Contains("m.json:2:54: /tiers/hbm/bandwith: "));
  CHECK_THAT(ended.err, Contains("m.json:2:87: /tiers/hbm/standard: "));
}

TEST_CASE("check goes through all files and fails if one does", "[app]") {
  Folder folder;
  folder.write("bad.json", machine(R"("capacity": 80)"));
  folder.write("good.json", machine(R"("capacity": "80GiB")"));

  const Ended ended = umfsim({"check", "bad.json", "good.json"}, folder.path());

  CHECK(ended.status == 2);
  CHECK(ended.out == "good.json: ok, m\n");
  CHECK_THAT(ended.err, StartsWith("bad.json:2:50: "));
}

TEST_CASE("a --set that cannot be is told with what it set", "[app]") {
  const auto [set, said] = GENERATE(table<std::string, std::string>({
      {"tiers.hbm.capasity=64GiB",
       "--set: /tiers/hbm/capasity: unknown key \"capasity\", did you mean \"capacity\"?"},
      {"/tiers/hbm/capacity=64", "--set: /tiers/hbm/capacity: the number 64 has no unit"},
      {"tiers.hbm.capacity=64GB/s", "--set: /tiers/hbm/capacity: unknown unit"},
      {"colour=red", "--set: /colour: unknown key"},
      {"tiers.hbm.capacity", "--set: \"tiers.hbm.capacity\" has no '='"},
      {"=1", "--set: \"\" has an empty part"},
      {"tiers..capacity=1GiB", "--set: \"tiers..capacity\" has an empty part"},
      {"name.first=x", "--set: /name/first: "},
      {"policy.name=umg", "--set: /policy/name: unknown name \"umg\""},
  }));
  Folder folder;
  folder.write("t.jsonl", plain_trace(1));

  const Ended ended =
      umfsim({"replay", "t.jsonl", "--scenario", preset("h100-sxm"), "--set", set}, folder.path());

  CAPTURE(set, ended.err);
  check_refused(ended);
  CHECK_THAT(ended.err, StartsWith(said));
  CHECK(folder.entries() == std::set<std::string>{"t.jsonl"});
}

TEST_CASE("flags that stand for keys are checked like keys", "[app]") {
  const auto [flag, value, said] = GENERATE(table<std::string, std::string, std::string>({
      {"--policy", "nonsense", "/policy/name: unknown name \"nonsense\", expected one of "},
      {"--policy", "a\"b", "/policy/name: unknown name "},
      {"--replay", "backwards", "/replay/mode: unknown choice \"backwards\""},
  }));
  Folder folder;
  folder.write("t.jsonl", plain_trace(1));
  const Ended ended =
      umfsim({"replay", "t.jsonl", "--scenario", preset("h100-sxm"), flag, value}, folder.path());
  check_refused(ended);
  CHECK_THAT(ended.err, Contains(said));
}

TEST_CASE("a rate that no link of the path carries is refused with the count that would", "[app]") {
  Folder folder;
  const auto check = [&](std::vector<std::string> sets) {
    std::vector<std::string> arguments = {"check", preset("umf-three-tier")};
    for (const auto& set : sets)
      arguments.insert(arguments.end(), {"--set", set});
    return umfsim(arguments, folder.path());
  };

  // A Gen5 x16 link carries 63 GB/s raw and 52.7 GB/s of reads in 68 B flits, so 400 GB/s
  // takes ceil(400 / 52.7) = 8 of them.
  const Ended one = check({"links.gpu0-sw0.count=1", "tiers.cxl.bandwidth=400GB/s"});
  CAPTURE(one.err);
  check_refused(one);
  CHECK_THAT(one.err, StartsWith("--set: /tiers/cxl/bandwidth: 400GB/s cannot pass link "
                                 "'gpu0-sw0'"));
  CHECK_THAT(one.err, Contains("52.7 GB/s"));
  CHECK_THAT(one.err, Contains("expected \"count\": 8"));

  CHECK(check({"links.gpu0-sw0.count=8", "tiers.cxl.bandwidth=400GB/s"}).status == 0);
  CHECK(check({"links.gpu0-sw0.count=1",
               R"(tiers.cxl.bandwidth={"value":"400GB/s","override":true})"})
            .status == 0);
}

TEST_CASE("HBM cannot be asked for more than its stacks carry, unless overridden", "[app]") {
  Folder folder;
  const auto check = [&](const std::string& bandwidth) {
    return umfsim({"check", preset("h100-sxm"), "--set", "tiers.hbm.bandwidth=" + bandwidth},
                  folder.path());
  };

  // 5 stacks × 1024 pins × 6.4 Gb/s / 8 = 4096 GB/s.
  const Ended above = check("4097GB/s");
  check_refused(above);
  CHECK_THAT(above.err, Contains("expected at most 4096GB/s"));
  CHECK(check("4096GB/s").status == 0);
  CHECK(check(R"({"value":"9TB/s","override":true})").status == 0);
}
