#include "app/tables/csv.h"
#include "app/tables/suites.h"
#include "model/base/error.h"
#include "tests/support/shared_data.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

using namespace umf;
using namespace umf::app;
using umf::test::source_file;

namespace {

TableOptions on(const std::string& scenario) {
  TableOptions options;
  options.scenario = source_file("scenarios/hardware/" + scenario + ".json").string();
  return options;
}

/// A table by names: its cells as CSV has them.
class Rows {
public:
  Rows(const std::string& suite, const TableOptions& options)
      : table_(find_suite(suite)->make(options)) {}

  using Wanted = std::map<std::string, std::string>; ///< column to text
  /// The rows that have these texts, in order.
  std::vector<std::size_t> where(const Wanted& wanted) const {
    std::vector<std::size_t> found;
    for (std::size_t r = 0; r < table_.rows.size(); ++r) {
      bool all = true;
      for (const auto& [column, text] : wanted)
        all = all && at(r, column) == text;
      if (all) found.push_back(r);
    }
    return found;
  }
  const std::string& at(std::size_t row, const std::string& column) const {
    for (std::size_t c = 0; c < table_.columns.size(); ++c)
      if (table_.columns[c].name == column) return table_.rows[row][c].text;
    FAIL("no column " << column);
    return table_.columns.front().name;
  }
  double number(std::size_t row, const std::string& column) const {
    return std::stod(at(row, column));
  }
  double only(const Wanted& wanted, const std::string& column) const {
    const auto rows = where(wanted);
    REQUIRE(rows.size() == 1);
    return number(rows.front(), column);
  }
  const Table& table() const { return table_; }

private:
  Table table_;
};

} // namespace

TEST_CASE("idle latencies of an H100's HBM follow from HBM3's timings", "[app]") {
  const Rows rows("idle-latency", on("h100-sxm"));
  const auto ns = [&](const std::string& what, const std::string& boundary) {
    return rows.only({{"tier", "hbm"}, {"case", what}, {"boundary", boundary}}, "latency_ns");
  };
  // 819.2 GB/s a stack at 625 ps; 3.35 TB/s of five stacks ask for a clock of 764.179 ps. In it
  // tRP, tRCD, tCL of 16.25, 19.375 and 12.5 ns are 22, 26 and 17 clocks, a burst is 2; the
  // controller takes 60 ns.
  const double clock = 0.764179;
  CHECK(ns("closed bank read", "media") == Approx(60 + (26 + 17 + 2) * clock).margin(0.001));
  CHECK(ns("row hit read", "media") == Approx(60 + (17 + 2) * clock).margin(0.001));
  CHECK(ns("row conflict read", "media") == Approx(60 + (22 + 26 + 17 + 2) * clock).margin(0.001));
  CHECK(ns("write taken", "media") == Approx(clock).margin(0.001));
  // On the package the port is the controller's.
  CHECK(ns("closed bank read", "port") == ns("closed bank read", "media"));
  // Random banks are mostly closed or at odds; a refresh takes 200 ns now and then.
  const auto chain =
      rows.where({{"tier", "hbm"}, {"case", "random chain"}, {"boundary", "media"}}).front();
  CHECK(rows.number(chain, "p50_ns") >= ns("closed bank read", "media"));
  CHECK(rows.number(chain, "p99_ns") > rows.number(chain, "p50_ns"));
  CHECK(rows.number(chain, "p99_ns") < ns("row conflict read", "media") + 200);
}

TEST_CASE("idle latencies of static memory are those of its banks and its port", "[app]") {
  TableOptions options = on("umf-three-tier");
  options.tiers = {"sram"};
  options.sets = {"tiers.sram.port_latency=2ns"};
  const Rows rows("idle-latency", options);
  const auto ns = [&](const std::string& what, const std::string& boundary) {
    return rows.only({{"case", what}, {"boundary", boundary}}, "latency_ns");
  };
  // Banks of 5 ns at 2 GHz; 2 ns each way; a store does not wait for its way back.
  CHECK(ns("word read", "media") == 5);
  CHECK(ns("word read", "port") == 9);
  CHECK(ns("bank conflict read", "media") == 5.5);
  CHECK(ns("write taken", "port") == 2);
}

TEST_CASE("more requests in flight carry more and wait longer", "[app]") {
  const Rows rows("loaded-latency", on("h100-sxm"));
  for (const std::string reads : {"1.00", "0.67"}) {
    const auto closed = rows.where({{"tier", "hbm"}, {"read_share", reads}, {"driven", "closed"}});
    REQUIRE(closed.size() > 10);
    for (std::size_t i = 1; i < closed.size(); ++i) {
      CAPTURE(reads, rows.at(closed[i], "load"));
      CHECK(rows.number(closed[i], "GB_per_s") > rows.number(closed[i - 1], "GB_per_s"));
      // Below 32 in flight rows are refreshed before they are read again; above, they stay open
      // and what differs up to saturation is how often a request meets a refresh.
      if (rows.number(closed[i - 1], "load") >= 32)
        CHECK(rows.number(closed[i], "port_mean_ns") >
              0.97 * rows.number(closed[i - 1], "port_mean_ns"));
      CHECK(rows.number(closed[i], "media_p99_ns") >= rows.number(closed[i], "media_p50_ns"));
      CHECK(rows.number(closed[i], "port_mean_ns") >= rows.number(closed[i], "media_mean_ns"));
    }
    CHECK(rows.number(closed.back(), "share") > 0.8);
    // What is offered is carried, but for the run's end, until the memory is full.
    for (const double percent : {10, 50, 80}) {
      const auto row = rows.where(
          {{"driven", "open"}, {"read_share", reads}, {"load", std::to_string(int(percent))}});
      REQUIRE(row.size() == 1);
      CHECK(rows.number(row.front(), "share") == Approx(percent / 100).epsilon(0.06));
    }
  }
}

TEST_CASE("no figure of the bandwidth table says more than there is", "[app]") {
  TableOptions options = on("umf-three-tier");
  options.tiers = {"cxl"};
  const Rows rows("bandwidth", options);
  for (std::size_t r = 0; r < rows.table().rows.size(); ++r) {
    CAPTURE(rows.at(r, "locality"), rows.at(r, "run_bytes"), rows.at(r, "read_share"));
    CHECK(rows.number(r, "share") <= 1);
    CHECK(rows.number(r, "busy_most") <= 1);
    CHECK(rows.number(r, "busy_mean") <= rows.number(r, "busy_most"));
    CHECK(rows.number(r, "row_hit_rate") <= 1);
    CHECK(rows.number(r, "refreshes_issued") <= rows.number(r, "refreshes_due"));
    CHECK(rows.number(r, "refreshes_issued") > 0);
  }
}

TEST_CASE("no random accesses are carried faster than those in order", "[app]") {
  const std::string name = GENERATE("h100-sxm", "umf-three-tier");
  // As a test of golden tables says, they are what the suite makes.
  const Csv csv = read_csv(source_file("results/golden/bandwidth-" + name + ".csv").string());
  const auto column = [&](const std::string& wanted) {
    return std::find(csv.columns.begin(), csv.columns.end(), wanted) - csv.columns.begin();
  };
  const auto at = [&](const Csv::Row& row, const std::string& wanted) {
    return row.fields.at(static_cast<std::size_t>(column(wanted)));
  };
  std::map<std::string, double> in_order; ///< by read share
  for (const Csv::Row& row : csv.rows)
    if (at(row, "locality") == "sequential")
      in_order[at(row, "read_share")] = std::stod(at(row, "GB_per_s"));
  REQUIRE(in_order.size() == 4);
  for (const Csv::Row& row : csv.rows) {
    // Runs of 64 KiB are streams themselves, each in other rows; on DDR5, where ordered streams of
    // a mix walk in step and close each other's rows, they do as well or better.
    if (name == "umf-three-tier" && at(row, "run_bytes") == "65536") continue;
    if (at(row, "locality") != "random") continue;
    CAPTURE(name, row.line);
    CHECK(std::stod(at(row, "GB_per_s")) < in_order.at(at(row, "read_share")));
  }
}

TEST_CASE("the matrix names the slowest hop of each way", "[app]") {
  const Rows rows("matrix", on("umf-three-tier"));
  const auto by = [&](const std::string& from, const std::string& to,
                      const std::string& direction) {
    const auto found = rows.where({{"from", from}, {"to", to}, {"direction", direction}});
    REQUIRE(found.size() == 1);
    return rows.at(found.front(), "bound_by");
  };
  CHECK(by("gpu0.sm", "hbm", "read") == "hbm.media");
  CHECK(by("gpu0.copy", "hbm", "read") == "gpu0.copy_engine"); // 450 GB/s
  CHECK(by("gpu0.sm", "sram", "read") == "gpu0.l2");           // 12.8 TB/s behind 7.0
  CHECK(by("gpu0.sm", "host", "read") == "gpu0-host");
  // Eight Gen5 x16 links of 68 B flits carry 8 × 47.4 GB/s of writes (facts.md); the device's 400
  // GB/s of DDR5 lose 295 of 3900 ns to refresh, and more to opening its rows again.
  CHECK(by("gpu0.sm", "cxl", "write") == "cxl.media");
  CHECK(rows.only({{"from", "gpu0.sm"}, {"to", "cxl"}, {"direction", "write"}}, "GB_per_s") <
        400 * (1 - 295.0 / 3900));
  CHECK_THAT(to_terminal(rows.table()), Catch::Contains("read+write, GB/s\nfrom "));
}

TEST_CASE("tables without a machine are made of every shipped scenario", "[app]") {
  const std::string scenario = GENERATE("a100-80g-sxm", "h100-64g", "h100-pcie", "h100-sxm",
                                        "umf-small-hbm", "umf-three-tier", "umf-two-gpus");
  for (const std::string suite : {"idle-latency", "matrix"}) {
    const Rows rows(suite, on(scenario));
    CAPTURE(scenario, suite);
    REQUIRE(!rows.table().rows.empty());
    CHECK_THAT(rows.table().title, Catch::Contains("peak ") && Catch::Contains(" at a clock of "));
    for (const auto& row : rows.table().rows)
      CHECK(row.size() == rows.table().columns.size());
  }
}

TEST_CASE("only the tiers asked for are played", "[app]") {
  TableOptions options = on("umf-three-tier");
  options.tiers = {"cxl"};
  const Rows rows("idle-latency", options);
  CHECK(rows.where({{"tier", "cxl"}}).size() == rows.table().rows.size());
  options.tiers = {"cxk"};
  CHECK_THROWS_WITH(find_suite("idle-latency")->make(options),
                    "--tier: no tier \"cxk\", did you mean \"cxl\"?");
}

TEST_CASE("links at line resolution agree with burst resolution's formulas where wires bind",
          "[app]") {
  const Rows rows("links", on("umf-two-gpus"));
  const auto figure = [&](const std::string& way, const std::string& direction,
                          const std::string& column) {
    return rows.only(
        {{"way", way}, {"direction", direction}, {"size_bytes", "4096"}, {"outstanding", "256"}},
        column);
  };
  // Gen5 x16: 63.015 GB/s x 374/375 of reads in 276 B for 256 beside DLLPs, writes in 280 B.
  CHECK(figure("gpu0 > host", "write", "GB_per_s") == Approx(57.46).epsilon(0.001));
  for (const char* way : {"gpu0 > host", "gpu0 > sw0 > cxl"})
    for (const char* direction : {"read", "write"})
      CHECK(figure(way, direction, "GB_per_s") ==
            Approx(figure(way, direction, "formula_GB_per_s")).epsilon(0.04));
  // One read of 64 B through a switch of 105 ns: two heads of 16 B, two flights more.
  const auto alone = [&](const std::string& way) {
    return rows.only(
        {{"way", way}, {"direction", "read"}, {"size_bytes", "64"}, {"outstanding", "1"}},
        "read_mean_ns");
  };
  CHECK(alone("gpu0 > host") == Approx(2 * 70 + 137 + (24 + 84) / 63.015 + 0.2).epsilon(0.005));
  CHECK(alone("gpu0 > host > gpu1") > alone("gpu0 > host"));
  CHECK(alone("gpu0 > hbm") < alone("gpu0 > sw0 > gpu1"));
  CHECK(rows.where({{"way", "gpu0 > sram"}}).size() == 36);
}

TEST_CASE("bursts carry what the banks carry, off the grid and under contention", "[app]") {
  const std::string name = GENERATE("h100-sxm", "a100-80g-sxm", "umf-three-tier");
  // As a test of golden tables says, they are what the suite makes.
  const Csv csv = read_csv(source_file("results/golden/resolution-" + name + ".csv").string());
  std::map<std::string, double> errors; ///< by point, without sign
  for (const Csv::Row& row : csv.rows)
    errors[row.fields.at(1)] = std::abs(std::stod(row.fields.at(5)));
  REQUIRE(errors.size() == 5 * 8 + 3);
  CAPTURE(name);
  CHECK(errors.at("mean") <= 5);
  CHECK(errors.at("P99") <= 15);
  // The summary is of the points.
  double sum = 0, worst = 0;
  for (const auto& [point, error] : errors) {
    if (point == "mean" || point == "P99" || point == "worst") continue;
    sum += error;
    worst = std::max(worst, error);
  }
  CHECK(errors.at("mean") == Approx(sum / (5 * 8)).margin(0.01));
  CHECK(errors.at("worst") == worst);
}

TEST_CASE("tokens of KV cache that a memory holds are its bytes over a token's", "[app]") {
  const Rows rows("kv-capacity", on("umf-three-tier"));
  const auto llama = [&](const std::string& kv, const std::string& batch, const std::string& tier,
                         const std::string& column) {
    return rows.only({{"model", "llama-3-70b"}, {"kv", kv}, {"batch", batch}, {"tier", tier}},
                     column);
  };
  // 2 × 80 layers × 8 heads × 128 numbers. A head in int4 with a scale and a zero point of 16 bits
  // each is 64 + 4 B; with groups of 32 there are four of them.
  CHECK(llama("bf16", "1", "cxl", "kv_B_per_token") == 2 * 80 * 8 * 128 * 2);
  CHECK(llama("f8", "1", "cxl", "kv_B_per_token") == 2 * 80 * 8 * 128);
  CHECK(llama("i4-z", "1", "cxl", "kv_B_per_token") == 2 * 80 * 8 * 68);
  CHECK(llama("i4-z", "1", "cxl", "metadata_share") == Approx(4.0 / 68).margin(5e-5));
  CHECK(llama("i4-g32-z", "1", "cxl", "metadata_share") == 0.2);
  CHECK(llama("bf16", "4", "cxl", "tokens") == (256ull << 30) / 4 / 327'680);
  // Of 48 MiB: a page of K or V is 32 tokens of one layer, so 32 tokens are 10 MiB of pages. Of 3
  // MiB for each of 16 sequences no token has its 160 pages.
  CHECK(llama("bf16", "1", "sram", "tokens") == (48 << 20) / 327'680);
  CHECK(llama("bf16", "1", "sram", "tokens_in_pages") == 4 * 32);
  CHECK(llama("bf16", "16", "sram", "tokens") == (3 << 20) / 327'680);
  CHECK(llama("bf16", "16", "sram", "tokens_in_pages") == 0);
  for (std::size_t r = 0; r < rows.table().rows.size(); ++r) {
    CAPTURE(r);
    const bool home = rows.at(r, "tier") == "hbm";
    if (home) CHECK(rows.number(r, "weights_B") + rows.number(r, "room_B") == 96.0 * (1 << 30));
    CHECK(rows.number(r, "tokens_in_pages") <= rows.number(r, "tokens"));
    const double token = rows.number(r, "kv_B_per_token") * rows.number(r, "batch");
    CHECK(rows.number(r, "tokens") * token <= rows.number(r, "room_B"));
    CHECK((rows.number(r, "tokens") + 1) * token > rows.number(r, "room_B"));
  }
}
