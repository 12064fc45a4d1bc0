#include "tests/app/child.h"
#include "tests/app/folder.h"
#include "tests/app/refusal.h"
#include "tests/app/samples.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <set>
#include <string>
#include <vector>

/// --log-out and --log-in: what a simulated machine's schedulers decided is decided again without
/// it.
using namespace umf::test;
using Catch::Contains;
using Catch::StartsWith;
using Json = nlohmann::json;

namespace {

/// A tensor read whole and in part, then written, some turns long; `gpu` runs it; it dies half by
/// half.
std::string worn_trace(unsigned kernels) {
  std::string text = kStreamHeader;
  constexpr unsigned kTensors = 6;
  constexpr std::uint64_t kBytes = 8 << 20;
  for (unsigned t = 0; t < kTensors; ++t)
    text += fmt::format(R"({{"record":"tensor","id":{0},"name":"t{0}","role":"{1}",)"
                        R"("dtype":"bf16","bytes":{2}}})"
                        "\n",
                        t, t % 2 == 0 ? "weight" : "kv-key", kBytes);
  for (unsigned k = 0; k < kernels; ++k)
    text += fmt::format(
        R"({{"record":"kernel","id":{0},"name":"k","start_ns":{1},"end_ns":{2},"rule":"recorded",)"
        R"("accesses":[{{"tensor":{3},"rule":"recorded","length_bytes":{4}}},)"
        R"({{"tensor":{5},"rule":"recorded","write":true,"offset_bytes":{6},"length_bytes":65536}}]}})"
        "\n",
        k, 1000 * k, 1000 * k + 500, k % kTensors, kBytes, (2 * k + 1) % kTensors,
        k * 65536 % kBytes);
  text += R"({"record":"free","tensor":1,"offset_bytes":0,"length_bytes":4194304})"
          "\n"
          R"({"record":"free","tensor":1,"offset_bytes":4194304,"length_bytes":4194304})"
          "\n";
  return text;
}

std::vector<std::string> run_of(const std::string& machine, std::vector<std::string> more) {
  more.insert(more.begin(), {"replay", "t.jsonl", "--scenario", preset(machine), "--out", "out",
                             "--log-out", "x.log"});
  return more;
}

} // namespace

TEST_CASE("a run's log gives the same commands without traces or a machine", "[app]") {
  // 48 MiB of tensors, 16 of HBM: pages move, or stay away.
  const std::string small = "tiers.hbm.capacity=16MiB", staged = "scheduler.pool_writes=staged";
  const auto more = GENERATE_COPY(values<std::vector<std::string>>({
      {"--policy", "lru", "--set", small},
      {"--policy", "static", "--set", small, "--set", staged},
      {"--policy", "umf", "--set", small, "--set", staged, "--set",
       R"(policy={"name":"umf","pack":"both","promotion":"both","prefetch_free_bandwidth":1})"},
      {"--policy", "remote-read", "--set", small, "--repeat", "2"},
  }));
  CAPTURE(more);
  Folder folder;
  folder.write("t.jsonl", worn_trace(60));
  const Ended run = umfsim(run_of("umf-small-hbm", more), folder.path());
  CAPTURE(run.err);
  REQUIRE(run.status == 0);
  const Json summary = Json::parse(folder.read("out/summary.json"));

  const Ended again = umfsim({"replay", "--log-in", "x.log"}, folder.path());

  CAPTURE(again.out, again.err);
  CHECK(again.status == 0);
  CHECK(again.err.empty());
  CHECK_THAT(again.out, StartsWith("log            x.log, 1 GPU\n"));
  CHECK_THAT(again.out, Contains("the same as in the log"));
  CHECK(umfsim({"replay", "--log-in", "x.log"}, folder.path()).out == again.out);
  CHECK_THAT(again.out,
             Contains(fmt::format("{} faults",
                                  summary.at("scheduler").at("faults").get<std::uint64_t>())));
}

TEST_CASE("two GPUs that share a pool have one log", "[app]") {
  Folder folder;
  folder.write("t.jsonl", worn_trace(30));
  const std::string policy = GENERATE("lru", "umf");
  const Ended run = umfsim(run_of("umf-two-gpus", {"t.jsonl", "--tenant-gpus", "0,1", "--policy",
                                                   policy, "--set", "tiers.hbm.capacity=16MiB"}),
                           folder.path());
  CAPTURE(run.err);
  REQUIRE(run.status == 0);
  const Ended again = umfsim({"replay", "--log-in", "x.log"}, folder.path());
  CAPTURE(again.out, again.err);
  CHECK(again.status == 0);
  CHECK_THAT(again.out, Contains("x.log, 2 GPUs") && Contains("\nGPU 1 "));
}

TEST_CASE("a log changes no figure, and is of the run alone, not of those beside it", "[app]") {
  Folder folder;
  folder.write("t.jsonl", plain_trace(3));
  REQUIRE(umfsim(run_of("umf-small-hbm", {"--policy", "lru"}), folder.path()).status == 0);
  const std::string log = folder.read("x.log"), summary = folder.read("out/summary.json");
  REQUIRE(umfsim(run_of("umf-small-hbm", {"--policy", "lru", "--against", "static"}), folder.path())
              .status == 0);
  CHECK(folder.read("x.log") == log);
  REQUIRE(umfsim({"replay", "t.jsonl", "--scenario", preset("umf-small-hbm"), "--out", "out",
                  "--policy", "lru"},
                 folder.path())
              .status == 0);
  CHECK(folder.read("out/summary.json") == summary);
}

TEST_CASE("logs that cannot be are refused, and so is what makes no sense with them", "[app]") {
  Folder folder;
  folder.write("t.jsonl", plain_trace(1));
  folder.write("no.log", "{}\n");
  struct Row {
    std::vector<std::string> arguments;
    std::string said;
  };
  const auto [arguments, said] = GENERATE_REF(values<Row>({
      {run_of("umf-small-hbm", {"--policy", "belady"}), "of the future, expected one that decides"},
      {run_of("umf-small-hbm", {"--policy", "best-static"}), "of the future, expected one"},
      {{"replay", "t.jsonl", "--scenario", preset("h100-sxm"), "--out", "out", "--log-out",
        "deep/x.log"},
       "deep/x.log: cannot"},
      {{"replay", "--log-in", "no.log"}, "no.log@0: this is no command log"},
      {{"replay", "--log-in", "none.log"}, "none.log: cannot be read, expected a command log"},
      {{"replay", "--log-in", "no.log", "t.jsonl"}, "--log-in excludes TRACE"},
      {{"replay", "--log-in", "no.log", "--scenario", "x"}, "--log-in excludes --scenario"},
      {{"replay", "--log-in", "no.log", "--log-out", "x"}, "--log-in excludes --log-out"},
      {{"replay", "--log-in", "no.log", "--set", "seed=1"}, "--log-in excludes --set"},
  }));
  const Ended ended = umfsim(arguments, folder.path());
  CAPTURE(arguments, ended.err);
  check_refused(ended);
  CHECK_THAT(ended.err, Contains(said));
  CHECK(folder.entries() == std::set<std::string>{"no.log", "t.jsonl"});
}

TEST_CASE("a log that was tampered with ends with exit 2, at its place", "[app]") {
  Folder folder;
  folder.write("t.jsonl", plain_trace(3));
  REQUIRE(umfsim(run_of("umf-small-hbm", {}), folder.path()).status == 0);
  const std::string log = folder.read("x.log");
  folder.write("x.log", log.substr(0, log.size() - 20));
  const Ended ended = umfsim({"replay", "--log-in", "x.log"}, folder.path());
  check_refused(ended);
  CHECK_THAT(ended.err, StartsWith("x.log@") && Contains("expected"));
}
