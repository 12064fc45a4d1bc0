#include "tests/hw/dram/checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace umf::hw::dram::test {

namespace {

constexpr std::array kNames = {"ACT", "PRE", "RD", "WR", "REFpb", "REFab"};

bool column(Order order) {
  return order == Order::read || order == Order::write;
}

struct Pair {
  bool same_rank, same_group, same_bank;
};

/// The least distance between two commands, and its name; 0 where none is asked.
struct Least {
  Cycle clocks = 0;
  const char* name = "";
  void at_least(Cycle other, const char* by) {
    if (other > clocks) clocks = other, name = by;
  }
};

Least least(Order first, Order then, Pair pair, const Timings& t) {
  Least d;
  const Cycle written = t.tCWL + t.burst; // WR to the end of its data
  if (column(first) && column(then)) {
    d.at_least(t.column_clocks, "command bus");
    if (first == then) {
      const bool write = first == Order::write;
      if (pair.same_rank)
        d.at_least(write ? t.tCCDSWR : t.tCCDS, "tCCD_S");
      else
        d.at_least(t.tCCDR, "tCCD_R");
      if (pair.same_group) d.at_least(write ? t.tCCDLWR : t.tCCDL, "tCCD_L");
      d.at_least(t.burst + (pair.same_rank ? 0 : t.tRTRS), "data bus");
    } else if (first == Order::read) {
      d.at_least(t.tRTW, "tRTW");
    } else {
      if (pair.same_rank) d.at_least(written + t.tWTRS, "tWTR_S");
      if (pair.same_group) d.at_least(written + t.tWTRL, "tWTR_L");
      if (!pair.same_rank) d.at_least(written + t.tRTRS - t.tCL, "rank switch");
    }
    return d;
  }
  if (!pair.same_rank) return d;
  const auto is = [&](Order a, Order b) { return first == a && then == b; };
  if (is(Order::activate, Order::activate)) {
    d.at_least(t.tRRDS, "tRRD_S");
    if (pair.same_group) d.at_least(t.tRRDL, "tRRD_L");
    if (pair.same_bank) d.at_least(t.tRC, "tRC");
    d.at_least(t.act_clocks, "command bus");
  }
  if (is(Order::precharge, Order::precharge)) d.at_least(0, "");
  if (pair.same_bank) {
    if (is(Order::activate, Order::read)) d.at_least(t.tRCDRD, "tRCDRD");
    if (is(Order::activate, Order::write)) d.at_least(t.tRCDWR, "tRCDWR");
    if (is(Order::activate, Order::precharge)) d.at_least(t.tRAS, "tRAS");
    if (is(Order::precharge, Order::activate)) d.at_least(t.tRP, "tRP");
    if (is(Order::read, Order::precharge)) d.at_least(t.tRTP, "tRTP");
    if (is(Order::write, Order::precharge)) d.at_least(written + t.tWR, "tWR");
    if (is(Order::precharge, Order::refresh_bank)) d.at_least(t.tRP, "tRP to REFpb");
    if (is(Order::activate, Order::refresh_bank)) d.at_least(t.tRC, "tRC to REFpb");
    if (is(Order::refresh_bank, Order::activate)) d.at_least(t.tRFCpb, "tRFCpb");
    if (is(Order::refresh_bank, Order::refresh_bank)) d.at_least(t.tRFCpb, "tRFCpb");
  }
  if (is(Order::activate, Order::refresh_bank)) d.at_least(t.tRRDS, "tRRD_S to REFpb");
  if (is(Order::refresh_bank, Order::activate)) d.at_least(t.tRREFD, "tRREFD");
  if (is(Order::refresh_bank, Order::refresh_bank)) d.at_least(t.tRREFD, "tRREFD");
  if (is(Order::precharge, Order::refresh_all)) d.at_least(t.tRP, "tRP to REFab");
  if (is(Order::activate, Order::refresh_all)) d.at_least(t.tRC, "tRC to REFab");
  if (is(Order::refresh_bank, Order::refresh_all)) d.at_least(t.tRFCpb, "tRFCpb to REFab");
  if (first == Order::refresh_all) d.at_least(then == Order::precharge ? 0 : t.tRFCab, "tRFCab");
  return d;
}

} // namespace

std::vector<std::string> breaches(std::vector<Command> log, const Organisation& organisation,
                                  const Timings& t) {
  std::stable_sort(log.begin(), log.end(),
                   [](const Command& a, const Command& b) { return a.at < b.at; });
  std::vector<std::string> found;
  const auto say = [&](const Command& a, const Command& b, const std::string& what) {
    found.push_back(fmt::format("{} bank {} at {} after {} bank {} at {}: {}",
                                kNames[static_cast<std::size_t>(b.order)], b.bank, b.at,
                                kNames[static_cast<std::size_t>(a.order)], a.bank, a.at, what));
  };
  const std::uint32_t sets = organisation.banks_of_rank() / t.refresh_banks;
  const auto rank = [&](const Command& c) { return c.bank / organisation.banks_of_rank(); };
  const auto group = [&](const Command& c) { return c.bank / organisation.banks; };
  const auto concerns = [&](const Command& refresh, const Command& c) {
    return rank(refresh) == rank(c) && (c.bank - refresh.bank) % sets == 0;
  };
  const Cycle horizon = std::max({t.tRFCab, t.tRFCpb, t.tRC, t.tFAW, t.tCWL + t.burst + t.tWR,
                                  t.tCWL + t.burst + t.tWTRL, t.tRTW}) +
                        1;
  std::vector<std::int64_t> open(organisation.all_banks(), -1);
  std::vector<std::vector<Cycle>> acts(organisation.ranks);
  std::size_t from = 0;
  for (std::size_t i = 0; i < log.size(); ++i) {
    const Command& now = log[i];
    while (log[from].at + horizon < now.at)
      ++from;
    for (std::size_t j = from; j < i; ++j) {
      const Command& before = log[j];
      Pair pair{rank(before) == rank(now), group(before) == group(now), before.bank == now.bank};
      if (before.order == Order::refresh_bank) pair.same_bank = concerns(before, now);
      if (now.order == Order::refresh_bank) pair.same_bank = concerns(now, before);
      const Least d = least(before.order, now.order, pair, t);
      if (now.at - before.at < d.clocks)
        say(before, now, fmt::format("{} is {}", d.name, d.clocks));
      const bool rows = !column(before.order) && !column(now.order) &&
                        before.order != Order::precharge && now.order != Order::precharge;
      if (rows && pair.same_rank && before.at == now.at) say(before, now, "one row bus");
    }
    // What is open, and tFAW.
    switch (now.order) {
    case Order::activate: {
      if (open[now.bank] >= 0) say(now, now, "ACT of an open bank");
      open[now.bank] = now.row;
      auto& list = acts[rank(now)];
      if (list.size() >= 4 && now.at - list[list.size() - 4] < t.tFAW) say(now, now, "tFAW");
      list.push_back(now.at);
      break;
    }
    case Order::precharge:
      if (open[now.bank] < 0) say(now, now, "PRE of a closed bank");
      open[now.bank] = -1;
      break;
    case Order::read:
    case Order::write:
      if (open[now.bank] != now.row) say(now, now, "access to a row that is not open");
      break;
    case Order::refresh_bank:
    case Order::refresh_all:
      for (std::uint32_t b = 0; b < open.size(); ++b) {
        const bool all = now.order == Order::refresh_all;
        const Command bank{now.at, now.order, b, 0};
        if (open[b] >= 0 && rank(bank) == rank(now) && (all || concerns(now, bank)))
          say(now, now, fmt::format("refresh of open bank {}", b));
      }
      break;
    }
  }
  return found;
}

} // namespace umf::hw::dram::test
