#include "hw/dram/standard.h"
#include "tests/hw/dram/directed.h"

#include <catch2/catch.hpp>

#include <set>

using namespace umf;
using namespace umf::hw::dram;
using namespace umf::hw::dram::test;

namespace {

/// The timings, and banks by what they share with bank 0.
struct Given {
  Timings t;
  std::uint32_t banks, groups;
  std::uint32_t bank = 0, group_mate = 1, stranger = banks, other_rank = banks * groups;
  /// The n-th bank of as many different groups as there are.
  std::uint32_t spread(std::uint32_t n) const { return n % groups * banks + n / groups; }
  std::uint32_t fifth = spread(4);
};

constexpr Cycle kLate = 5000; ///< everything before has long come to rest

/// Rows opened, and two accesses to them, the second `gap` clocks after the first.
std::vector<Step> pair(Access first, Access second, Cycle gap = 0) {
  std::vector<Step> steps{{0, read_of(first.bank)}, {0, read_of(second.bank)}};
  first.column = 1;
  second.column = 2;
  steps.push_back({kLate, first});
  steps.push_back({kLate + gap, second});
  return steps;
}
std::vector<Step> reads(std::uint32_t first, std::uint32_t second) {
  return pair(read_of(first), read_of(second));
}
std::vector<Step> writes(std::uint32_t first, std::uint32_t second) {
  return pair(write_of(first), write_of(second));
}
/// Two rows of one bank.
std::vector<Step> read_conflict(const Given& g) {
  return {{0, read_of(g.bank)}, {0, read_of(g.bank, 1)}};
}
std::vector<Step> write_conflict(const Given& g) {
  return {{0, write_of(g.bank)}, {0, write_of(g.bank, 1)}};
}

// Where each command of the scenarios goes, by what JEDEC asks of it. ACT is at 0; on a shared
// bus a command waits until the one before has left it.
Cycle first_read(const Given& g) {
  return std::max(g.t.tRCDRD, g.t.shared_bus ? g.t.act_clocks : 0);
}
Cycle first_write(const Given& g) {
  return std::max(g.t.tRCDWR, g.t.shared_bus ? g.t.act_clocks : 0);
}
Cycle close_read(const Given& g) {
  const Cycle bus = g.t.shared_bus ? g.t.column_clocks : 0;
  return std::max({g.t.tRAS, g.t.act_clocks, first_read(g) + std::max(g.t.tRTP, bus)});
}
Cycle close_written(const Given& g) {
  return std::max({g.t.tRAS, g.t.act_clocks, first_write(g) + g.t.tCWL + g.t.burst + g.t.tWR});
}
Cycle reopen(const Given& g) {
  return std::max({close_read(g) + g.t.tRP, g.t.tRC, g.t.tRRDL, g.t.tRRDS});
}
Cycle second_act(const Given& g) {
  return std::max(g.t.tRRDS, g.t.act_clocks);
}
Cycle written(const Given& g) {
  return g.t.tCWL + g.t.burst;
}

Cycle first_data(const Given& g) {
  return first_read(g) + g.t.tCL + g.t.burst;
}

struct Scenario {
  const char* name;
  Cycle Timings::*timing;
  RefreshMode refresh;
  Order order; ///< of the command watched, the nth to its bank
  std::uint32_t Given::*bank;
  std::uint32_t nth;
  std::vector<Step> (*steps)(const Given&);
  Cycle (*expected)(const Given&);
  void (*clear)(Timings&) = nullptr; ///< what has to be long for the timing to show alone
  bool data = false;                 ///< the end of its data is meant
};

constexpr auto kNone = RefreshMode::none;
void slow_read(Timings& t) {
  t.tRCDRD = 400; // no RD comes between the ACTs
}
void slow_close(Timings& t) {
  t.tRP = 400; // no ACT comes between the PREs
}
Cycle set_interval(const Given& g) {
  return g.t.tREFI / static_cast<Cycle>(g.banks * g.groups / g.t.refresh_banks);
}

constexpr Scenario kScenarios[] = {
    {"ACT to RD", &Timings::tRCDRD, kNone, Order::read, &Given::bank, 0, read_conflict, first_read},
    {"ACT to WR", &Timings::tRCDWR, kNone, Order::write, &Given::bank, 0, write_conflict,
     first_write},
    {"RD to data", &Timings::tCL, kNone, Order::read, &Given::bank, 0, read_conflict, first_data,
     nullptr, true},
    {"length of the data", &Timings::burst, kNone, Order::read, &Given::bank, 0, read_conflict,
     first_data, nullptr, true},
    {"ACT to PRE", &Timings::tRAS, kNone, Order::precharge, &Given::bank, 0, read_conflict,
     close_read},
    {"RD to PRE", &Timings::tRTP, kNone, Order::precharge, &Given::bank, 0, read_conflict,
     close_read},
    {"PRE to ACT", &Timings::tRP, kNone, Order::activate, &Given::bank, 1, read_conflict, reopen},
    {"ACT to ACT of the bank", &Timings::tRC, kNone, Order::activate, &Given::bank, 1,
     read_conflict, reopen},
    {"WR to its data", &Timings::tCWL, kNone, Order::precharge, &Given::bank, 0, write_conflict,
     close_written},
    {"written data to PRE", &Timings::tWR, kNone, Order::precharge, &Given::bank, 0, write_conflict,
     close_written},
    {"RD to RD", &Timings::tCCDS, kNone, Order::read, &Given::stranger, 1,
     [](const Given& g) { return reads(g.bank, g.stranger); },
     [](const Given& g) {
       return kLate + std::max({g.t.tCCDS, g.t.burst, g.t.column_clocks});
     }},
    {"RD to RD by the data bus", &Timings::burst, kNone, Order::read, &Given::stranger, 1,
     [](const Given& g) { return reads(g.bank, g.stranger); },
     [](const Given& g) {
       return kLate + std::max({g.t.tCCDS, g.t.burst, g.t.column_clocks});
     }},
    {"RD to RD by the command bus", &Timings::column_clocks, kNone, Order::read, &Given::stranger,
     1, [](const Given& g) { return reads(g.bank, g.stranger); },
     [](const Given& g) {
       return kLate + std::max({g.t.tCCDS, g.t.burst, g.t.column_clocks});
     }},
    {"RD to RD of the group", &Timings::tCCDL, kNone, Order::read, &Given::group_mate, 1,
     [](const Given& g) { return reads(g.bank, g.group_mate); },
     [](const Given& g) {
       return kLate + std::max({g.t.tCCDL, g.t.tCCDS, g.t.burst, g.t.column_clocks});
     }},
    {"RD to RD of another rank", &Timings::tCCDR, kNone, Order::read, &Given::other_rank, 1,
     [](const Given& g) { return reads(g.bank, g.other_rank); },
     [](const Given& g) {
       return kLate + std::max({g.t.tCCDR, g.t.burst + g.t.tRTRS, g.t.column_clocks});
     }},
    {"RD to RD of another rank by the data bus", &Timings::tRTRS, kNone, Order::read,
     &Given::other_rank, 1, [](const Given& g) { return reads(g.bank, g.other_rank); },
     [](const Given& g) {
       return kLate + std::max({g.t.tCCDR, g.t.burst + g.t.tRTRS, g.t.column_clocks});
     }},
    {"WR to WR", &Timings::tCCDSWR, kNone, Order::write, &Given::stranger, 0,
     [](const Given& g) { return writes(g.bank, g.stranger); },
     [](const Given& g) {
       return kLate + std::max({g.t.tCCDSWR, g.t.burst, g.t.column_clocks});
     }},
    {"WR to WR of the group", &Timings::tCCDLWR, kNone, Order::write, &Given::group_mate, 0,
     [](const Given& g) { return writes(g.bank, g.group_mate); },
     [](const Given& g) {
       return kLate + std::max({g.t.tCCDLWR, g.t.tCCDSWR, g.t.burst, g.t.column_clocks});
     }},
    {"WR to WR of another rank", &Timings::tCCDR, kNone, Order::write, &Given::other_rank, 0,
     [](const Given& g) { return writes(g.bank, g.other_rank); },
     [](const Given& g) {
       return kLate + std::max({g.t.tCCDR, g.t.burst + g.t.tRTRS, g.t.column_clocks});
     }},
    {"ACT to ACT", &Timings::tRRDS, kNone, Order::activate, &Given::stranger, 0,
     [](const Given& g) {
       return std::vector<Step>{{0, read_of(g.bank)}, {0, read_of(g.stranger)}};
     },
     second_act, slow_read},
    {"ACT to ACT by the command bus", &Timings::act_clocks, kNone, Order::activate,
     &Given::stranger, 0,
     [](const Given& g) {
       return std::vector<Step>{{0, read_of(g.bank)}, {0, read_of(g.stranger)}};
     },
     second_act, slow_read},
    {"ACT to ACT of the group", &Timings::tRRDL, kNone, Order::activate, &Given::group_mate, 0,
     [](const Given& g) {
       return std::vector<Step>{{0, read_of(g.bank)}, {0, read_of(g.group_mate)}};
     },
     [](const Given& g) { return std::max(g.t.tRRDL, second_act(g)); }, slow_read},
    {"first to fifth ACT", &Timings::tFAW, kNone, Order::activate, &Given::fifth, 0,
     [](const Given& g) {
       std::vector<Step> steps;
       for (std::uint32_t n = 0; n < 5; ++n)
         steps.push_back({0, read_of(g.spread(n))});
       return steps;
     },
     [](const Given& g) {
       return std::max({g.t.tFAW, 4 * second_act(g), g.groups == 4 ? g.t.tRRDL : 0});
     },
     slow_read},
    {"written data to RD", &Timings::tWTRS, kNone, Order::read, &Given::stranger, 1,
     [](const Given& g) { return pair(write_of(g.bank), read_of(g.stranger), 1); },
     [](const Given& g) { return kLate + written(g) + g.t.tWTRS; }},
    {"written data to RD of the group", &Timings::tWTRL, kNone, Order::read, &Given::group_mate, 1,
     [](const Given& g) { return pair(write_of(g.bank), read_of(g.group_mate), 1); },
     [](const Given& g) { return kLate + written(g) + std::max(g.t.tWTRL, g.t.tWTRS); }},
    {"written data to data of another rank", &Timings::tRTRS, kNone, Order::read,
     &Given::other_rank, 1,
     [](const Given& g) { return pair(write_of(g.bank), read_of(g.other_rank), 1); },
     [](const Given& g) {
       return kLate + std::max(written(g) + g.t.tRTRS - g.t.tCL, g.t.column_clocks);
     }},
    {"RD to WR", &Timings::tRTW, kNone, Order::write, &Given::stranger, 0,
     [](const Given& g) { return pair(read_of(g.bank), write_of(g.stranger), 1); },
     [](const Given& g) { return kLate + g.t.tRTW; }},
    {"PRE to PRE", &Timings::tPPD, kNone, Order::precharge, &Given::stranger, 0,
     [](const Given& g) {
       return std::vector<Step>{{0, read_of(g.bank)},
                                {0, read_of(g.stranger)},
                                {kLate, read_of(g.bank, 1)},
                                {kLate, read_of(g.stranger, 1)}};
     },
     [](const Given& g) { return kLate + g.t.tPPD; }, slow_close},
    {"first refresh of all banks", &Timings::tREFI, RefreshMode::all_bank, Order::refresh_all,
     &Given::bank, 0, [](const Given&) { return std::vector<Step>{}; },
     [](const Given& g) { return g.t.tREFI; }},
    {"refresh of all banks to ACT", &Timings::tRFCab, RefreshMode::all_bank, Order::activate,
     &Given::stranger, 0,
     [](const Given& g) {
       return std::vector<Step>{{g.t.tREFI + 1, read_of(g.stranger)}};
     },
     [](const Given& g) { return g.t.tREFI + g.t.tRFCab; }},
    {"refresh of a bank to its ACT", &Timings::tRFCpb, RefreshMode::per_bank, Order::activate,
     &Given::bank, 0,
     [](const Given& g) {
       return std::vector<Step>{{set_interval(g) + 1, read_of(g.bank)}};
     },
     [](const Given& g) { return set_interval(g) + std::max(g.t.tRFCpb, g.t.tRREFD); }},
    {"refresh of a bank to ACT of another", &Timings::tRREFD, RefreshMode::per_bank,
     Order::activate, &Given::group_mate, 0,
     [](const Given& g) {
       return std::vector<Step>{{set_interval(g) + 1, read_of(g.group_mate)}};
     },
     [](const Given& g) { return set_interval(g) + g.t.tRREFD; }},
};

Organisation two_ranks(const DramStandard& standard) {
  Organisation two = organisation(standard);
  two.ranks = 2; // DDR5 modules of one rank have timings for two
  return two;
}

Observed play(const Scenario& scenario, const Organisation& organisation, const Timings& t) {
  Channel::Config config = quiet(organisation, t);
  config.controller.refresh = scenario.refresh;
  // Ranks refresh at the same clock and would wait for each other's slot.
  if (scenario.refresh != RefreshMode::none) config.organisation.ranks = 1;
  const Given given{t, organisation.banks, organisation.bank_groups};
  return watch(config, scenario.steps(given), {scenario.order, given.*scenario.bank, scenario.nth});
}

/// Its time, having seen that it was not ready a clock before.
Cycle measured(const Scenario& scenario, const Organisation& organisation, const Timings& t) {
  const Observed seen = play(scenario, organisation, t);
  CHECK(seen.committed == seen.at);
  return scenario.data ? seen.data : seen.at;
}

} // namespace

TEST_CASE("a command of every shipped standard goes at the clock its timings give, not before") {
  for (const EmbeddedStandard& shipped : shipped_standards()) {
    const DramStandard standard = read_standard(shipped.name);
    const Organisation two = two_ranks(standard);
    const Timings t = timings(standard, standard.tCK);
    for (const Scenario& scenario : kScenarios) {
      CAPTURE(shipped.name, scenario.name);
      CHECK(measured(scenario, two, t) == scenario.expected({t, two.banks, two.bank_groups}));
    }
  }
}

TEST_CASE("every timing moves its command clock for clock where it binds alone") {
  for (const EmbeddedStandard& shipped : shipped_standards()) {
    const DramStandard standard = read_standard(shipped.name);
    const Organisation two = two_ranks(standard);
    const Timings real = timings(standard, standard.tCK);
    for (const Scenario& scenario : kScenarios) {
      for (const bool shared : {false, true}) {
        CAPTURE(shipped.name, scenario.name, shared);
        Timings t = smallest(real);
        t.shared_bus = shared;
        if (scenario.clear != nullptr) scenario.clear(t);
        // Four clocks show beside neighbours of one.
        t.*scenario.timing = std::max<Cycle>(real.*scenario.timing, 4);
        const Cycle before = measured(scenario, two, t);
        CHECK(before == scenario.expected({t, two.banks, two.bank_groups}));
        ++(t.*scenario.timing);
        CHECK(measured(scenario, two, t) == before + 1);
      }
    }
  }
}

TEST_CASE("no timing is without a scenario") {
  std::vector<Cycle Timings::*> covered;
  for (const Scenario& scenario : kScenarios)
    if (std::find(covered.begin(), covered.end(), scenario.timing) == covered.end())
      covered.push_back(scenario.timing);
  // Everything of Timings is a Cycle but the clock, and a word for the bus and the banks.
  static_assert(sizeof(Timings) % sizeof(Cycle) == 0);
  CHECK(covered.size() == sizeof(Timings) / sizeof(Cycle) - 2);
}

TEST_CASE("row and column commands share a slot only on a shared bus") {
  for (const EmbeddedStandard& shipped : shipped_standards()) {
    const DramStandard standard = read_standard(shipped.name);
    const Organisation two = two_ranks(standard);
    const Given p{{}, two.banks, two.bank_groups};
    for (const bool shared : {false, true}) {
      CAPTURE(shipped.name, shared);
      Timings t = timings(standard, standard.tCK);
      t.shared_bus = shared;
      // The row of bank 0 is open: its RD and the ACT of another bank are ready together.
      const std::vector<Step> steps{
          {0, read_of(p.bank)}, {kLate, read_of(p.bank, 0, 1)}, {kLate, read_of(p.stranger)}};
      CHECK(watch(quiet(two, t), steps, {Order::read, p.bank, 1}).at == kLate);
      CHECK(watch(quiet(two, t), steps, {Order::activate, p.stranger}).at ==
            kLate + (shared ? t.column_clocks : 0));
    }
  }
}
