#include "app/tables/directed.h"
#include "app/tables/suites.h"
#include "tests/support/shared_data.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <map>
#include <set>
#include <sstream>

using namespace umf;
using namespace umf::app;
namespace dram = umf::hw::dram;

namespace {

constexpr std::size_t kStandard = 0, kName = 1, kTime = 2, kShows = 3, kMovedBy = 4;

Table timings_of(const std::vector<std::string>& sets = {}) {
  TableOptions options;
  options.scenario = test::source_file("scenarios/hardware/h100-sxm.json").string();
  options.sets = sets;
  return find_suite("timings")->make(options);
}

std::set<std::string> words(const std::string& text) {
  std::istringstream in(text);
  std::set<std::string> all;
  for (std::string word; in >> word;)
    all.insert(word);
  return all;
}

/// What is there for a timing and moves with it: "RD to WR".
std::set<std::string> moving(const Table& table, const std::string& standard,
                             const std::string& timing) {
  std::set<std::string> rows;
  for (const auto& row : table.rows)
    if (row[kStandard].text == standard && words(row[kShows].text).contains(timing) &&
        words(row[kMovedBy].text).contains(timing))
      rows.insert(row[kName].text);
  return rows;
}

std::string time_of(const Table& table, const std::string& standard, const std::string& name) {
  for (const auto& row : table.rows)
    if (row[kStandard].text == standard && row[kName].text == name) return row[kTime].text;
  FAIL("no row " << name << " of " << standard);
  return {};
}

/// Every figure of the timings that --set can give, as text.
std::string text_of(const dram::Timings& t, std::string_view name) {
  const auto clocks = [](dram::Cycle count) { return fmt::format("{}nCK", count); };
  using T = dram::Timings;
  constexpr std::pair<std::string_view, dram::Cycle T::*> kAll[] = {
      {"tCL", &T::tCL},       {"tCWL", &T::tCWL},       {"tRCDRD", &T::tRCDRD},
      {"tRCDWR", &T::tRCDWR}, {"tRP", &T::tRP},         {"tRAS", &T::tRAS},
      {"tRC", &T::tRC},       {"tCCDS", &T::tCCDS},     {"tCCDL", &T::tCCDL},
      {"tCCDR", &T::tCCDR},   {"tCCDSWR", &T::tCCDSWR}, {"tCCDLWR", &T::tCCDLWR},
      {"tRRDS", &T::tRRDS},   {"tRRDL", &T::tRRDL},     {"tFAW", &T::tFAW},
      {"tRTP", &T::tRTP},     {"tWR", &T::tWR},         {"tWTRS", &T::tWTRS},
      {"tWTRL", &T::tWTRL},   {"tRTW", &T::tRTW},       {"tRTRS", &T::tRTRS},
      {"tPPD", &T::tPPD},     {"tREFI", &T::tREFI},     {"tRFCab", &T::tRFCab},
      {"tRFCpb", &T::tRFCpb}, {"tRREFD", &T::tRREFD}};
  for (const auto& [known, member] : kAll)
    if (known == name) return clocks(t.*member);
  if (name == "act_clocks") return std::to_string(t.act_clocks);
  if (name == "column_clocks") return std::to_string(t.column_clocks);
  if (name == "shared_bus") return t.shared_bus ? "true" : "false";
  REQUIRE(name == "refresh_banks");
  return std::to_string(t.refresh_banks);
}

} // namespace

TEST_CASE("every timing of every shipped standard moves a row that is there for it", "[app]") {
  const Table table = timings_of();
  for (const dram::EmbeddedStandard& shipped : dram::shipped_standards())
    for (const NamedTiming& timing : named_timings()) {
      CAPTURE(shipped.name, timing.name);
      CHECK(!moving(table, std::string(shipped.name), std::string(timing.name)).empty());
    }
}

TEST_CASE("a row is there for timings that there are", "[app]") {
  std::set<std::string> known;
  for (const NamedTiming& timing : named_timings())
    known.insert(std::string(timing.name));
  // Everything of Timings is a Cycle but the clock, and a word for the bus and the banks; the
  // burst follows from the burst length.
  CHECK(known.size() == sizeof(dram::Timings) / sizeof(dram::Cycle) - 2 - 1 + 2);
  for (const Directed& directed : directed_experiments())
    for (const std::string& name : words(std::string(directed.shows))) {
      CAPTURE(directed.name, name);
      CHECK(known.contains(name));
    }
}

TEST_CASE("rows hidden behind others say so", "[app]") {
  const Table table = timings_of();
  for (const auto& row : table.rows)
    for (const std::string& timing : words(row[kShows].text)) {
      if (words(row[kMovedBy].text).contains(timing)) continue;
      CAPTURE(row[kStandard].text, row[kName].text);
      // HBM: read data comes long after write data of another rank, and its ACT has a bus of its
      // own. DDR5: the gap between the data is longer than the command.
      if (row[kName].text == "WR to RD of another rank")
        CHECK((timing == "tRTRS" || timing == "column_clocks"));
      else
        CHECK((row[kName].text == "RD beside ACT" && timing == "column_clocks"));
    }
}

TEST_CASE("a timing made a fifth longer in a scenario moves the rows that are there for it",
          "[app]") {
  const std::string standard = GENERATE("hbm3", "ddr5-6400");
  const dram::DramStandard shipped = dram::read_standard(standard);
  const dram::Timings timings = dram::timings(shipped, shipped.tCK);
  const std::string at = "dram." + standard + ".";
  // What a scenario must change along with some, lest it be refused: tRC holds tRAS and tRP, and
  // single banks have to be refreshed in less time.
  const std::string row_time = fmt::format("{}tRC={}nCK", at, 2 * timings.tRC);
  const std::map<std::string, std::string> along{
      {"tRAS", row_time}, {"tRP", row_time}, {"refresh_banks", at + "tRFCpb=100ns"}};
  const Table shipped_table = timings_of();
  for (const NamedTiming& timing : named_timings()) {
    dram::Timings longer = timings;
    timing.grow(longer, dram::organisation(shipped));
    const std::string name(timing.name);
    std::vector<std::string> sets{fmt::format("{}{}={}", at, name, text_of(longer, name))};
    Table before = shipped_table;
    if (const auto found = along.find(name); found != along.end()) {
      before = timings_of({found->second});
      sets.push_back(found->second);
    }
    const Table now = timings_of(sets);
    const std::set<std::string> rows = moving(shipped_table, standard, name);
    CAPTURE(sets.front());
    CHECK(!rows.empty());
    for (const std::string& row : rows) {
      CAPTURE(row);
      CHECK(time_of(now, standard, row) != time_of(before, standard, row));
    }
    // Of the other standards nothing moves.
    CHECK(time_of(now, "hbm2", "ACT to RD") == time_of(shipped_table, "hbm2", "ACT to RD"));
  }
}
