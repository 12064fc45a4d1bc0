#include "hw/dram/standard.h"
#include "tests/base/error_of.h"

#include <catch2/catch.hpp>

#include <map>

using namespace umf;
using namespace umf::hw::dram;
using umf::test::error_of;

namespace {

struct Expected {
  Bytes capacity;
  double gigabytes; ///< a second, of a stack or module: pins × pin rate / 8
  Cycle burst, tCL, tRCDRD, tRAS, tRC, tFAW, tRFCab, tREFI;
  double closed_ns; ///< (tRCDRD + tCL + burst) clocks: a read of a closed bank, to its last data
};

// Each clock count is the minimum over tCK, rounded up: hbm2e tRAS is 34 / 0.555556 = 61.2, so 62.
const std::map<std::string, Expected, std::less<>> by_hand = {
    {"ddr5-4800", {16_GiB, 38.4, 8, 34, 34, 77, 111, 32, 708, 9360, 31.67}},
    {"ddr5-5600", {16_GiB, 44.8, 8, 40, 40, 90, 130, 32, 826, 10920, 31.43}},
    {"ddr5-6400", {16_GiB, 51.2, 8, 46, 46, 103, 149, 32, 944, 12480, 31.25}},
    {"hbm2", {8_GiB, 307.2, 2, 17, 17, 41, 58, 18, 420, 4680, 30.0}},
    {"hbm2e", {16_GiB, 460.8, 2, 26, 26, 62, 87, 27, 810, 7020, 30.0}},
    {"hbm3", {16_GiB, 819.2, 2, 20, 31, 45, 72, 24, 560, 6240, 33.125}},
    {"hbm3e", {24_GiB, 1254.4, 2, 31, 48, 69, 111, 37, 1103, 9555, 33.06}}};

} // namespace

TEST_CASE("every shipped standard has the capacity, peak and clocks derived by hand") {
  CHECK(shipped_standards().size() == by_hand.size());
  for (const EmbeddedStandard& shipped : shipped_standards()) {
    CAPTURE(shipped.name);
    const auto row = by_hand.find(shipped.name);
    REQUIRE(row != by_hand.end());
    const Expected& expected = row->second;
    const DramStandard standard = read_standard(shipped.name);
    const Timings t = timings(standard, standard.tCK);
    CHECK(standard.name == shipped.name);
    CHECK(standard.capacity == expected.capacity);
    CHECK(organisation(standard).bytes() * standard.units * standard.channels ==
          expected.capacity.count);
    // tCK is rounded up to a femtosecond: 2 ppm at most.
    CHECK(peak(standard, standard.tCK).value == Approx(expected.gigabytes * 1e9).epsilon(3e-6));
    CHECK(t.burst == expected.burst);
    CHECK(t.tCL == expected.tCL);
    CHECK(t.tRCDRD == expected.tRCDRD);
    CHECK(t.tRAS == expected.tRAS);
    CHECK(t.tRC == expected.tRC);
    CHECK(t.tFAW == expected.tFAW);
    CHECK(t.tRFCab == expected.tRFCab);
    CHECK(t.tREFI == expected.tREFI);
    const Femtoseconds closed = t.clock * (t.tRCDRD + t.tCL + t.burst);
    CHECK(closed.nanoseconds() == Approx(expected.closed_ns).margin(0.01));
  }
}

TEST_CASE("every figure of a shipped standard says where it is from") {
  for (const EmbeddedStandard& shipped : shipped_standards()) {
    KeyContext context;
    read_standard(parse_json(shipped.text, std::string(shipped.name)), context);
    context.throw_if_faulty();
    for (const KeyRecord& record : context.records()) {
      CAPTURE(shipped.name, record.pointer);
      CHECK(record.from);
      CHECK_FALSE(record.source.empty());
    }
  }
}

TEST_CASE("column accesses of different bank groups follow without a gap") {
  for (const EmbeddedStandard& shipped : shipped_standards()) {
    CAPTURE(shipped.name);
    const DramStandard standard = read_standard(shipped.name);
    const Timings t = timings(standard, standard.tCK);
    CHECK(t.tCCDS == t.burst);
    CHECK(t.tCCDSWR == t.burst);
    // Accesses of one group come apart tCCDL, and there are enough groups to fill that time.
    CHECK(t.tCCDL <= t.burst * standard.bank_groups);
  }
}

TEST_CASE("an HBM3 stack has the clocks of the only public preset") {
  // Ramulator 2.1 hbm3.py, HBM3_6400; but tRREFD, whose 8 ns are 12.8 clocks of 625 ps.
  const DramStandard standard = read_standard("hbm3");
  const Timings t = timings(standard, standard.tCK);
  CHECK(t.tCWL == 10);
  CHECK(t.tRCDWR == 15);
  CHECK(t.tRP == 26);
  CHECK(t.tCCDL == 4);
  CHECK(t.tCCDR == 3);
  CHECK(t.tRRDS == 4);
  CHECK(t.tRRDL == 5);
  CHECK(t.tRTP == 9);
  CHECK(t.tWR == 33);
  CHECK(t.tWTRS == 7);
  CHECK(t.tWTRL == 10);
  CHECK(t.tRTW == 20);
  CHECK(t.tPPD == 2);
  CHECK(t.tRFCpb == 320);
  CHECK(t.tRREFD == 13);
  CHECK(pin_rate(standard, standard.tCK).value == Approx(6.4e9));
  CHECK(unit_peak(standard, standard.tCK).value == Approx(25.6e9)); // 32 pins of 6.4 Gb/s
}

TEST_CASE("a DDR5-6400 sub-channel has the clocks of its bin") {
  const DramStandard standard = read_standard("ddr5-6400");
  const Timings t = timings(standard, standard.tCK);
  CHECK(t.tCWL == 44);    // CL - 2
  CHECK(t.tRP == 46);     // 14.375 ns / 312.5 ps
  CHECK(t.tCCDL == 16);   // 5 ns / 312.5 ps
  CHECK(t.tCCDLWR == 64); // 20 ns
  CHECK(t.tRRDS == 8);
  CHECK(t.tRRDL == 16);
  CHECK(t.tRTP == 24); // 7.5 ns, more than 12 clocks
  CHECK(t.tWR == 96);
  CHECK(t.tWTRS == 8); // 2.5 ns, more than 4 clocks
  CHECK(t.tWTRL == 32);
  CHECK(t.tRTW == 14); // CL - CWL + BL/2 + 2 + 2
  CHECK(t.tRFCpb == 416);
  CHECK(t.shared_bus);
  CHECK(t.refresh_banks == 8);
  CHECK(organisation(standard).access_bytes == 64);
  CHECK(organisation(standard).columns() == 64);
  CHECK(unit_peak(standard, standard.tCK).value == Approx(25.6e9));
}

TEST_CASE("a slower clock keeps what is time and stretches what is clocks") {
  // HBM3 at 5.2 Gb/s a pin: CK of 1.3 GHz.
  const DramStandard standard = read_standard("hbm3");
  const Timings t = timings(standard, {769'231});
  CHECK(t.clock == Femtoseconds{769'231});
  CHECK(t.tCL == 17);     // 12.5 / 0.769231 = 16.25
  CHECK(t.tRC == 59);     // 45 / 0.769231 = 58.5
  CHECK(t.tREFI == 5070); // 3900 / 0.769231 = 5069.998
  CHECK(t.tCCDL == 4);
  CHECK(t.tPPD == 2);
  CHECK(peak(standard, {769'231}).value == Approx(665.6e9).epsilon(3e-6));
  CHECK(error_of([&] { timings(standard, {624'999}); }) ==
        "a clock of 624999fs is faster than hbm3 runs, expected at least 625ps");
}

TEST_CASE("an unknown standard is refused with the list and the nearest") {
  CHECK(error_of([] { read_standard("hbm33"); }) ==
        "unknown DRAM standard \"hbm33\", expected one of ddr5-4800, ddr5-5600, ddr5-6400, hbm2, "
        "hbm2e, hbm3, hbm3e (did you mean \"hbm3\"?)");
}
