#include "hw/dram/dram.h"
#include "hw/dram/traffic.h"
#include "tests/hw/dram/checker.h"
#include "tests/hw/dram/directed.h"
#include "tests/hw/dram/traffic.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>

using namespace umf;
using namespace umf::hw::dram;

namespace {

struct Refreshed {
  Organisation organisation;
  Timings t;
  std::uint32_t sets() const { return organisation.banks_of_rank() / t.refresh_banks; }
  Cycle interval(RefreshMode mode) const {
    return mode == RefreshMode::all_bank ? t.tREFI : t.tREFI / static_cast<Cycle>(sets());
  }
};

Refreshed shipped(std::string_view name) {
  const DramStandard standard = read_standard(name);
  return {organisation(standard), timings(standard, standard.tCK)};
}

Channel::Config config_of(const Refreshed& r, RefreshMode mode, std::uint32_t postpone) {
  Channel::Config config = test::quiet(r.organisation, r.t);
  config.controller.refresh = mode;
  config.controller.postpone = postpone;
  config.age_cap = 4000;
  return config;
}

constexpr RefreshMode kModes[] = {RefreshMode::all_bank, RefreshMode::per_bank};

/// A queue kept full of random requests until `until`; calls `seen` with each clock reached.
template <class Seen>
void load(Channel& channel, const Organisation& organisation, Cycle until, Seen seen) {
  std::uint64_t n = 0;
  for (Cycle now = 0; now < until; now = std::max(now + 1, channel.next() + 1)) {
    channel.advance(now);
    for (;; ++n) {
      const std::uint64_t random = splitmix64(n);
      const Access access{static_cast<std::uint32_t>(random % organisation.all_banks()),
                          static_cast<std::uint32_t>(random >> 32U) % 4,
                          static_cast<std::uint32_t>(random >> 40U) % organisation.columns(), 0,
                          n % 4 == 3};
      if (channel.full(access.write)) break;
      channel.push(access, now);
    }
    seen(now);
  }
}

} // namespace

// https://github.com/CMU-SAFARI/ramulator2/issues/129: all-bank refresh never issued, silently.
TEST_CASE("every refresh due is issued on every rank, after load and after silence") {
  for (const EmbeddedStandard& standard : shipped_standards()) {
    for (const RefreshMode mode : kModes) {
      CAPTURE(standard.name, mode == RefreshMode::per_bank);
      const Refreshed r = shipped(standard.name);
      std::vector<Done> done;
      Channel channel(config_of(r, mode, 4), done);
      load(channel, r.organisation, 10 * r.t.tREFI, [](Cycle) {});
      Cycle now = test::drain(channel, 10 * r.t.tREFI);
      const auto check = [&] {
        // On a grid of due times a clock in the middle of an interval leaves nothing owed.
        const Cycle interval = r.interval(mode);
        now += r.t.tREFI - now % r.t.tREFI + interval / 2;
        channel.advance(now);
        for (std::uint32_t rank = 0; rank < r.organisation.ranks; ++rank) {
          const auto due = static_cast<std::uint64_t>(
              mode == RefreshMode::all_bank ? now / r.t.tREFI
                                            : now * static_cast<Cycle>(r.sets()) / r.t.tREFI);
          CHECK(channel.refreshes(rank).due == due);
          CHECK(channel.refreshes(rank).issued == due);
        }
      };
      check();
      now += 1000 * r.t.tREFI; // mostly counted, not played
      check();
    }
  }
}

TEST_CASE("no refresh is issued or due where there is none") {
  const Refreshed r = shipped("hbm3");
  std::vector<Done> done;
  Channel channel(config_of(r, RefreshMode::none, 4), done);
  load(channel, r.organisation, 3 * r.t.tREFI, [](Cycle) {});
  CHECK(channel.refreshes(0).due == 0);
  CHECK(channel.refreshes(0).issued == 0);
}

// https://github.com/CMU-SAFARI/ramulator2/pull/123: the interval came from tRFC's table.
TEST_CASE("each bank of an idle rank is refreshed once in tREFI, at even distances") {
  for (const EmbeddedStandard& standard : shipped_standards()) {
    CAPTURE(standard.name);
    Refreshed r = shipped(standard.name);
    r.organisation.ranks = 1;
    std::vector<Done> done;
    std::vector<Command> log;
    Channel channel(config_of(r, RefreshMode::per_bank, 0), done);
    channel.log_to(&log);
    // The n-th falls due at n tREFI / sets; 8 tREFI hold 8 of each set.
    for (Cycle now = 0; now <= 8 * r.t.tREFI; now += r.t.tREFI / 4)
      channel.advance(now + 1); // in steps: a long silence is counted, not played
    channel.advance(8 * r.t.tREFI + 1);
    REQUIRE(log.size() == std::size_t{8} * r.sets());
    std::map<std::uint32_t, int> of_bank;
    for (std::size_t n = 0; n < log.size(); ++n) {
      CHECK(log[n].order == Order::refresh_bank);
      CHECK(log[n].at == static_cast<Cycle>(n + 1) * r.t.tREFI / static_cast<Cycle>(r.sets()));
      ++of_bank[log[n].bank];
    }
    CHECK(of_bank.size() == r.sets());
    for (const auto& [bank, times] : of_bank)
      CHECK(times == 8);
  }
}

// https://github.com/umd-memsys/DRAMsim3/issues/24: ACT two clocks after REFb.
TEST_CASE("a bank in demand is opened tRFCpb after its refresh and never before") {
  for (const EmbeddedStandard& standard : shipped_standards()) {
    CAPTURE(standard.name);
    const Refreshed r = shipped(standard.name);
    std::vector<Done> done;
    std::vector<Command> log;
    Channel channel(config_of(r, RefreshMode::per_bank, 0), done);
    channel.log_to(&log);
    load(channel, r.organisation, 20 * r.t.tREFI, [](Cycle) {});
    Cycle least = kNever;
    std::map<std::uint32_t, Cycle> refreshed; // by bank
    for (const Command& c : log) {
      if (c.order == Order::refresh_bank)
        for (std::uint32_t n = 0; n < r.t.refresh_banks; ++n)
          refreshed[c.bank + n * r.sets()] = c.at;
      if (c.order == Order::activate && refreshed.count(c.bank) != 0)
        least = std::min(least, c.at - refreshed[c.bank]);
    }
    CHECK(least == r.t.tRFCpb);
  }
}

TEST_CASE("refreshes owed never exceed what may be postponed and the one that falls due") {
  for (const EmbeddedStandard& standard : shipped_standards()) {
    for (const RefreshMode mode : kModes) {
      for (const std::uint32_t postpone : {0U, 1U, 4U, 8U}) {
        CAPTURE(standard.name, mode == RefreshMode::per_bank, postpone);
        const Refreshed r = shipped(standard.name);
        std::vector<Done> done;
        Channel channel(config_of(r, mode, postpone), done);
        std::uint64_t most = 0;
        load(channel, r.organisation, 15 * r.t.tREFI, [&](Cycle) {
          for (std::uint32_t rank = 0; rank < r.organisation.ranks; ++rank) {
            const auto refreshes = channel.refreshes(rank);
            most = std::max(most, refreshes.due - refreshes.issued);
          }
        });
        CHECK(most <= postpone + 1);
        // All-bank refreshes of a rank never without requests are put off as long as they may be.
        if (mode == RefreshMode::all_bank) CHECK(most >= postpone);
      }
    }
  }
}

// https://github.com/CMU-SAFARI/ramulator2/issues/272: RDA, WRA to REFpb had no distance at all.
TEST_CASE("a refresh waits for the bank that an access has left to close by itself") {
  for (const EmbeddedStandard& standard : shipped_standards()) {
    for (const bool write : {false, true}) {
      CAPTURE(standard.name, write);
      Refreshed r = shipped(standard.name);
      r.organisation.ranks = r.organisation.bank_groups = r.organisation.banks = 1;
      r.t.refresh_banks = 1; // so that no other bank is refreshed first
      Channel::Config config = config_of(r, RefreshMode::per_bank, 0);
      config.controller.page = PagePolicy::closed;
      const Timings& t = r.t;
      // Its column command goes a clock before the refresh falls due.
      const Cycle column = t.tREFI - 1, act = column - (write ? t.tRCDWR : t.tRCDRD);
      const Cycle data = column + t.tCWL + t.burst;
      const Cycle close = std::max(act + t.tRAS, write ? data + t.tWR : column + t.tRTP);
      const auto seen = test::watch(config, {{act, write ? test::write_of(0) : test::read_of(0)}},
                                    {Order::refresh_bank, 0});
      CHECK(seen.at == seen.committed);
      CHECK(seen.at == std::max(close + t.tRP, act + t.tRC));
    }
  }
}

// https://github.com/CMU-SAFARI/ramulator2/issues/272: edges missing in one standard, present in
// its sibling.
TEST_CASE("random traffic breaks no distance of any shipped standard in any refresh mode") {
  for (const EmbeddedStandard& standard : shipped_standards()) {
    for (const RefreshMode mode :
         {RefreshMode::none, RefreshMode::all_bank, RefreshMode::per_bank}) {
      for (std::uint64_t seed = 1; seed <= 9; ++seed) {
        CAPTURE(standard.name, static_cast<int>(mode), seed);
        const Refreshed r = shipped(standard.name);
        Channel::Config config = config_of(r, mode, static_cast<std::uint32_t>(seed % 5));
        config.controller.page = static_cast<PagePolicy>(seed % 3);
        config.page_timeout = 300;
        std::vector<Done> done;
        std::vector<Command> log;
        Channel channel(config, done);
        channel.log_to(&log);
        const auto sent = test::send(channel, r.organisation, test::random_traffic(seed), seed);
        CHECK(done.size() == sent.size());
        const auto found = test::breaches(log, r.organisation, r.t);
        CHECK(found.size() == 0);
        if (!found.empty()) FAIL(found.front());
      }
    }
  }
}
