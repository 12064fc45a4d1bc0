#include "tests/app/child.h"
#include "tests/app/csv.h"
#include "tests/app/folder.h"
#include "tests/app/samples.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <map>

using namespace umf::test;
using Json = nlohmann::ordered_json;

/// What a shipped machine does on two traces written by hand is what its figures say: an idle
/// read's latency at each boundary, and the rate of one long read. Page walks are left out.
namespace {

struct Row {
  std::string preset, tier, role;
  std::vector<std::string> sets;
  double media, port, scheduler, l2_miss, sm; ///< ns
  double rate;                                ///< GB/s
};

// HBM, port and scheduler: media alone, as it needs no link and a TLB hit costs nothing. Media:
// controller_latency and a closed-bank read: HBM3 60 + 34, HBM2E 65 + 30.
// l2_miss: + miss_latency; sm: + mean of near and far hit. Rate: bandwidth × read_efficiency.
const std::vector<Row> kRows = {
    // 95 + 69; + (151 + 271) / 2 = 375, HW009. 3350 × 0.952
    {"h100-sxm", "hbm", "activation", {}, 95, 95, 95, 164, 375, 3189.2},
    // 95 + 69; + 211 = 375, HW009. u C with C = 2039 × 0.99 and u C (375 + 140 u / 2(1 − u)) =
    // 114 × 2048 × 16 B: near HW019's 1942
    {"h100-pcie", "hbm", "activation", {}, 95, 95, 95, 164, 375, 1931.85},
    // 95 + 59; + 211 = 365, HW044. 1631 × 0.952
    {"h100-64g", "hbm", "activation", {}, 95, 95, 95, 154, 365, 1552.7},
    // 95 + 85.2; + (149.6 + 300.9) / 2 = 405.5, HW004. Likewise, C = 2039 × 0.956: u C (405.5 +
    // 100 u / 2(1 − u)) = 108 × 2048 × 16 B
    {"a100-80g-sxm", "hbm", "activation", {}, 95, 95, 95, 180.2, 405.5, 1885.23},
    // 2400 × 0.983: what line runs of the banks give one stream of reads, per-bank refresh included
    {"umf-three-tier", "hbm", "activation", {}, 95, 95, 95, 164, 375, 2359.7},
    // 5; + 69; + 211. 12,800 GB/s of banks behind an L2 of 4014 B × 1.755 GHz
    {"umf-three-tier", "sram", "kv-value", {}, 5, 5, 5, 74, 285, 7044.6},
    // 45; + controller 62, two links of 2 × 25 and a switch of 2 × 105; + 69; + 211.
    // 400 × 0.911 of media behind links that carry 421.8, from line runs of one stream: all-bank
    // refresh takes 295 of 3900 ns, and the rows it closes are opened again
    {"umf-three-tier",
     "cxl",
     "activation",
     {"policy.default_hbm_share=0"},
     45,
     417,
     417,
     486,
     697,
     364.3},
};

std::string trace(const std::string& role, std::uint64_t bytes) {
  return kStreamHeader +
         fmt::format(R"({{"record":"tensor","id":0,"name":"t","role":"{}","bytes":{}}})"
                     "\n",
                     role, 32 << 20) +
         fmt::format(R"({{"record":"kernel","id":1,"name":"k","rule":"recorded","accesses":)"
                     R"([{{"tensor":0,"rule":"recorded","length_bytes":{}}}]}})"
                     "\n",
                     bytes);
}

void run(const Folder& folder, const Row& row, std::uint64_t bytes) {
  folder.write("t.jsonl", trace(row.role, bytes));
  std::vector<std::string> arguments = {
      "replay", "t.jsonl", "--scenario", preset(row.preset),          "--quiet",
      "--out",  "out",     "--set",      "scheduler.walk_latency=0ns"};
  for (const std::string& set : row.sets) {
    arguments.emplace_back("--set");
    arguments.push_back(set);
  }
  const Ended ended = umfsim(arguments, folder.path());
  INFO(ended.err);
  REQUIRE(ended.status == 0);
}

} // namespace

TEST_CASE("an idle read of a shipped machine takes what its latencies add up to, at each boundary",
          "[app]") {
  for (const Row& row : kRows) {
    Folder folder;
    run(folder, row, 32);
    CAPTURE(row.preset, row.tier);
    const Json latency =
        Json::parse(folder.read("out/summary.json")).at("tiers").at(row.tier).at("latency_ns");
    const std::map<std::string, double> expected = {{"media", row.media},
                                                    {"port", row.port},
                                                    {"scheduler", row.scheduler},
                                                    {"l2_miss", row.l2_miss},
                                                    {"sm", row.sm}};
    for (const auto& [boundary, ns] : expected) {
      CAPTURE(boundary);
      CHECK(latency.at(boundary).at("p50").get<double>() == Approx(ns).epsilon(0.01));
    }
  }
}

TEST_CASE("one long read of a shipped machine goes at the rate that its figures say", "[app]") {
  for (const Row& row : kRows) {
    Folder folder;
    run(folder, row, 32 << 20);
    CAPTURE(row.preset, row.tier);
    const double took = std::stod(csv_rows(folder.read("out/kernels.csv")).at(1).at(6));
    const double overhead = 521; // kernel_overhead, which all of them leave at its default
    CHECK((32 << 20) / (took - overhead - row.sm) == Approx(row.rate).epsilon(0.001));
  }
}
