#include "tests/app/child.h"
#include "tests/app/csv.h"
#include "tests/app/folder.h"
#include "tests/app/samples.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace umf::test;
using Json = nlohmann::json;

/// A real trace (a chat model's prefill on an H100) on the shipped machines.
namespace {

Json replay(const Folder& folder, const std::string& trace, const std::string& machine,
            const std::vector<std::string>& sets = {}) {
  std::vector<std::string> arguments = {"replay", trace,   "--scenario", preset(machine),
                                        "--out",  machine, "--quiet"};
  for (const auto& set : sets)
    arguments.insert(arguments.end(), {"--set", set});
  const Ended ended = umfsim(arguments, folder.path());
  CAPTURE(ended.err);
  REQUIRE(ended.status == 0);
  Json summary = Json::parse(folder.read(machine + "/summary.json"));
  CHECK(summary.at("ledger").at("ok") == true);
  return summary;
}

double simulated_ns(const Json& summary) {
  return summary.at("time").at("simulated_ns");
}

} // namespace

TEST_CASE("the trace as a machine of one H100 replays it", "[app]") {
  const auto trace = shared_file(kQwen);
  if (!trace) return;
  Folder folder;

  const Json summary = replay(folder, trace->string(), "h100-sxm");

  const Json& counted = summary.at("trace");
  CHECK(counted.at("kernels") == 1465);
  CHECK(counted.at("unknown_kernels") == 176); // their arguments name no bytes and no arithmetic
  CHECK(counted.at("copies") == 1);
  CHECK(counted.at("streams") == 1);
  CHECK(counted.at("measured_kernel_ns") == 45'432'698); // 45.433 ms in the table of the traces
  CHECK(csv_rows(folder.read("h100-sxm/kernels.csv")).size() == 1 + 1465);
  CHECK(simulated_ns(summary) > 0);
  CHECK(summary.at("tiers").at("hbm").at("hit_rate") == 1.0);
}

TEST_CASE("an unknown kernel costs its launch and is bound by nothing known", "[app]") {
  const auto trace = shared_file(kQwen);
  if (!trace) return;
  Folder folder;
  replay(folder, trace->string(), "h100-sxm");
  const auto rows = csv_rows(folder.read("h100-sxm/kernels.csv"));
  std::size_t unknown = 0;
  for (const auto& row : rows) {
    if (row[13] != "unknown") continue; // bound_by
    ++unknown;
    CHECK(row[8] == "0"); // bytes_read
    CHECK(row[9] == "0"); // bytes_written
  }
  CHECK(unknown == 176);
}

TEST_CASE("what HBM cannot hold is read over the fabric, and more links make that faster",
          "[app]") {
  const auto trace = shared_file(kQwen);
  if (!trace) return;
  Folder folder;
  const double at_home = simulated_ns(replay(folder, trace->string(), "h100-sxm"));

  double before = 0;
  for (const unsigned count : {1u, 2u, 4u, 8u}) {
    const std::string links = std::to_string(count);
    const Json summary = replay(folder, trace->string(), "umf-small-hbm",
                                {"links.gpu0-sw0.count=" + links, "links.sw0-cxl.count=" + links});
    CAPTURE(count);
    CHECK(summary.at("tiers").at("cxl").at("read_bytes") > 0);
    for (const std::string link : {"gpu0-sw0", "sw0-cxl"}) {
      const Json& carried = summary.at("links").at(link);
      CHECK(carried.at("payload_bytes") >= summary.at("tiers").at("cxl").at("read_bytes"));
      CHECK(carried.at("tx_bytes") > 0);
      CHECK(carried.at("rx_bytes") > 0);
    }
    CHECK(simulated_ns(summary) > at_home);
    if (before > 0) CHECK(simulated_ns(summary) < before);
    before = simulated_ns(summary);
  }
}
