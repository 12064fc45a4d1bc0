#include "tests/hw/dram/traffic.h"

#include <algorithm>
#include <random>
#include <stdexcept>

namespace umf::hw::dram::test {

namespace {
using Random = std::mt19937_64;
// Distributions of the standard library differ between implementations; these do not.
std::uint64_t below(Random& random, std::uint64_t n) {
  return random() % n;
}
double unit(Random& random) {
  return static_cast<double>(random() >> 11) * 0x1p-53;
}
Cycle within(Random& random, Cycle low, Cycle high) {
  return low + static_cast<Cycle>(below(random, static_cast<std::uint64_t>(high - low + 1)));
}
} // namespace

Traffic random_traffic(std::uint64_t seed) {
  Random random(seed * 77 + 1);
  Traffic traffic;
  traffic.write_share = unit(random) < 0.2 ? 0.0 : unit(random);
  traffic.rows = 1 + static_cast<std::uint32_t>(below(random, 6));
  traffic.columns = 1 + static_cast<std::uint32_t>(below(random, 16));
  traffic.same_row = unit(random);
  traffic.mean_gap = within(random, 0, 12);
  return traffic;
}

Channel::Config random_config(std::uint64_t seed) {
  Random random(seed);
  Channel::Config config;
  Organisation& o = config.organisation;
  o.ranks = 1 + static_cast<std::uint32_t>(below(random, 2));
  o.bank_groups = 1u << below(random, 4);
  o.banks = 1u << below(random, 3);
  o.rows = 64;
  Timings& t = config.timings;
  t.burst = within(random, 1, 8);
  t.tCL = within(random, 4, 46);
  t.tCWL = within(random, 2, 44);
  t.tRCDRD = within(random, 5, 46);
  t.tRCDWR = within(random, 4, 46);
  t.tRP = within(random, 5, 46);
  t.tRAS = within(random, 15, 103);
  t.tRC = t.tRAS + t.tRP + within(random, 0, 4);
  t.tCCDS = within(random, 1, 8);
  t.tCCDL = t.tCCDS + within(random, 0, 8);
  t.tCCDR = t.tCCDS + within(random, 0, 3);
  t.tCCDSWR = within(random, 1, 8);
  t.tCCDLWR = t.tCCDSWR + within(random, 0, 40);
  t.tRRDS = within(random, 1, 16);
  t.tRRDL = t.tRRDS + within(random, 0, 6);
  t.tFAW = within(random, 4, 80);
  t.tRTP = within(random, 3, 24);
  t.tWR = within(random, 8, 96);
  t.tWTRS = within(random, 2, 8);
  t.tWTRL = t.tWTRS + within(random, 0, 30);
  t.tRTW = std::max<Cycle>(1, t.tCL + t.burst + 2 - t.tCWL);
  t.tRTRS = within(random, 0, 2);
  t.tPPD = within(random, 1, 2);
  t.tRFCab = within(random, 100, 500);
  t.tREFI = t.tRFCab + within(random, 500, 6000);
  t.tRFCpb = within(random, 40, 200);
  t.tRREFD = within(random, 2, 10);
  t.shared_bus = below(random, 2) == 0;
  t.act_clocks = within(random, 1, 2);
  t.column_clocks = std::min(within(random, 1, 2), t.tCCDS);
  t.refresh_banks = below(random, 2) == 0 ? 1 : o.bank_groups;
  const auto sets = static_cast<Cycle>(o.banks_of_rank() / t.refresh_banks);
  t.tREFI = std::max(t.tREFI, sets * (t.tRFCpb + t.tRC + t.tRP));
  ControllerConfig& c = config.controller;
  c.read_queue = 1 + static_cast<std::uint32_t>(below(random, 64));
  c.write_queue = 1 + static_cast<std::uint32_t>(below(random, 64));
  c.write_high = 1 + static_cast<std::uint32_t>(below(random, c.write_queue));
  c.write_low = static_cast<std::uint32_t>(below(random, c.write_high));
  c.page = static_cast<PagePolicy>(below(random, 3));
  c.refresh = static_cast<RefreshMode>(below(random, 3));
  c.postpone = static_cast<std::uint32_t>(below(random, 9));
  config.age_cap = within(random, 50, 4000);
  config.page_timeout = within(random, 10, 1000);
  config.refresh_phase = within(random, 0, t.tREFI - 1);
  return config;
}

Cycle drain(Channel& channel, Cycle now) {
  for (std::uint64_t steps = 0; !channel.idle(); ++steps) {
    if (steps > 100000) throw std::runtime_error("the channel makes no progress");
    now = std::max(now, channel.next() + 1);
    channel.advance(now);
  }
  return now;
}

std::vector<Sent> send(Channel& channel, const Organisation& organisation, const Traffic& traffic,
                       std::uint64_t seed) {
  Random random(seed * 13 + 5);
  std::vector<Sent> sent;
  Cycle now = 0;
  Access access;
  for (std::uint32_t n = 0; n < traffic.requests; ++n) {
    if (n == 0 || unit(random) >= traffic.same_row) {
      access.bank = static_cast<std::uint32_t>(below(random, organisation.all_banks()));
      access.row = static_cast<std::uint32_t>(below(random, traffic.rows));
    }
    access.column = static_cast<std::uint32_t>(below(random, traffic.columns));
    access.write = unit(random) < traffic.write_share;
    access.tag = n;
    Cycle at = now + (traffic.mean_gap == 0 ? 0 : within(random, 0, 2 * traffic.mean_gap));
    if (unit(random) < traffic.pause) at += within(random, 0, traffic.longest_pause);
    if (traffic.advance_every > 0)
      for (Cycle t = now; t < at; t += traffic.advance_every)
        channel.advance(t);
    now = at;
    channel.advance(now);
    for (std::uint64_t steps = 0; channel.full(access.write); ++steps) {
      if (steps > 100000) throw std::runtime_error("the channel makes no progress");
      now = std::max(now, channel.next() + 1);
      channel.advance(now);
    }
    channel.push(access, now);
    channel.prove_choice();
    sent.push_back({access, now});
  }
  drain(channel, now);
  return sent;
}

} // namespace umf::hw::dram::test
