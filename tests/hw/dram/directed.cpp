#include "tests/hw/dram/directed.h"

namespace umf::hw::dram::test {

Channel::Config quiet(const Organisation& organisation, const Timings& timings) {
  Channel::Config config;
  config.organisation = organisation;
  config.timings = timings;
  config.controller.refresh = RefreshMode::none;
  config.age_cap = kNever;
  return config;
}

Observed watch(const Channel::Config& config, const std::vector<Step>& steps, const Watch& watch) {
  std::vector<Command> log;
  std::vector<Done> done;
  Channel channel(config, done);
  channel.log_to(&log);
  std::size_t next = 0, seen = 0, data = 0;
  std::uint32_t count = 0;
  for (Cycle now = 0; now < 200'000; ++now) {
    for (; next < steps.size() && steps[next].at == now; ++next)
      channel.push(steps[next].access, now);
    channel.advance(now + 1);
    for (; seen < log.size(); ++seen) {
      const Command& command = log[seen];
      // Data of reads follow in the order of their commands.
      while (command.order == Order::read && done[data].write)
        ++data;
      const Cycle end = command.order == Order::read ? done[data++].at : -1;
      if (command.order != watch.order || command.bank != watch.bank || count++ != watch.nth)
        continue;
      return {command.at, now, end};
    }
  }
  return {};
}

Timings smallest(const Timings& timings) {
  Timings t;
  t.clock = timings.clock;
  t.refresh_banks = timings.refresh_banks;
  t.burst = t.tCL = t.tCWL = t.tRCDRD = t.tRCDWR = t.tRP = t.tRAS = t.tRC = 1;
  t.tCCDS = t.tCCDL = t.tCCDR = t.tCCDSWR = t.tCCDLWR = t.tRRDS = t.tRRDL = t.tFAW = 1;
  t.tRTP = t.tWR = t.tWTRS = t.tWTRL = t.tRTW = t.tPPD = t.tRFCab = t.tRFCpb = t.tRREFD = 1;
  t.tRTRS = 0;
  t.tREFI = 4096;
  t.act_clocks = t.column_clocks = 1;
  return t;
}

} // namespace umf::hw::dram::test
