#include "tests/app/folder.h"
#include "tests/app/refusal.h"
#include "tests/app/samples.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace umf::test;
using Catch::Contains;
using Json = nlohmann::json;

namespace {

std::vector<std::string> decode_to(const std::string& out) {
  return {"generate", "--model", "llama-3-8b", "--context", "512", "--batch",
          "2",        "--steps", "2",          "--out",     out};
}

} // namespace

TEST_CASE("a generated trace replays on an H100 with a balanced ledger", "[app]") {
  Folder folder;
  REQUIRE(umfsim(decode_to("t.umft"), folder.path()).status == 0);
  const Ended ended = umfsim(
      {"replay", "t.umft", "--scenario", preset("h100-sxm"), "--format", "json"}, folder.path());
  REQUIRE(ended.status == 0);
  const Json summary = Json::parse(ended.out);
  CHECK(summary.at("ledger").at("ok") == true);
  CHECK(summary.at("trace").at("unknown_kernels") == 0);
  // 15 GB of weights less the embedding each step, at most 3.35 TB/s.
  CHECK(summary.at("time").at("simulated_ns").get<double>() > 2 * 15.0e9 / 3.35e3);
  CHECK(summary.at("energy").at("steps").size() == 2);
}

TEST_CASE("what leaves a sliding window is reported as reclaimed", "[app]") {
  Folder folder;
  REQUIRE(umfsim({"generate", "--model", "mistral-7b", "--context", "4222", "--steps", "2",
                  "--reclaim", "--out", "t.umft"},
                 folder.path())
              .status == 0);
  const auto replayed = [&](const char* format) {
    return umfsim({"replay", "t.umft", "--scenario", preset("h100-sxm"), "--format", format},
                  folder.path());
  };
  const Ended ended = replayed("json");
  REQUIRE(ended.status == 0);
  const Json summary = Json::parse(ended.out);
  CHECK(summary.at("ledger").at("ok") == true);
  // Token 4223 sees rows 127 to 4222 of 2 KiB, 32 a page; 32 layers have keys and values. When it
  // is done rows 0 to 127 are dead, with page 3, the first that was ever touched; then row 128.
  const Json& scheduler = summary.at("scheduler");
  CHECK(scheduler.at("reclaimed_pages") == 64);
  CHECK(scheduler.at("reclaimed_bytes") == 64 * 129 * 2048);
  CHECK(scheduler.at("peak_page_holes_bytes") == 64 * 2048);
  CHECK_THAT(replayed("table").out, Contains("128.00 KiB of holes") && Contains("64 pages"));
}

TEST_CASE("a generated trace survives both formats", "[app]") {
  Folder folder;
  REQUIRE(umfsim(decode_to("t.umft"), folder.path()).status == 0);
  REQUIRE(umfsim({"convert", "t.umft", "t.jsonl"}, folder.path()).status == 0);
  REQUIRE(umfsim({"convert", "t.jsonl", "u.umft"}, folder.path()).status == 0);
  const auto inspected = [&](const char* file) {
    return umfsim({"inspect", file, "--format", "json"}, folder.path()).out;
  };
  CHECK(inspected("t.umft") == inspected("u.umft"));
  const Json summary = Json::parse(inspected("t.umft"));
  // 32 layers × 10 kernels, and five around them, in two steps.
  CHECK(summary.at("kernels") == 2 * (32 * 10 + 4));
  CHECK(summary.at("oddities").empty());
}

TEST_CASE("the models there are have parameters and bytes of KV cache", "[app]") {
  Folder folder;
  const Ended ended = umfsim({"generate", "--model", "list"}, folder.path());
  CHECK(ended.status == 0);
  CHECK_THAT(ended.out, Contains("llama-3-70b        full"));
  CHECK_THAT(ended.out, Contains("70.6B") && Contains("327680"));
  CHECK_THAT(umfsim({"describe", "attention.mla"}, folder.path()).out, Contains("kv_lora_rank"));
}

TEST_CASE("what cannot be generated is refused, and no file appears", "[app]") {
  struct Row {
    std::vector<std::string> more;
    std::string said;
  };
  const auto [more, said] = GENERATE(values<Row>({
      {{"--model", "lama-3-8b", "--context", "9"}, "did you mean \"llama-3-8b\""},
      {{"--model", "llama-3-8b"}, "--context: 0"},
      {{"--model", "llama-3-8b", "--context", "-5"}, "--context"},
      {{"--model", "llama-3-8b", "--context", "131072"}, "--beyond-context lifts this"},
      {{"--model", "llama-3-8b", "--context", "9", "--tp", "0"}, "tensor parallel degree of 0"},
      {{"--model", "llama-3-8b", "--context", "9", "--tp", "7"}, "does not divide its 32 heads"},
      {{"--model", "llama-3-8b", "--context", "9", "--kv-dtype", "int7"}, "unknown --kv-dtype"},
      {{"--model", "llama-3-8b", "--context", "9", "--weight-dtype", "i4-z-g"}, "\"g\""},
      {{"--model", "llama-3-8b", "--context", "9", "--phase", "train"}, "--phase: train"},
      {{"--model", "llama-3-8b", "--context", "9", "--chunk", "3"}, "--phase prefill"},
      {{"--model", "llama-3-8b", "--context", "9", "--reclaim"}, "no sliding window"},
      {{"--model", "llama-3-8b", "--context", "9", "--access", "quest"}, "--access: quest"},
      {{"--model", "llama-3-8b", "--context", "9", "--set", "access.budget=1"}, "/access"},
      {{"--model", "llama-3-8b", "--context", "9", "--set", "budget=1"}, "access.budget=1024"},
      {{"--model", "none.json", "--context", "9"}, "none.json"},
  }));
  Folder folder;
  std::vector<std::string> arguments = {"generate", "--out", "t.umft"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Ended ended = umfsim(arguments, folder.path());
  CAPTURE(arguments, ended.err);
  check_refused(ended);
  CHECK_THAT(ended.err, Contains(said));
  CHECK(folder.entries().empty());
}

TEST_CASE("pages and experts are chosen, drawn and replayed", "[app]") {
  Folder folder;
  const Ended ended =
      umfsim({"generate", "--model", "qwen3-30b-a3b", "--context", "4000", "--steps", "3",
              "--access", "top-k", "--set", "access.budget=256", "--set", "routing.stay=0.5",
              "--routing", "expert-local", "--picture", "p.svg", "--out", "t.umft"},
             folder.path());
  CHECK(ended.err.empty());
  REQUIRE(ended.status == 0);
  const std::string svg = folder.read("p.svg");
  CHECK_THAT(svg, Contains("KV cache of sequence 0") && Contains("128 experts"));
  const Ended replayed = umfsim(
      {"replay", "t.umft", "--scenario", preset("h100-sxm"), "--format", "json"}, folder.path());
  CHECK(replayed.status == 0);
  CHECK(Json::parse(replayed.out).at("ledger").at("ok") == true);
}

TEST_CASE("a model of the user's own is a file", "[app]") {
  Folder folder;
  const std::string tiny = source_file("tests/shapes/tiny.json").string();
  const Ended ended = umfsim({"generate", "--model", tiny, "--phase", "prefill", "--context", "300",
                              "--chunk", "100", "--out", "t.jsonl"},
                             folder.path());
  CHECK(ended.err.empty());
  CHECK(ended.status == 0);
  CHECK_THAT(ended.out, Contains("t.jsonl: 3 steps"));
}
