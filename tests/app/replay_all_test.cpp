#include "tests/app/child.h"
#include "tests/app/folder.h"
#include "tests/app/samples.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <sstream>

using namespace umf::test;
using Json = nlohmann::json;

TEST_CASE("every profiler trace of the table replays with a ledger that balances", "[app]") {
  const auto table = shared_file("data/traces/kineto_expected.tsv");
  if (!table) return;
  Folder folder;
  std::istringstream lines(bytes_of(*table));
  std::string line;
  std::getline(lines, line); // the head
  std::size_t replayed = 0;
  while (std::getline(lines, line)) {
    const std::string name = line.substr(0, line.find('\t'));
    const auto trace = shared_file("data/traces/" + name);
    const Ended ended = umfsim(
        {"replay", trace->string(), "--scenario", preset("h100-sxm"), "--out", "out", "--quiet"},
        folder.path());
    CAPTURE(name, ended.err);
    CHECK(ended.status == 0);
    if (ended.status != 0) continue;
    CHECK(Json::parse(folder.read("out/summary.json")).at("ledger").at("ok") == true);
    ++replayed;
  }
  CHECK(replayed == 20);
}
