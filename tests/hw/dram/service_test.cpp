#include "hw/dram/drive.h"
#include "hw/dram/service.h"
#include "hw/dram/standard.h"
#include "hw/dram/unit_load.h"

#include <catch2/catch.hpp>

#include <string>

using namespace umf;
using namespace umf::hw::dram;

namespace {

/// Three stacks of a few units: a run shorter than a round over all reaches only some.
DramConfig tier(const char* name, std::uint32_t units = 4) {
  const DramStandard standard = read_standard(name);
  DramConfig config = dram_config(standard, standard.tCK, {}, 3);
  config.units = units;
  return config;
}

double whole(const DramConfig& config, const std::vector<Stream>& streams) {
  Dram dram(config);
  Drive how;
  how.streams = streams;
  how.window = dram.units() * config.controller.read_queue;
  const Timings& t = config.timings;
  how.warm_up = static_cast<std::uint64_t>(t.tREFI / t.burst) * dram.units();
  how.requests = 4 * how.warm_up;
  return drive(dram, how).sustained.value / dram.peak().value;
}

} // namespace

TEST_CASE("streams take turns by weight, as evenly as can be") {
  using Order = std::vector<std::uint32_t>;
  const auto of = [](std::uint32_t a, std::uint32_t b) {
    return turns(std::vector<Stream>{{Bytes{64}, false, a}, {Bytes{64}, false, b}});
  };
  CHECK(of(1, 1) == Order{0, 1});
  CHECK(of(6, 2) == Order{0, 0, 1, 0}); // three to one
  CHECK(of(2, 3) == Order{1, 0, 1, 0, 1});
}

TEST_CASE("a stream reads its run to the end before it goes elsewhere") {
  StreamWalk walk({{Bytes{256}, false, 1}, {Bytes{128}, true, 1}}, 1_MiB, Bytes{64});
  std::uint64_t read = 0, written = 0;
  for (std::uint32_t n = 0; n < 400; ++n) {
    const auto item = walk.next();
    CHECK(item.write == (n % 2 == 1));
    CHECK(item.address < (1_MiB).count);
    std::uint64_t& last = item.write ? written : read;
    if (n / 2 % (item.write ? 2 : 4) != 0) CHECK(item.address == last + 64);
    last = item.address;
  }
}

TEST_CASE("one unit under its part of the traffic says what all of the tier carries") {
  // Units share nothing; the rest is how even a finite window leaves them, and chance.
  const auto name = GENERATE("hbm2e", "hbm3", "ddr5-6400");
  const DramConfig config = tier(name);
  const UnitLoad unit(config);
  const std::uint64_t access = config.organisation.access_bytes;
  const Cycle tREFI = config.timings.tREFI;
  const std::vector<std::vector<Stream>> cases = {
      {{Bytes{access}, false, 1}},
      {{Bytes{access * 11}, true, 1}},
      {{Bytes{access * 100}, false, 1}, {Bytes{access * 100}, true, 1}},
      {{Bytes{access * 1000}, false, 3}, {Bytes{access * 7}, false, 1}},
      std::vector<Stream>(7, {Bytes{access * 333}, false, 1})};
  for (const auto& streams : cases) {
    CAPTURE(name, &streams - cases.data());
    CHECK(unit.share(streams, {tREFI, tREFI, 12'000}) ==
          Approx(whole(config, streams)).epsilon(0.03));
  }
}

TEST_CASE("runs up to the shortest open a row an access, and twice as long ones do not") {
  // Neighbouring accesses take different units and groups: the second of a row comes after a
  // round over 3 × 4 units and 4 groups.
  CHECK(UnitLoad(tier("hbm3")).apart() == 3 * 4 * 4);
  const Service service(tier("hbm3"));
  CHECK(service.shortest().count == 48 * 32);
  const double single = service.share({1, 32, 1});
  CHECK(service.share({1, 48 * 32, 1}) == single);
  CHECK(service.share({1, 4 * 48 * 32, 1}) > 1.3 * single);
}

TEST_CASE("service between two points of the grid lies between theirs, and beyond it at its edge") {
  const Service service(tier("hbm3"));
  // Runs of 16 and 32 accesses a unit; shares of reads of 8 and 12 sixteenths; 1 and 4 streams.
  const double run = 12 * 16 * 32;
  const auto between = [](double a, double b, double middle) {
    CHECK(middle <= std::max(a, b));
    CHECK(middle >= std::min(a, b));
  };
  between(service.share({1, run, 4}), service.share({1, 2 * run, 4}),
          service.share({1, 1.5 * run, 4}));
  between(service.share({0.5, run, 4}), service.share({0.75, run, 4}),
          service.share({0.6, run, 4}));
  between(service.share({1, run, 1}), service.share({1, run, 4}), service.share({1, run, 2}));
  CHECK(service.share({1, 1e12, 1}) == service.share({}));
  CHECK(service.share({1, run, 1000}) == service.share({1, run, 4}));
  CHECK(service.share({1, 1, 1}) == service.share({1, 1, 500}));
}

TEST_CASE("equal configurations share what was measured, others do not") {
  DramConfig config = tier("hbm3");
  const double before = Service(config).share({});
  CHECK(Service(config).share({}) == before);
  config.timings.tRFCpb *= 2;
  CHECK(Service(config).share({0.5, 1e6, 4}) < Service(tier("hbm3")).share({0.5, 1e6, 4}));
}

TEST_CASE("reads answered from the write queue are bandwidth but take no share of the bus") {
  DramConfig config = tier("hbm3", 1);
  config.stacks = 1;
  Dram dram(config);
  Drive how;
  how.traffic.footprint = Bytes{32 * 16}; // 16 places: most reads find a write to theirs waiting
  how.traffic.access = how.traffic.run = Bytes{32};
  how.traffic.period = 2;
  how.traffic.writes = 1;
  how.requests = 20'000;
  const Driven driven = drive(dram, how);
  CHECK(driven.statistics.sum.forwarded > 1000);
  CHECK(driven.share <= 1);
  CHECK(driven.bandwidth.value > driven.share * dram.peak().value);
}
