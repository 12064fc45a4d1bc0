#include "app/tables/directed.h"

#include "model/base/error.h"

namespace umf::app {

using hw::dram::Access;
using hw::dram::Cycle;
using hw::dram::Order;
using hw::dram::Organisation;
using hw::dram::RefreshMode;
using hw::dram::Timings;

std::uint32_t UnitFacts::spread(std::uint32_t n) const {
  const Organisation& o = organisation;
  return n % o.bank_groups * o.banks + n / o.bank_groups;
}

std::uint32_t UnitFacts::sets() const {
  return organisation.banks_of_rank() / timings.refresh_banks;
}

namespace {

constexpr Cycle kLate = 5000; ///< everything before has long come to rest
constexpr auto kNone = RefreshMode::none;
using Facts = const UnitFacts&;
using Steps = std::vector<Step>;
using From = std::optional<Mark>;

constexpr Access read(std::uint32_t bank, std::uint32_t row = 0, std::uint32_t column = 0) {
  return {bank, row, column, 0, false};
}
constexpr Access write(std::uint32_t bank, std::uint32_t row = 0, std::uint32_t column = 0) {
  return {bank, row, column, 0, true};
}

/// The rows opened, then an access to each, the second `gap` clocks after the first.
Steps pair(Access first, Access second, Cycle gap = 0) {
  Steps steps{{0, read(first.bank)}, {0, read(second.bank)}};
  first.column = 1;
  second.column = 2;
  steps.push_back({kLate, first});
  steps.push_back({kLate + gap, second});
  return steps;
}

/// Both at once, to closed banks.
Steps closed(const std::vector<std::uint32_t>& banks) {
  Steps steps;
  for (const std::uint32_t bank : banks)
    steps.push_back({0, read(bank)});
  return steps;
}

/// Two rows of bank 0, one after the other.
Steps two_rows(Facts) {
  return {{0, read(0)}, {0, read(0, 1)}};
}
/// A row long open, an access to it and one to another row.
Steps late_conflict(Facts) {
  return {{0, read(0)}, {kLate, read(0, 0, 1)}, {kLate, read(0, 1)}};
}
Steps late_written(Facts) {
  return {{0, read(0)}, {kLate, write(0, 0, 1)}, {kLate, write(0, 1)}};
}
Steps one_write(Facts) {
  return {{0, write(0)}};
}
Steps idle(Facts) {
  return {};
}
Cycle set_interval(Facts f) {
  return f.timings.tREFI / static_cast<Cycle>(f.sets());
}

constexpr From act(std::uint32_t bank, std::uint32_t nth = 0) {
  return Mark{Order::activate, bank, nth};
}
From first_act(Facts) {
  return act(0);
}
/// Rows of pairs were opened by a read: the pair's own is the second.
From pair_read(Facts) {
  return Mark{Order::read, 0, 1};
}
From pair_write(Facts) {
  return Mark{Order::write, 0, 0};
}
From nothing(Facts) {
  return std::nullopt;
}

constexpr Directed kDirected[] = {
    {"ACT to RD", "tRCDRD", kNone, two_rows, first_act, [](Facts) { return Mark{Order::read}; }},
    {"ACT to WR", "tRCDWR", kNone, one_write, first_act, [](Facts) { return Mark{Order::write}; }},
    {"RD to the end of its data", "tCL", kNone, two_rows,
     [](Facts) { return From{Mark{Order::read}}; },
     [](Facts) {
       return Mark{Order::read, 0, 0, true};
     }},
    {"ACT to PRE", "tRAS", kNone, two_rows, first_act,
     [](Facts) { return Mark{Order::precharge}; }},
    {"ACT to ACT of a bank", "tRC", kNone, two_rows, first_act, [](Facts) { return *act(0, 1); }},
    {"RD to PRE of a row long open", "tRTP", kNone, late_conflict, pair_read,
     [](Facts) { return Mark{Order::precharge}; }},
    {"WR to PRE of a row long open", "tCWL tWR", kNone, late_written, pair_write,
     [](Facts) { return Mark{Order::precharge}; }},
    {"PRE to ACT of a row long open", "tRP", kNone, late_conflict,
     [](Facts) { return From{Mark{Order::precharge}}; }, [](Facts) { return *act(0, 1); }},
    {"RD to RD of another group", "tCCDS", kNone,
     [](Facts f) { return pair(read(0), read(f.stranger())); }, pair_read,
     [](Facts f) {
       return Mark{Order::read, f.stranger(), 1};
     }},
    {"RD to RD of the group", "tCCDL", kNone, [](Facts f) { return pair(read(0), read(f.mate())); },
     pair_read,
     [](Facts f) {
       return Mark{Order::read, f.mate(), 1};
     }},
    {"RD to RD of another rank", "tCCDR tRTRS", kNone,
     [](Facts f) { return pair(read(0), read(f.other_rank())); }, pair_read,
     [](Facts f) {
       return Mark{Order::read, f.other_rank(), 1};
     }},
    {"WR to WR of another group", "tCCDSWR", kNone,
     [](Facts f) { return pair(write(0), write(f.stranger())); }, pair_write,
     [](Facts f) {
       return Mark{Order::write, f.stranger()};
     }},
    {"WR to WR of the group", "tCCDLWR", kNone,
     [](Facts f) { return pair(write(0), write(f.mate())); }, pair_write,
     [](Facts f) {
       return Mark{Order::write, f.mate()};
     }},
    {"WR to RD of another group", "tCWL tWTRS", kNone,
     [](Facts f) { return pair(write(0), read(f.stranger()), 1); }, pair_write,
     [](Facts f) {
       return Mark{Order::read, f.stranger(), 1};
     }},
    {"WR to RD of the group", "tCWL tWTRL", kNone,
     [](Facts f) { return pair(write(0), read(f.mate()), 1); }, pair_write,
     [](Facts f) {
       return Mark{Order::read, f.mate(), 1};
     }},
    {"WR to RD of another rank", "column_clocks tRTRS", kNone,
     [](Facts f) { return pair(write(0), read(f.other_rank()), 1); }, pair_write,
     [](Facts f) {
       return Mark{Order::read, f.other_rank(), 1};
     }},
    {"RD to WR", "tRTW", kNone, [](Facts f) { return pair(read(0), write(f.stranger()), 1); },
     pair_read,
     [](Facts f) {
       return Mark{Order::write, f.stranger()};
     }},
    {"RD beside ACT", "shared_bus column_clocks", kNone,
     [](Facts f) {
       return Steps{{0, read(0)}, {kLate, read(0, 0, 1)}, {kLate, read(f.stranger())}};
     },
     pair_read, [](Facts f) { return *act(f.stranger()); }},
    {"ACT to ACT of another group", "tRRDS", kNone,
     [](Facts f) {
       return closed({0, f.stranger()});
     },
     first_act, [](Facts f) { return *act(f.stranger()); }},
    {"ACT to ACT of the group", "tRRDL", kNone,
     [](Facts f) {
       return closed({0, f.mate()});
     },
     first_act, [](Facts f) { return *act(f.mate()); }},
    {"first to fifth ACT", "tFAW", kNone,
     [](Facts f) {
       return closed({0, f.spread(1), f.spread(2), f.spread(3), f.spread(4)});
     },
     first_act, [](Facts f) { return *act(f.spread(4)); }},
    {"ACT to PRE of another bank", "act_clocks", kNone,
     [](Facts f) {
       return Steps{{0, read(0)}, {kLate, read(f.stranger())}, {kLate, read(0, 1)}};
     },
     [](Facts f) { return act(f.stranger()); }, [](Facts) { return Mark{Order::precharge}; }},
    {"PRE to PRE", "tPPD", kNone,
     [](Facts f) {
       return Steps{{0, read(0)},
                    {0, read(f.stranger())},
                    {kLate, read(0, 1)},
                    {kLate, read(f.stranger(), 1)}};
     },
     [](Facts) { return From{Mark{Order::precharge}}; },
     [](Facts f) {
       return Mark{Order::precharge, f.stranger()};
     }},
    {"first refresh of a rank", "tREFI", RefreshMode::all_bank, idle, nothing,
     [](Facts) { return Mark{Order::refresh_all}; }},
    {"refresh of a rank to ACT", "tRFCab", RefreshMode::all_bank,
     [](Facts f) {
       return Steps{{f.timings.tREFI + 1, read(0)}};
     },
     [](Facts) { return From{Mark{Order::refresh_all}}; }, [](Facts) { return *act(0); }},
    {"refresh of a set of banks to the next", "tREFI refresh_banks", RefreshMode::per_bank, idle,
     [](Facts) { return From{Mark{Order::refresh_bank}}; },
     [](Facts) {
       return Mark{Order::refresh_bank, 1};
     }},
    {"refresh of a bank to its ACT", "tRFCpb", RefreshMode::per_bank,
     [](Facts f) {
       return Steps{{set_interval(f) + 1, read(0)}};
     },
     [](Facts) { return From{Mark{Order::refresh_bank}}; }, [](Facts) { return *act(0); }},
    {"refresh of a bank to ACT of another", "tRREFD", RefreshMode::per_bank,
     [](Facts f) {
       return Steps{{set_interval(f) + 1, read(f.mate())}};
     },
     [](Facts) { return From{Mark{Order::refresh_bank}}; }, [](Facts f) { return *act(f.mate()); }},
};

/// Everything that one unit did with the steps; refreshes go on until `until`.
class Played {
public:
  Played(const hw::dram::Channel::Config& config, const Steps& steps, Cycle until) {
    hw::dram::Channel unit(config, done_);
    unit.log_to(&log_);
    for (const Step& step : steps)
      unit.push(step.access, step.at);
    while (!unit.idle())
      unit.advance(unit.next() + 1);
    unit.advance(until);
  }

  Cycle at(const Mark& mark) const {
    std::uint32_t seen = 0;
    std::size_t data = 0;
    for (const hw::dram::Command& command : log_) {
      // Data of reads follow in the order of their commands.
      if (command.order == Order::read)
        while (done_[data].write)
          ++data;
      const std::size_t read = data;
      if (command.order == Order::read) ++data;
      if (command.order != mark.order || command.bank != mark.bank || seen++ != mark.nth) continue;
      return mark.data ? done_[read].at : command.at;
    }
    throw InvariantError("a command of an experiment did not come");
  }

private:
  std::vector<hw::dram::Command> log_;
  std::vector<hw::dram::Done> done_;
};

template <Cycle Timings::*timing>
void grow(Timings& timings, const Organisation&) {
  const Cycle before = timings.*timing;
  timings.*timing = before + (before < 5 ? 1 : (before + 4) / 5);
}

} // namespace

std::span<const Directed> directed_experiments() {
  return kDirected;
}

Cycle clocks_of(const Directed& directed, const Timings& timings,
                const Organisation& organisation) {
  UnitFacts facts{timings, organisation};
  facts.organisation.ranks = 2; // modules of one rank have timings for two
  hw::dram::Channel::Config config{facts.organisation, timings, {}, 0, 0, 0};
  config.age_cap = hw::dram::kNever;
  config.controller.refresh = directed.refresh;
  // Ranks refresh at the same clock and would wait for each other's slot.
  if (directed.refresh != kNone) config.organisation.ranks = 1;
  const Cycle until = directed.refresh == kNone ? 0 : timings.tREFI + 1;
  const Played played(config, directed.steps(facts), until);
  const auto from = directed.from(facts);
  return played.at(directed.to(facts)) - (from ? played.at(*from) : 0);
}

std::span<const NamedTiming> named_timings() {
  using T = Timings;
  static const NamedTiming all[] = {
      {"tCL", grow<&T::tCL>},
      {"tCWL", grow<&T::tCWL>},
      {"tRCDRD", grow<&T::tRCDRD>},
      {"tRCDWR", grow<&T::tRCDWR>},
      {"tRP", grow<&T::tRP>},
      {"tRAS", grow<&T::tRAS>},
      {"tRC", grow<&T::tRC>},
      {"tCCDS", grow<&T::tCCDS>},
      {"tCCDL", grow<&T::tCCDL>},
      {"tCCDR", grow<&T::tCCDR>},
      {"tCCDSWR", grow<&T::tCCDSWR>},
      {"tCCDLWR", grow<&T::tCCDLWR>},
      {"tRRDS", grow<&T::tRRDS>},
      {"tRRDL", grow<&T::tRRDL>},
      {"tFAW", grow<&T::tFAW>},
      {"tRTP", grow<&T::tRTP>},
      {"tWR", grow<&T::tWR>},
      {"tWTRS", grow<&T::tWTRS>},
      {"tWTRL", grow<&T::tWTRL>},
      {"tRTW", grow<&T::tRTW>},
      {"tRTRS", grow<&T::tRTRS>},
      {"tPPD", grow<&T::tPPD>},
      {"tREFI", grow<&T::tREFI>},
      {"tRFCab", grow<&T::tRFCab>},
      {"tRFCpb", grow<&T::tRFCpb>},
      {"tRREFD", grow<&T::tRREFD>},
      {"act_clocks", grow<&T::act_clocks>},
      {"column_clocks", grow<&T::column_clocks>},
      {"shared_bus", [](T& t, const Organisation&) { t.shared_bus = !t.shared_bus; }},
      {"refresh_banks",
       [](T& t, const Organisation& o) {
         t.refresh_banks = t.refresh_banks == 1 ? o.bank_groups : 1;
       }},
  };
  return all;
}

} // namespace umf::app
