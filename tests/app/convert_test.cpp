#include "tests/app/child.h"
#include "tests/app/folder.h"
#include "tests/app/samples.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace umf::test;
using Catch::EndsWith;
using Json = nlohmann::json;

namespace {

Ended convert(const Folder& folder, const std::string& in, const std::string& out,
              std::vector<std::string> more = {}) {
  more.insert(more.begin(), {"convert", in, out});
  return umfsim(more, folder.path());
}

std::string kernels_of(const Folder& folder, const std::string& trace) {
  const Ended ended =
      umfsim({"replay", trace, "--scenario", preset("h100-sxm"), "--out", "out", "--quiet"},
             folder.path());
  CAPTURE(trace, ended.err);
  REQUIRE(ended.status == 0);
  return folder.read("out/kernels.csv");
}

} // namespace

TEST_CASE("a trace replays alike through every format it is converted to", "[app]") {
  const auto original = shared_file(kQwen);
  if (!original) return;
  Folder folder;
  REQUIRE(convert(folder, original->string(), "a.umft").status == 0);
  REQUIRE(convert(folder, "a.umft", "b.jsonl").status == 0);
  REQUIRE(convert(folder, "b.jsonl", "c.umft").status == 0);

  const std::string kernels = kernels_of(folder, original->string());

  CHECK(kernels == kernels_of(folder, "a.umft"));
  CHECK(kernels == kernels_of(folder, "b.jsonl"));
  CHECK(kernels == kernels_of(folder, "c.umft"));
  CHECK(folder.read("a.umft") == folder.read("c.umft"));
}

TEST_CASE("convert says what it wrote and leaves one file", "[app]") {
  Folder folder;
  folder.write("t.jsonl", plain_trace(3));
  const Ended ended = convert(folder, "t.jsonl", "t.umft");
  CHECK(ended.status == 0);
  CHECK(ended.out == "t.umft: 4 records, 3 kernels\n"); // a tensor and three kernels
  CHECK(ended.err.empty());
  CHECK(folder.entries() == std::set<std::string>{"t.jsonl", "t.umft"});
}

TEST_CASE("a trace may be converted onto itself", "[app]") {
  Folder folder;
  folder.write("t.jsonl", plain_trace(3));
  REQUIRE(convert(folder, "t.jsonl", "t.jsonl").status == 0);
  const std::string once = folder.read("t.jsonl");
  REQUIRE(convert(folder, "t.jsonl", "t.jsonl").status == 0);
  CHECK(folder.read("t.jsonl") == once);
  CHECK(folder.entries() == std::set<std::string>{"t.jsonl"});
}

TEST_CASE("the provenance that convert is given goes with the trace", "[app]") {
  Folder folder;
  folder.write("t.jsonl", plain_trace(1));
  REQUIRE(convert(folder, "t.jsonl", "t.umft", {"--provenance", "by hand, MIT"}).status == 0);
  const Ended inspected = umfsim({"inspect", "t.umft", "--format", "json"}, folder.path());
  CHECK(Json::parse(inspected.out).at("provenance") == "by hand, MIT");
}
