#include "hw/dram/drive.h"
#include "hw/line/line_dram.h"
#include "hw/line/line_source.h"

#include <catch2/catch.hpp>

#include <vector>

/// DRAM at line resolution as an initiator sees it. One elaboration a process: a case each.
namespace umf::hw {

namespace {

/// Without a hash: requests are written for the banks they go to.
dram::DramConfig hbm2() {
  const dram::DramStandard standard = dram::read_standard("hbm2");
  dram::ControllerConfig controller;
  controller.hash.emplace();
  return dram::dram_config(standard, standard.tCK, controller, 1);
}

/// Requests written down before.
class List : public LineFeed {
public:
  explicit List(std::vector<LineRequest> requests) : requests_(std::move(requests)) {}
  bool next(LineRequest& request) override {
    if (at_ == requests_.size()) return false;
    request = requests_[at_++];
    return true;
  }

private:
  std::vector<LineRequest> requests_;
  std::size_t at_ = 0;
};

class Pattern : public LineFeed {
public:
  Pattern(const dram::Traffic& traffic, std::uint64_t requests)
      : traffic_(traffic), requests_(requests) {}
  bool next(LineRequest& request) override {
    if (at_ == requests_) return false;
    const auto item = traffic_.at(at_++);
    request = {item.address, static_cast<std::uint32_t>(traffic_.access.count), item.write, {}};
    return true;
  }

private:
  dram::Traffic traffic_;
  std::uint64_t requests_, at_ = 0;
};

struct Machine {
  LineDram memory;
  LineSource source;

  explicit Machine(const LineDram::Options& options, std::uint32_t outstanding = 0)
      : memory("memory", options),
        source("source", LineSource::Options{.outstanding = outstanding}) {
    source.out.bind(memory.in);
  }
  void run(LineFeed& feed) {
    source.send(feed);
    sc_core::sc_start();
  }
};

const bool resolution = (sc_core::sc_set_time_resolution(1, sc_core::SC_FS), true);

} // namespace

TEST_CASE("a lone read takes its bank's time and the latencies of its way") {
  const dram::DramConfig config = hbm2();
  Machine machine({config, 20_ns, 30_ns});
  List one({{4096, 32, false, 10_ns}});
  machine.run(one);
  // 10 ns are 12 clocks of 833,334 fs; ACT then, RD tRCDRD later, data tCL later, burst clocks
  // long.
  const auto& t = config.timings;
  const dram::Cycle begin = (10'000'000 + t.clock.count - 1) / t.clock.count;
  const dram::Cycle end = begin + t.tRCDRD + t.tCL + t.burst;
  CHECK(machine.source.answered() == 1);
  CHECK(machine.source.last() == t.clock * end + 50_ns);
  CHECK(machine.memory.statistics().media.max() ==
        static_cast<std::uint64_t>((t.clock * (end - begin) + 20_ns).count / 1000));
}

TEST_CASE("a posted write is done as soon as its queue has it") {
  const dram::DramConfig config = hbm2();
  Machine machine({config, 20_ns, 30_ns});
  List one({{4096, 32, true, {}}});
  machine.run(one);
  CHECK(machine.source.last() == 0_ns);
  // Its data still goes to the array: ACT at 0, WR tRCDWR later.
  const auto& t = config.timings;
  CHECK(machine.memory.drain() == t.clock * (t.tRCDWR + t.tCWL + t.burst));
  CHECK(machine.memory.statistics().write_bytes == 32);
}

TEST_CASE("a run of accesses in one transaction is answered once, when the last is there") {
  const dram::DramConfig config = hbm2();
  Machine machine({config, {}, {}});
  List one({{0, 4096, false, {}}, {4096, 100, false, {}}}); // 128 accesses, and 4 for 100 bytes
  machine.run(one);
  CHECK(machine.source.answered() == 2);
  CHECK(machine.memory.dram().statistics().sum.reads == 132);
  CHECK(machine.memory.statistics().read_bytes == 4196);
  CHECK(machine.source.last() ==
        config.timings.clock * machine.memory.dram().statistics().sum.last_data);
}

TEST_CASE("a read of what is still in a write queue takes it from there") {
  const dram::DramConfig config = hbm2();
  Machine machine({config, {}, {}});
  List two({{64, 32, true, {}}, {64, 32, false, {}}});
  machine.run(two);
  CHECK(machine.source.answered() == 2);
  CHECK(machine.source.last() == config.timings.clock * 1); // the next clock
  CHECK(machine.memory.dram().statistics().sum.forwarded == 1);
}

namespace {
/// The same stream with and without SystemC.
void compare(const dram::Traffic& traffic, std::uint32_t outstanding) {
  dram::Drive how;
  how.traffic = traffic;
  how.requests = 20'000;
  how.outstanding = outstanding;
  dram::Dram bare(hbm2());
  const dram::Driven expected = dram::drive(bare, how);
  Machine machine({hbm2(), {}, {}}, outstanding);
  Pattern pattern(traffic, how.requests);
  machine.run(pattern);
  CHECK(machine.source.answered() == how.requests);
  CHECK(machine.memory.drain() == expected.elapsed);
  CHECK(machine.memory.statistics().media.mean() == Approx(expected.media.mean()).epsilon(1e-9));
  CHECK(machine.memory.statistics().port.mean() == Approx(expected.port.mean()).epsilon(1e-9));
}
constexpr Bytes kEndless{std::uint64_t{1} << 30};
} // namespace

TEST_CASE("a stream through the socket is exactly what the banks do without it") {
  compare({.access = {32}, .run = kEndless}, 0);
}
TEST_CASE("random reads through the socket are exactly what the banks do without it") {
  compare({.access = {32}, .run = {32}}, 0);
}
TEST_CASE("a chain of reads through the socket is exactly what the banks do without it") {
  compare({.access = {32}, .run = {32}}, 1);
}
TEST_CASE("64 reads in flight through the socket are exactly what the banks do without it") {
  compare({.access = {32}, .run = {128}, .streams = 3}, 64);
}

TEST_CASE("several sources share the banks, and one that waits does not hold up the others") {
  LineDram memory("memory", {hbm2(), {}, {}});
  LineSource hog("hog", {}), light("light", LineSource::Options{.outstanding = 1});
  hog.out.bind(memory.in);
  light.out.bind(memory.in);
  // The hog sends 4000 reads to one bank, a row each; the other reads another unit's rows one by
  // one: 100 reads of a closed or conflicting bank each.
  std::vector<LineRequest> one_bank, elsewhere;
  const dram::Location first = memory.dram().locate(0);
  std::uint64_t other = 32;
  while (memory.dram().locate(other).unit == first.unit)
    other += 32;
  for (std::uint64_t n = 0; n < 4000; ++n)
    one_bank.push_back({n << 20U, 32, false, {}});
  for (std::uint64_t n = 0; n < 100; ++n)
    elsewhere.push_back({other + (n << 20U), 32, false, {}});
  List many(one_bank), few(elsewhere);
  hog.send(many);
  light.send(few);
  sc_core::sc_start();
  CHECK(hog.answered() == 4000);
  CHECK(light.answered() == 100);
  // A dependent read of another row takes at most tRP + tRCD + tCL + burst behind tRC, or a
  // refresh of its bank; the hog's take tRC each, one after the other.
  const auto& t = memory.dram().config().timings;
  CHECK(hog.last() >= t.clock * (4000 * t.tRC));
  CHECK(light.last() <
        t.clock * (100 * (t.tRC + t.tRP + t.tRCDRD + t.tCL + t.burst) + 4 * t.tRFCpb));
}

TEST_CASE("time without requests costs no events") {
  Machine machine({hbm2(), {}, {}});
  List two({{0, 32, false, {}}, {0, 32, false, from_nanoseconds(1'000'000'000)}});
  machine.run(two);
  CHECK(machine.source.answered() == 2);
  // A second holds 256,410 refresh intervals of 16 banks' sets in each of 16 units.
  const auto statistics = machine.memory.dram().statistics();
  CHECK(statistics.refreshes_issued == statistics.refreshes_due);
  CHECK(machine.memory.dram().channel(machine.memory.dram().locate(0).unit).refreshes(0).due >
        4'000'000);
  CHECK(sc_core::sc_delta_count() < 30);
}

} // namespace umf::hw
