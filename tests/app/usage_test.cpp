#include "tests/app/folder.h"
#include "tests/app/refusal.h"
#include "tests/app/samples.h"

#include <catch2/catch.hpp>

using namespace umf::test;
using Catch::Contains;
using Catch::StartsWith;

TEST_CASE("wrong usage is one line on stderr and exit 2", "[app]") {
  struct Row {
    std::vector<std::string> arguments;
    std::string said;
  };
  const std::string machine = preset("h100-sxm");
  const auto [arguments, said] = GENERATE_REF(values<Row>({
      {{}, "umfsim: no verb given"},
      {{"replya"},
       "unknown verb \"replya\", expected one of replay, explain, inspect, convert, describe, "
       "schema, check, tables, regress, validate, generate, serve-sim, completion, man (did you "
       "mean \"replay\"?)"},
      {{"--quiet", "replay", "t.jsonl", "--scenario", machine}, "--quiet"},
      {{"replay"}, "TRACE is required"},
      {{"replay", "t.jsonl"}, "--scenario is required"},
      {{"replay", "t.jsonl", "--scenario"}, "--scenario"},
      {{"replay", "t.jsonl", "--scenario", machine, "--frmat", "json"}, "--frmat"},
      {{"replay", "t.jsonl", "--scenario", machine, "--format", "xml"}, "--format: xml"},
      {{"replay", "t.jsonl", "--scenario", machine, "--progress", "maybe"}, "--progress: maybe"},
      {{"replay", "t.jsonl", "--scenario", machine, "--seed", "many"}, "/seed: found the text"},
      {{"replay", "t.jsonl", "--scenario", machine, "--seed", "-1"}, "/seed: the number -1"},
      {{"replay", "t.jsonl", "--scenario", machine, "--resolution", "line"}, "--resolution"},
      {{"replay", "t.jsonl", "--scenario", machine, "--scenario", machine}, "--scenario"},
      {{"replay", "t.jsonl", "--scenario", machine, "--out", ""}, "--out"},
      {{"inspect"}, "TRACE is required"},
      {{"inspect", "t.jsonl", "--format", "csv"}, "--format: csv"},
      {{"convert", "t.jsonl"}, "OUT is required"},
      {{"convert", "t.jsonl", "t.json"}, "t.json: a name that ends in \".json\""},
      {{"convert", "t.jsonl", "nowhere/t.umft"}, "nowhere/t.umft: cannot create it"},
      {{"describe", "tier.hbn"}, "(did you mean \"tier.hbm\"?)"},
      {{"check"}, "FILE is required"},
      {{"schema", "hbm"}, "hbm"},
      {{"tables"}, "--scenario is required"},
      {{"generate"}, "--model is required"},
      {{"regress"}, "GOLDEN is required"},
      {{"tables", "--scenario", machine, "--suite", "breakeven"}, "--suite: breakeven"},
      {{"tables", "--scenario", machine, "--suite", "idle-latncy"}, "{break-even,idle-latency,"},
      {{"tables", "--scenario", machine, "--suite", "matrix", "--tier", "hbn"},
       "--tier: no tier \"hbn\", did you mean \"hbm\"?"},
      {{"tables", "--scenario", machine, "--bytes", "64"}, "--bytes: "},
      {{"tables", "--scenario", machine, "--bytes", "0B"}, "--bytes: "},
  }));
  Folder folder;
  folder.write("t.jsonl", plain_trace(1));

  const Ended ended = umfsim(arguments, folder.path());

  CAPTURE(arguments, ended.err);
  check_refused(ended);
  CHECK_THAT(ended.err, Contains(said));
  CHECK(folder.entries() == std::set<std::string>{"t.jsonl"});
}

TEST_CASE("help and version go to stdout with exit 0", "[app]") {
  const std::string verb = GENERATE("", "replay", "explain", "inspect", "convert", "describe",
                                    "schema", "check", "tables", "regress", "generate");
  Folder folder;
  std::vector<std::string> arguments = {"--help"};
  if (!verb.empty()) arguments.insert(arguments.begin(), verb);

  const Ended ended = umfsim(arguments, folder.path());

  CHECK(ended.status == 0);
  CHECK(ended.err.empty());
  CHECK_THAT(ended.out, Contains("Usage: umfsim" + (verb.empty() ? "" : " " + verb)));
  CHECK(umfsim({"--version"}, folder.path()).out == "umfsim " UMFSIM_VERSION "\n");
}

TEST_CASE("every flag of the contract that replay has is in its help", "[app]") {
  Folder folder;
  const std::string help = umfsim({"replay", "--help"}, folder.path()).out;
  for (const std::string flag : {"--scenario", "--set", "--out", "--policy", "--replay", "--repeat",
                                 "--resolution", "--seed", "--quiet", "--progress", "--format"})
    CHECK_THAT(help, Contains(flag));
}

TEST_CASE("a place for the results that cannot be is refused before the run", "[app]") {
  Folder folder;
  folder.write("t.jsonl", plain_trace(1));
  folder.write("file", "not a folder");
  const auto replay_to = [&](const std::string& out) {
    return umfsim({"replay", "t.jsonl", "--scenario", preset("h100-sxm"), "--out", out},
                  folder.path());
  };

  const Ended onto_a_file = replay_to("file");
  check_refused(onto_a_file);
  CHECK_THAT(onto_a_file.err, StartsWith("file: is not a folder"));

  const Ended below_a_file = replay_to("file/deep/er");
  check_refused(below_a_file);
  CHECK_THAT(below_a_file.err, StartsWith("file/deep/er: 'file' above it is not a folder"));

  CHECK(folder.entries() == std::set<std::string>{"file", "t.jsonl"});
}

TEST_CASE("no result file appears when one of them cannot", "[app]") {
  Folder folder;
  folder.write("t.jsonl", plain_trace(1));
  folder.write("out/summary.json/in-the-way", "");

  const Ended ended = umfsim(
      {"replay", "t.jsonl", "--scenario", preset("h100-sxm"), "--out", "out"}, folder.path());

  check_refused(ended);
  CHECK_THAT(ended.err, StartsWith("out/summary.json: is a folder"));
  CHECK(folder.entries() == std::set<std::string>{"out/", "out/summary.json/",
                                                  "out/summary.json/in-the-way", "t.jsonl"});
}
