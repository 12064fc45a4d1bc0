#include "tests/app/child.h"
#include "tests/app/folder.h"
#include "tests/app/samples.h"

#include <catch2/catch.hpp>

#include <sstream>

using namespace umf::test;

namespace {

struct Row {
  std::string tier, by, copy, migrate;
  double bytes = 0, remote = 0, local = 0, in = 0, out = 0; ///< ns
};

std::vector<Row> break_even(const std::vector<std::string>& more) {
  Folder folder;
  std::vector<std::string> arguments = {"tables", "--suite",    "break-even",           "--format",
                                        "csv",    "--scenario", preset("umf-small-hbm")};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Ended ended = umfsim(arguments, folder.path());
  CAPTURE(ended.err);
  REQUIRE(ended.status == 0);
  std::istringstream lines(ended.out);
  std::string line;
  std::getline(lines, line);
  CHECK(line == "tier,moved_by,bytes,remote_read_ns,local_read_ns,move_in_ns,move_out_ns,"
                "copy_from_reads,migrate_from_reads");
  std::vector<Row> rows;
  while (std::getline(lines, line)) {
    std::vector<std::string> cells;
    std::istringstream in(line);
    for (std::string cell; std::getline(in, cell, ',');)
      cells.push_back(cell);
    REQUIRE(cells.size() == 9);
    rows.push_back({cells[0], cells[1], cells[7], cells[8], std::stod(cells[2]),
                    std::stod(cells[3]), std::stod(cells[4]), std::stod(cells[5]),
                    std::stod(cells[6])});
  }
  return rows;
}

const Row& row(const std::vector<Row>& rows, const std::string& tier, const std::string& by) {
  for (const Row& r : rows)
    if (r.tier == tier && r.by == by) return r;
  FAIL("no row of " << tier << " by " << by);
  return rows.front();
}

} // namespace

TEST_CASE("the break-even table follows from the rates of the scenario's paths", "[app]") {
  const auto rows = break_even({"--bytes", "64MiB"});
  REQUIRE(rows.size() == 4); // host and pool, each by command and by fault
  const Row& pool = row(rows, "cxl", "command");
  // One Gen5 x16 link of 68 B flits carries 52.7 GB/s of reads and 47.4 GB/s of writes (facts.md).
  CHECK(pool.remote == Approx(67108864 / 52.7).epsilon(0.005));
  // HBM: 2.4 TB/s at 95.2 %.
  CHECK(pool.local == Approx(67108864 / (2400 * 0.952)).epsilon(0.05));
  CHECK(pool.in == Approx(67108864 / 52.7).epsilon(0.005));
  CHECK(pool.out == Approx(67108864 / 47.4).epsilon(0.005));
  // A copy costs a little more than one read saves; a migration 1.27 + 1.42 ms for 1.24 a read.
  CHECK(pool.copy == "2");
  CHECK(pool.migrate == "3");
  // By faults: 64 MiB are four batches of 256 pages, 20 us each.
  const Row& fault = row(rows, "cxl", "fault");
  CHECK(fault.in - pool.in == Approx(80'000));
}

TEST_CASE("a cheaper way home lowers the break-even, a slow service raises it", "[app]") {
  const auto slow = break_even({"--bytes", "64KiB", "--set", "scheduler.fault_latency=100us"});
  // 64 KiB: 1.24 us and 0.6 us of latency across the link; 100 us are some 70 reads.
  CHECK(std::stoi(row(slow, "cxl", "fault").copy) > 50);
  CHECK(row(slow, "cxl", "command").copy == "2");
}

TEST_CASE("the break-even table for people says what is asked and answers in order", "[app]") {
  Folder folder;
  const Ended ended =
      umfsim({"tables", "--scenario", preset("umf-small-hbm"), "--bytes", "1MiB"}, folder.path());
  REQUIRE(ended.status == 0);
  CHECK_THAT(ended.out, Catch::StartsWith("How often must the same bytes be read"));
  CHECK_THAT(ended.out, Catch::Contains("\ncxl   command") && Catch::Contains("  1MiB  "));
  CHECK(folder.entries().empty());
}
