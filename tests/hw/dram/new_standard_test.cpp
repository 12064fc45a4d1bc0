#include "hw/dram/standard.h"
#include "tests/base/error_of.h"

#include <catch2/catch.hpp>

using namespace umf;
using namespace umf::hw::dram;
using umf::test::error_of;

namespace {

/// Made up, in the shape of HBM4: 32 channels, 8 Gb/s a pin.
const std::string hbm4_like = R"json({
  "name": "hbm4-like", "capacity": "32GiB",
  "channels": 32, "units": 2, "unit_width": 32, "burst_length": 8, "transfers_per_clock": 4,
  "ranks": 2, "bank_groups": 4, "banks": 4, "rows": 16384, "row_size": "1KiB",
  "tCK": "500ps", "tCL": "10ns", "tCWL": "5ns", "tRCDRD": "19.5ns", "tRCDWR": "9.5ns",
  "tRP": "16.3ns", "tRAS": "28.5ns", "tRC": "45ns",
  "tCCDS": "2nCK", "tCCDL": "max(4nCK, 2ns)", "tCCDR": "3nCK", "tCCDSWR": "2nCK",
  "tCCDLWR": "4nCK", "tRRDS": "2.5ns", "tRRDL": "3.3ns", "tFAW": "15ns", "tRTP": "6ns",
  "tWR": "21ns", "tWTRS": "4.5ns", "tWTRL": "6.5ns", "tRTW": "25nCK", "tRTRS": "1nCK",
  "tPPD": "2nCK", "tREFI": "3900ns", "tRFCab": "450ns", "tRFCpb": "200ns",
  "tRREFD": "max(3nCK, 8ns)", "act_clocks": 2, "column_clocks": 1, "shared_bus": false,
  "refresh_banks": 1
})json";

std::string with(const std::string& was, const std::string& is) {
  std::string text = hbm4_like;
  const std::size_t at = text.find(was);
  REQUIRE(at != std::string::npos);
  return text.replace(at, was.size(), is);
}

std::string faults(const std::string& text) {
  return error_of([&] {
    KeyContext context;
    read_standard(parse_json(text, "f"), context);
    context.throw_if_faulty();
  });
}

} // namespace

TEST_CASE("a standard is added as data alone") {
  KeyContext context;
  const DramStandard standard = read_standard(parse_json(hbm4_like, "hbm4.json"), context);
  context.throw_if_faulty();
  // 32 channels × 2 pseudo-channels × 2 SIDs × 16 banks × 16384 rows × 1 KiB
  CHECK(organised_bytes(standard) == 32_GiB);
  // 2048 pins × 8 Gb/s / 8
  CHECK(peak(standard, standard.tCK).value == Approx(2048e9));
  CHECK(pin_rate(standard, standard.tCK).value == Approx(8e9));
  const Organisation org = organisation(standard);
  CHECK(org.access_bytes == 32); // 32 pins × 8 transfers / 8
  CHECK(org.columns() == 32);
  CHECK(org.all_banks() == 32);
  const Timings t = timings(standard, standard.tCK);
  CHECK(t.burst == 2);
  CHECK(t.tCL == 20);
  CHECK(t.tRCDRD == 39);
  CHECK(t.tRP == 33);    // 32.6
  CHECK(t.tRRDL == 7);   // 6.6
  CHECK(t.tCCDL == 4);   // both are 4 clocks
  CHECK(t.tRREFD == 16); // 8 ns, more than 3 clocks
  CHECK(t.tREFI == 7800);
}

TEST_CASE("a standard with a fault says which and what it should be") {
  struct Row {
    const char *was, *is, *message;
  };
  const Row row = GENERATE(values<Row>({
      {"\"tRP\": \"16.3ns\",", "", "key \"tRP\" is missing, expected clocks, a time"},
      {"\"tREFI\"", "\"REFI\"", "unknown key \"REFI\", did you mean \"tREFI\"?"},
      {"\"tREFI\"", "\"REFI\"", "key \"tREFI\" is missing"},
      {"\"32GiB\"", "\"24GiB\"",
       "/capacity: 24GiB is stated, but 32 channel(s) × 2 unit(s) × 2 rank(s) × 4 bank group(s) × "
       "4 bank(s) × 16384 rows × 1KiB hold 32GiB, expected that"},
      {"\"450ns\"", "\"3900ns\"",
       "/tRFCab: a refresh of 3.9us fills its interval tREFI, expected less than 3.9us"},
      {"\"200ns\"", "\"244ns\"",
       "/tRFCpb: 16 refreshes of 244ns fill the interval tREFI, expected less than 243750ps"},
      {"\"45ns\"", "\"44ns\"",
       "/tRC: 44ns is less than tRAS and tRP together, expected at least 44.8ns"},
      {"\"bank_groups\": 4", "\"bank_groups\": 3",
       "/bank_groups: 3 is no power of two, expected 2 or 4"},
      {"\"burst_length\": 8", "\"burst_length\": 6",
       "/burst_length: 6 transfers end within a clock, expected a multiple of the 4"},
      {"\"unit_width\": 32", "\"unit_width\": 36", "/unit_width: 36 pins are no whole bytes"},
      {"\"unit_width\": 32", "\"unit_width\": 24",
       "make an access of 24 bytes, expected a power of two"},
      {"\"1KiB\"", "\"1000B\"", "/row_size: 1kB is no power of two of accesses of 32 bytes each"},
      {"\"refresh_banks\": 1", "\"refresh_banks\": 2",
       "/refresh_banks: 2 banks, expected 1 or one of each of the 4 bank groups"},
      {"\"10ns\"", "10", "/tCL: the number 10 has no unit, expected clocks, a time"},
      {"\"2nCK\"", "\"2CK\"", "/tCCDS: unknown unit \"CK\" in \"2CK\""},
      {"\"channels\": 32", "\"channels\": 0", "/channels: 0 is out of range, expected 1 to 64"},
  }));
  CAPTURE(row.was, row.is);
  CHECK_THAT(faults(with(row.was, row.is)), Catch::Contains(row.message));
}

TEST_CASE("a contradiction that is marked as wanted is no fault") {
  CHECK(faults(with("\"45ns\"", R"({"value": "44ns", "override": true})")).empty());
}

TEST_CASE("every fault of a standard is told at once, each where it stands") {
  std::string text = with("\"450ns\"", "\"5us\"");
  text.replace(text.find("\"32GiB\""), 7, "\"31GiB\"");
  const std::string told = faults(text);
  CHECK_THAT(told, Catch::Contains("f:2:36: /capacity: 31GiB"));
  CHECK_THAT(told, Catch::Contains("/tRFCab: a refresh of 5us"));
}
