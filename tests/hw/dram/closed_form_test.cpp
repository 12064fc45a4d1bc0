#include "hw/dram/drive.h"
#include "tests/support/shared_data.h"

#include <catch2/catch.hpp>

#include <string>

using namespace umf;
using namespace umf::hw::dram;

namespace {

/// A few units, for units share nothing; all refresh together, so that a sender in order is
/// stopped once an interval. No hash, for the forms say which banks rows lie in.
DramConfig tier(const DramStandard& standard, RefreshMode refresh, std::uint32_t units = 4) {
  ControllerConfig controller;
  controller.refresh = refresh;
  controller.postpone = 0;
  controller.stagger = false;
  controller.hash.emplace();
  DramConfig config = dram_config(standard, standard.tCK, controller, 1);
  config.units = std::min(config.units, units);
  return config;
}

Driven stream(const DramConfig& config, bool write, Cycle intervals) {
  Dram dram(config);
  Drive how;
  how.traffic.access = Bytes{dram.access_bytes()};
  how.traffic.footprint = how.traffic.run = Bytes{dram.bytes()};
  how.traffic.writes = write ? 1 : 0;
  const Timings& t = config.timings;
  how.requests = static_cast<std::uint64_t>(intervals * t.tREFI / t.burst) * dram.units();
  return drive(dram, how);
}

Driven random_reads(const DramConfig& config) {
  Dram dram(config);
  Drive how;
  how.traffic.access = how.traffic.run = Bytes{dram.access_bytes()};
  how.traffic.footprint = Bytes{dram.bytes()};
  how.requests = 100'000;
  return drive(dram, how);
}

/// Latency in clocks of reads `stride` bytes apart, turn by turn at two places, one a microsecond.
Cycle unloaded(const DramConfig& config, std::uint64_t stride) {
  Dram dram(config);
  Drive how;
  how.traffic.access = Bytes{stride};
  how.traffic.footprint = how.traffic.run = Bytes{2 * stride};
  how.rate = BytesPerSecond{dram.access_bytes() / 1e-6};
  how.requests = 100;
  how.warm_up = 2;
  const Driven driven = drive(dram, how);
  CHECK(driven.media.count() == 98);
  CHECK(driven.media.min() == driven.media.max()); // nothing is in its way
  CHECK(driven.media.max() == driven.port.max());
  const std::uint64_t clock = static_cast<std::uint64_t>(config.timings.clock.count);
  return static_cast<Cycle>((driven.media.max() * 1000 + clock - 1) / clock);
}

/// Two addresses in one row of one bank, and in two rows of it. The row is what leads an address.
std::uint64_t next_row(const DramConfig& config) {
  return Dram(config).bytes() / config.organisation.rows;
}

DramConfig published(const std::string& name) {
  const JsonValue file =
      read_json_file(umf::test::source_file("results/published/simulators/" + name + ".json"));
  KeyContext context;
  const DramStandard standard = read_standard(*file.find("standard"), context);
  const ControllerConfig controller =
      controller_component().read(*file.find("controller"), context, "");
  context.throw_if_faulty();
  return dram_config(standard, standard.tCK, controller, 1);
}

double ratio(Cycle a, Cycle b) {
  return static_cast<double>(a) / static_cast<double>(b);
}

} // namespace

TEST_CASE("an all-bank refresh takes a stream its tRFC and the closing and opening of rows") {
  for (const EmbeddedStandard& shipped : shipped_standards()) {
    CAPTURE(shipped.name);
    const DramConfig config = tier(read_standard(shipped.name), RefreshMode::all_bank);
    const Timings& t = config.timings;
    const double bound = 1 - ratio(t.tRFCab, t.tREFI);
    // Between the last access before and the first one after: to PRE, tRP, tRFCab, tRCD; the
    // data of the last one fills a burst of that.
    const Cycle read = t.tRTP + t.tRP + t.tRFCab + t.tRCDRD - t.burst;
    const Cycle write = t.tCWL + t.burst + t.tWR + t.tRP + t.tRFCab + t.tRCDWR - t.burst;
    const Driven reads = stream(config, false, 20);
    CHECK(reads.share == Approx(1 - ratio(read, t.tREFI)).margin(0.005));
    CHECK(reads.share < bound);
    CHECK(reads.share > bound - 0.0125); // the closed form users know: a percent
    CHECK(reads.limit == Limit::refresh);
    const Driven writes = stream(config, true, 20);
    CHECK(writes.share == Approx(1 - ratio(write, t.tREFI)).margin(0.005));
    CHECK(writes.limit == Limit::refresh);
  }
}

TEST_CASE("a stream without refresh fills the bus") {
  for (const EmbeddedStandard& shipped : shipped_standards()) {
    CAPTURE(shipped.name);
    const DramConfig config = tier(read_standard(shipped.name), RefreshMode::none);
    CHECK(stream(config, false, 10).share > 0.995);
    CHECK(stream(config, true, 10).share > 0.995);
  }
}

TEST_CASE("refreshing bank by bank streams above the bound of all-bank refresh") {
  for (const EmbeddedStandard& shipped : shipped_standards()) {
    CAPTURE(shipped.name);
    const DramConfig config = tier(read_standard(shipped.name), RefreshMode::per_bank);
    const double bound = 1 - ratio(config.timings.tRFCab, config.timings.tREFI);
    CHECK(stream(config, false, 20).share > bound);
    CHECK(stream(config, true, 20).share > bound);
  }
}

TEST_CASE("random reads of one rank come four in a tFAW") {
  for (const EmbeddedStandard& shipped : shipped_standards()) {
    CAPTURE(shipped.name);
    DramConfig config = tier(read_standard(shipped.name), RefreshMode::none, 1);
    // One rank, as tFAW is each rank's own; and a tFAW so long that it binds: four rows are opened
    // in two row cycles, while its 16 or 32 banks could open 32 or 64. Of the 64 requests queued
    // there is nearly always one for a bank that rests.
    config.organisation.ranks = 1;
    config.timings.tFAW = 2 * config.timings.tRC;
    const Driven driven = random_reads(config);
    CHECK(driven.share ==
          Approx(ratio(4 * config.timings.burst, config.timings.tFAW)).epsilon(0.01));
    CHECK(driven.limit == Limit::four_acts);
  }
}

TEST_CASE("random reads as DRAMsim3 configures HBM2 are bound by its tFAW") {
  // facts: 4 bursts of 2 clocks in a tFAW of 30; after refresh, 260 of 3900 clocks, 24.9 %.
  DramConfig config = published("dramsim3-hbm2");
  config.units = 1;
  config.controller.mapping = ControllerConfig().mapping;
  config.controller.refresh = RefreshMode::none;
  CHECK(random_reads(config).share == Approx(4 * 2 / 30.0).epsilon(0.01));
  config.controller.refresh = RefreshMode::all_bank;
  CHECK(random_reads(config).share == Approx(4 * 2 / 30.0 * (1 - 260 / 3900.0)).epsilon(0.015));
}

TEST_CASE("an unloaded read takes the latency of its bank's state") {
  for (const EmbeddedStandard& shipped : shipped_standards()) {
    CAPTURE(shipped.name);
    DramConfig config = tier(read_standard(shipped.name), RefreshMode::none);
    const Timings& t = config.timings;
    const std::uint64_t row = next_row(config);
    const std::uint64_t column = // the column comes above group, unit and the access itself
        std::uint64_t{config.units} * config.organisation.bank_groups *
        config.organisation.access_bytes;
    CHECK(unloaded(config, column) == t.tCL + t.burst);
    CHECK(unloaded(config, row) == t.tRP + t.tRCDRD + t.tCL + t.burst);
    config.controller.page = PagePolicy::closed;
    CHECK(unloaded(config, column) == t.tRCDRD + t.tCL + t.burst);
    CHECK(unloaded(config, row) == t.tRCDRD + t.tCL + t.burst);
    config.controller.page = PagePolicy::timeout; // 200 ns of the microsecond between two reads
    CHECK(unloaded(config, row) == t.tRCDRD + t.tCL + t.burst);
  }
}

TEST_CASE("the published simulators' configurations have their closed-bank and conflict latency") {
  struct Row {
    const char* file;
    double closed, conflict; ///< ns: tRCD + tCL + burst, and tRP more
  };
  const Row row = GENERATE(values<Row>({
      {"dramsim3-hbm2", 30, 44},           // 14 + 14 + 2, 14
      {"ramulator2-hbm3", 33.125, 49.375}, // (31 + 20 + 2) × 0.625, 26 × 0.625
      {"ramulator2-hbm2", 30, 44},         // 14 + 14 + 2, 14
      {"dramsys-hbm2", 32, 46},            // 12 + 17 + 1 (DQSCK) + 2, 14
  }));
  CAPTURE(row.file);
  DramConfig config = published(row.file);
  config.controller.refresh = RefreshMode::none;
  const std::uint64_t stride = next_row(config);
  const auto nanoseconds = [&](Cycle clocks) {
    return (config.timings.clock * clocks).nanoseconds();
  };
  CHECK(nanoseconds(unloaded(config, stride)) == Approx(row.conflict));
  config.controller.page = PagePolicy::closed;
  CHECK(nanoseconds(unloaded(config, stride)) == Approx(row.closed));
}

TEST_CASE("accesses that come at times of their own wait from then on") {
  DramConfig config = tier(read_standard("hbm3"), RefreshMode::none, 1);
  config.controller.read_queue = 1;
  config.controller.page = PagePolicy::closed;
  Dram dram(config);
  // Alone; then three at once to one bank, of which the queue holds one: the last is timed.
  const std::uint64_t row = next_row(config);
  const Drive::Arrival all[] = {{1000, 0, false, true},
                                {5000, 0, false, false},
                                {5000, row, false, false},
                                {5000, 2 * row, false, true}};
  std::size_t next = 0;
  Drive how;
  how.arrivals = [&]() -> std::optional<Drive::Arrival> {
    if (next == std::size(all)) return std::nullopt;
    return all[next++];
  };
  const Driven driven = drive(dram, how);
  const Timings& t = config.timings;
  CHECK(driven.reads == 2);
  CHECK(driven.statistics.sum.reads == 4);
  const std::uint64_t alone = driven.port.min();
  CHECK(alone * 1000 / static_cast<std::uint64_t>(t.clock.count) ==
        Approx(static_cast<double>(t.tRCDRD + t.tCL + t.burst)).margin(1));
  // Two row cycles lie before it, most of them in front of the queue.
  const double late = static_cast<double>(driven.port.max() - alone) * 1e3;
  CHECK(late >= static_cast<double>((t.clock * (2 * t.tRC)).count) * 0.98);
  CHECK(driven.port.max() > driven.media.max());
}
