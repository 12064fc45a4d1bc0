#include "tests/app/child.h"
#include "tests/app/folder.h"
#include "tests/support/shared_data.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <map>
#include <string>

using namespace umf::test;

TEST_CASE("every gate holds but those that are known not to, and these say why", "[app]") {
  if (!shared_file("data/hardware/gpu_latency_a100_80gb.csv")) return;
  const Folder folder;
  const Ended ended = umfsim({"validate", "--format", "json", "--published",
                              source_file("results/published").string(), "--data",
                              (shared_root() / "data").string()},
                             folder.path());
  REQUIRE(ended.status == 1); // by those below
  const auto json = nlohmann::json::parse(ended.out);
  // What the model does not reach, with as many rows; results/validation says by how much.
  const std::map<std::string, int> known = {
      {"dram-forms/bandwidth", 2}, {"gpu-chase/knee", 1},  {"pcie-dma/from 64 B", 7},
      {"pcie-dma/from 256 B", 23}, {"copies/copies", 2},   {"cxl-expander/bandwidth", 1},
      {"cxl-expander/latency", 5}, {"pools/bandwidth", 1}, {"pools/eight GPUs", 2},
      {"pools/interference", 4},   {"nvlink/nvlink", 2}};
  std::map<std::string, int> failed;
  for (const auto& suite : json.at("suites")) {
    CAPTURE(suite.at("suite"));
    CHECK(suite.at("status") != "skipped");
    for (const auto& group : suite.at("groups")) {
      if (!group.contains("gate") || group.at("gate").at("holds").get<bool>()) continue;
      failed[suite.at("suite").get<std::string>() + "/" + group.at("group").get<std::string>()] =
          group.at("gate").at("beyond");
      CHECK(group.at("gate").contains("reason"));
    }
  }
  CHECK(failed == known);
}
