#include "hw/dram/drive.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

/// What users of other simulators asked or reported, one thread a case.
using namespace umf;
using namespace umf::hw::dram;

namespace {

DramConfig tier(std::string_view name, RefreshMode refresh = RefreshMode::none,
                std::uint32_t units = 4) {
  const DramStandard standard = read_standard(name);
  ControllerConfig controller;
  controller.refresh = refresh;
  controller.stagger = false;
  controller.hash.emplace(); // cases change the banks that a hash would be made for
  DramConfig config = dram_config(standard, standard.tCK, controller, 1);
  config.units = std::min(config.units, units);
  return config;
}

/// All reads of the whole tier in order, or at random.
Drive reads(const DramConfig& config, bool random, std::uint64_t requests) {
  Drive how;
  how.traffic.access = Bytes{config.organisation.access_bytes};
  how.traffic.footprint = Bytes{config.organisation.bytes() * config.units * config.stacks};
  how.traffic.run = random ? how.traffic.access : how.traffic.footprint;
  how.requests = requests;
  return how;
}

Driven run(const DramConfig& config, const Drive& how) {
  Dram dram(config);
  return drive(dram, how);
}

double ratio(Cycle a, Cycle b) {
  return static_cast<double>(a) / static_cast<double>(b);
}

} // namespace

// https://github.com/CMU-SAFARI/ramulator2/issues/42: far below peak; is it me or the model?
TEST_CASE("what a run achieves is a share of the peak and names what limits it") {
  struct Row {
    const char* what;
    Limit limit;
    std::function<void(DramConfig&, Drive&)> set;
  };
  const Row rows[] = {
      {"a stream under all-bank refresh", Limit::refresh,
       [](DramConfig& c, Drive&) { c.controller.refresh = RefreshMode::all_bank; }},
      {"reads and writes by turns, hardly queued", Limit::turnaround,
       [](DramConfig& c, Drive& d) {
         c.controller.write_queue = c.controller.write_high = 2;
         c.controller.write_low = 1;
         d.traffic.writes = 1, d.traffic.period = 2;
       }},
      {"random reads of one rank with a long tFAW", Limit::four_acts,
       [](DramConfig& c, Drive& d) {
         c.organisation.ranks = 1;
         c.timings.tFAW = 2 * c.timings.tRC;
         d.traffic.run = d.traffic.access;
       }},
      {"row after row of one bank", Limit::conflict,
       [](DramConfig& c, Drive& d) {
         d.traffic.access = Bytes{Dram(c).bytes() / c.organisation.rows};
       }},
      {"a stream in which a row of one group follows the other", Limit::bank_group,
       [](DramConfig& c, Drive&) {
         c.controller.mapping = {"row", "rank", "group", "bank", "column", "unit"};
       }},
      {"one read at a time", Limit::queue, [](DramConfig&, Drive& d) { d.outstanding = 1; }},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    DramConfig config = tier("hbm3", RefreshMode::none, 1);
    Drive how = reads(config, false, 30'000);
    row.set(config, how);
    const Driven driven = run(config, how);
    CHECK(name_of(driven.limit) == name_of(row.limit));
    const double peak = 32 * 6.4e9 / 8; // pins × rate
    CHECK(driven.bandwidth.value == Approx(driven.share * peak));
    CHECK(driven.bandwidth.value ==
          Approx(30'000 * 32 / driven.elapsed.seconds())); // bytes over time, both reported
    CHECK(driven.share > 0);
    CHECK(driven.share <= 1);
  }
}

// https://github.com/CMU-SAFARI/ramulator2/issues/104, /41: one command slot for two
// pseudo-channels.
TEST_CASE("all pseudo-channels of a stack stream at full rate together") {
  for (const char* name : {"hbm2", "hbm2e", "hbm3", "hbm3e"}) {
    CAPTURE(name);
    DramConfig config = tier(name, RefreshMode::per_bank, 64);
    config.controller.stagger = true;
    const std::uint64_t units = config.units;
    const Driven driven = run(config, reads(config, false, units * 20'000));
    CHECK(driven.statistics.least_accesses == 20'000);
    CHECK(driven.statistics.most_accesses == 20'000);
    CHECK(driven.statistics.least_busy == driven.statistics.most_busy);
    CHECK(driven.share > 0.9);
  }
}

// https://github.com/CMU-SAFARI/ramulator2/issues/129: a whole run without a refresh, and no word.
TEST_CASE("a run reports the refreshes issued beside those due") {
  for (const EmbeddedStandard& shipped : shipped_standards())
    for (const RefreshMode refresh : {RefreshMode::all_bank, RefreshMode::per_bank}) {
      CAPTURE(shipped.name, static_cast<int>(refresh));
      const DramConfig config = tier(shipped.name, refresh, 1);
      const Timings& t = config.timings;
      const Organisation& o = config.organisation;
      const auto accesses = static_cast<std::uint64_t>(10 * t.tREFI / t.burst);
      const DramStatistics s = run(config, reads(config, false, accesses)).statistics;
      // Ten intervals of data at the least: ten refreshes of each rank or of each set of banks.
      const std::uint64_t sets =
          refresh == RefreshMode::all_bank ? 1 : o.banks_of_rank() / t.refresh_banks;
      CHECK(s.refreshes_due >= 10 * sets * o.ranks);
      CHECK(s.refreshes_issued <= s.refreshes_due);
      CHECK(s.refreshes_issued + (config.controller.postpone + 1) * o.ranks >= s.refreshes_due);
    }
}

// https://github.com/CMU-SAFARI/ramulator2/pull/231: rounding to the nearest clock made chips
// faster than their data sheet.
TEST_CASE("no timing is shorter in clocks than in time, nor a clock longer than it must be") {
  for (const EmbeddedStandard& shipped : shipped_standards()) {
    const DramStandard s = read_standard(shipped.name);
    for (const std::int64_t more : {0, 1, 7'001, 123'457, 400'000}) {
      const Femtoseconds clock{s.tCK.count + more};
      const Timings t = timings(s, clock);
      const std::pair<ClockedTime, Cycle> pairs[] = {
          {s.tCL, t.tCL},       {s.tCWL, t.tCWL},   {s.tRCDRD, t.tRCDRD},   {s.tRCDWR, t.tRCDWR},
          {s.tRP, t.tRP},       {s.tRAS, t.tRAS},   {s.tRC, t.tRC},         {s.tCCDS, t.tCCDS},
          {s.tCCDL, t.tCCDL},   {s.tCCDR, t.tCCDR}, {s.tCCDSWR, t.tCCDSWR}, {s.tCCDLWR, t.tCCDLWR},
          {s.tRRDS, t.tRRDS},   {s.tRRDL, t.tRRDL}, {s.tFAW, t.tFAW},       {s.tRTP, t.tRTP},
          {s.tWR, t.tWR},       {s.tWTRS, t.tWTRS}, {s.tWTRL, t.tWTRL},     {s.tRTW, t.tRTW},
          {s.tRTRS, t.tRTRS},   {s.tPPD, t.tPPD},   {s.tRFCab, t.tRFCab},   {s.tRFCpb, t.tRFCpb},
          {s.tRREFD, t.tRREFD}, {s.tREFI, t.tREFI}};
      for (const auto& [least, clocks] : pairs) {
        CAPTURE(shipped.name, clock.count, print(least), clocks);
        CHECK(clock * clocks >= least.time);
        CHECK(clocks >= least.clocks);
        if (clocks > least.clocks) CHECK(clock * (clocks - 1) < least.time);
      }
    }
  }
}

// https://github.com/CMU-SAFARI/ramulator2/issues/116: the prefetch taken off the columns twice,
// and statistics of all controllers but the first wrong.
TEST_CASE("a row holds its size over its access in columns, and every unit counts its own") {
  for (const EmbeddedStandard& shipped : shipped_standards()) {
    CAPTURE(shipped.name);
    const DramStandard standard = read_standard(shipped.name);
    DramConfig config = tier(shipped.name);
    const std::uint32_t access = standard.unit_width * standard.burst_length / 8;
    const auto columns = static_cast<std::uint32_t>(standard.row_size.count / access);
    CHECK(config.organisation.columns() == columns);
    // A walk over one row of all banks, then: each unit and bank sees each column once.
    Dram dram(config);
    const std::uint64_t places =
        std::uint64_t{columns} * config.organisation.all_banks() * config.units;
    std::map<std::uint32_t, std::uint64_t> of_column;
    for (std::uint64_t n = 0; n < places; ++n) {
      const Location where = dram.locate(n * access);
      CHECK(where.row == 0);
      ++of_column[where.column];
    }
    CHECK(of_column.size() == columns);
    for (const auto& [column, times] : of_column)
      CHECK(times == places / columns);
    drive(dram, reads(config, false, places));
    for (std::uint32_t u = 0; u < dram.units(); ++u) {
      const ChannelStatistics& one = dram.channel(u).statistics();
      CHECK(one.reads == places / config.units);
      CHECK(one.activates == config.organisation.all_banks());
      CHECK(one.row_hits == one.reads - one.activates);
    }
    CHECK(dram.statistics().sum.reads == places);
  }
}

// https://github.com/umd-memsys/DRAMsim3/issues/54: random reads faster than a stream?
TEST_CASE("random accesses never beat a stream") {
  for (const EmbeddedStandard& shipped : shipped_standards())
    for (const PagePolicy page : {PagePolicy::open, PagePolicy::closed, PagePolicy::timeout})
      for (const std::uint32_t writes : {0U, 1U, 2U, 3U})
        for (const std::uint32_t outstanding : {0U, 1U, 16U}) {
          // Rows that close after each access leave a stream with few in flight nothing but the
          // row cycle of the few banks it is in; random accesses have all.
          if (page == PagePolicy::closed && outstanding != 0) continue;
          CAPTURE(shipped.name, static_cast<int>(page), writes, outstanding);
          DramConfig config = tier(shipped.name, RefreshMode::per_bank, 2);
          config.controller.page = page;
          const auto share = [&](bool random) {
            Drive how = reads(config, random, 6'000);
            how.traffic.writes = writes;
            how.traffic.period = 3;
            how.outstanding = outstanding;
            return run(config, how).share;
          };
          CHECK(share(true) <= share(false));
        }
}

// https://github.com/CMU-SAFARI/ramulator2/issues/108 and https://github.com/umd-memsys/DRAMsim3/
// issues/56: what a latency begins and ends with, and that of a write.
TEST_CASE("a read's latency is from offer to last data and a write's ends with its acceptance") {
  DramConfig config = tier("hbm3", RefreshMode::none, 1);
  config.controller.write_queue = config.controller.write_high = 2;
  config.controller.write_low = 1;
  const Timings& t = config.timings;
  Dram dram(config);
  const Location where = dram.locate(0);
  CHECK(dram.offer(where, false, 0, 10) == Offer::queued);
  Location other = where;
  other.bank = 1;
  CHECK(dram.offer(other, true, 1, 10) == Offer::done);
  dram.advance(1000);
  REQUIRE(dram.done().size() == 2);
  CHECK((dram.done()[0].tag == 1 && dram.done()[0].at == 11));
  CHECK((dram.done()[1].tag == 0 && dram.done()[1].at == 10 + t.tRCDRD + t.tCL + t.burst));

  // Under load `port` counts the wait for the queue as well, `media` does not.
  const Driven loaded = run(config, reads(config, true, 20'000));
  for (const Histogram* h : {&loaded.media, &loaded.port}) {
    CHECK(h->count() == 20'000);
    CHECK(h->min() >= static_cast<std::uint64_t>((t.clock * (t.tCL + t.burst)).count / 1000));
    CHECK(h->percentile(50) <= h->percentile(99));
    CHECK(h->percentile(99) <= h->max());
  }
  CHECK(loaded.port.mean() >= loaded.media.mean());
}

// https://github.com/umd-memsys/DRAMsim3/issues/20: replay stopped at a number of clocks.
TEST_CASE("a run ends when every request is served") {
  for (const EmbeddedStandard& shipped : shipped_standards())
    for (const RefreshMode refresh :
         {RefreshMode::none, RefreshMode::all_bank, RefreshMode::per_bank}) {
      CAPTURE(shipped.name, static_cast<int>(refresh));
      const DramConfig config = tier(shipped.name, refresh);
      Drive how = reads(config, true, 10'001);
      how.traffic.writes = 1, how.traffic.period = 3;
      Dram dram(config);
      const Driven driven = drive(dram, how);
      CHECK(dram.idle());
      CHECK(driven.reads + driven.writes == 10'001);
      CHECK(driven.media.count() == driven.reads);
      const ChannelStatistics& sum = driven.statistics.sum;
      CHECK(sum.writes == driven.writes);
      CHECK(sum.reads + sum.forwarded == driven.reads);
    }
}

// https://github.com/tukl-msd/DRAMSys/issues/56, /52 and https://github.com/umd-memsys/DRAMsim3/
// issues/35: one initiator shows one N-th of N channels.
TEST_CASE("one initiator drives all units with enough outstanding and one of them with one") {
  for (const EmbeddedStandard& shipped : shipped_standards()) {
    CAPTURE(shipped.name);
    const DramConfig config = tier(shipped.name, RefreshMode::none, 64);
    const Timings& t = config.timings;
    const Organisation& o = config.organisation; // a row of every bank, so that none conflicts
    Drive how = reads(config, false, std::uint64_t{config.units} * o.all_banks() * o.columns());
    const double open = run(config, how).share;
    how.outstanding = 64 * config.units;
    CHECK(run(config, how).share == Approx(open).epsilon(0.02));
    how.outstanding = 1;
    // A hit's latency for each, and tRCD for one of a row's columns; a burst of it is data.
    const double wait =
        static_cast<double>(t.tCL + t.burst) + ratio(t.tRCDRD, static_cast<Cycle>(o.columns()));
    const double expected = static_cast<double>(t.burst) / wait / config.units;
    CHECK(run(config, how).share == Approx(expected).epsilon(0.01));
  }
}

// https://github.com/tukl-msd/DRAMSys/issues/58: tCCDR between pseudo-channels of one die.
TEST_CASE("tCCDR keeps ranks of one unit apart and never units") {
  DramConfig config = tier("hbm3", RefreshMode::none, 2);
  const auto second = [&](std::uint32_t unit, std::uint32_t rank) {
    Dram dram(config);
    const std::uint32_t bank = rank * config.organisation.banks_of_rank();
    dram.offer({0, 0, 0, 0}, false, 0, 0);
    dram.offer({unit, bank, 0, 0}, false, 1, 0);
    dram.advance(10'000);
    for (const Done& done : dram.done())
      if (done.tag == 1) return done.at;
    return kNever;
  };
  const Timings& t = config.timings;
  const Cycle alone = t.tRCDRD + t.tCL + t.burst;
  for (const Cycle apart : {t.tCCDR, Cycle{200}}) {
    config.timings.tCCDR = apart;
    CHECK(second(1, 0) == alone);
    CHECK(second(1, 1) == alone);
    CHECK(second(0, 1) == alone + apart);
  }
}

// https://github.com/tukl-msd/DRAMSys/issues/50: channels of different kinds in one system.
TEST_CASE("two tiers of different standards in one program do not touch each other") {
  const auto play = [](std::vector<Dram*> drams) {
    std::vector<std::vector<Done>> done(drams.size());
    for (std::uint32_t n = 0; n < 4000; ++n)
      for (std::size_t d = 0; d < drams.size(); ++d) {
        Dram& dram = *drams[d];
        const std::uint64_t address = splitmix64(n) % dram.bytes();
        dram.offer(dram.locate(address), n % 3 == 0, n, Cycle{n} * 7);
      }
    for (std::size_t d = 0; d < drams.size(); ++d) {
      drams[d]->advance(100'000);
      done[d] = drams[d]->done();
    }
    return done;
  };
  const auto same = [](const std::vector<Done>& a, const std::vector<Done>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Done& x, const Done& y) {
      return x.tag == y.tag && x.write == y.write && x.at == y.at;
    });
  };
  const DramConfig hbm = tier("hbm3e", RefreshMode::per_bank);
  const DramConfig ddr = tier("ddr5-4800", RefreshMode::all_bank);
  Dram hbm_alone(hbm), ddr_alone(ddr), hbm_beside(hbm), ddr_beside(ddr);
  const auto together = play({&hbm_beside, &ddr_beside});
  CHECK(together[0].size() > 3000);
  CHECK(same(together[0], play({&hbm_alone})[0]));
  CHECK(same(together[1], play({&ddr_alone})[0]));
}
