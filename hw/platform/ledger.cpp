#include "hw/platform/ledger.h"

#include <algorithm>

namespace umf::hw {

namespace {

void check_l2(const Platform& platform, std::uint32_t g, std::vector<LedgerCheck>& checks) {
  const std::string gpu = gpu_name(g) + ": ";
  const L2Statistics& l2 = platform.gpu(g).l2().statistics();
  const SchedulerStatistics& unit = platform.scheduler(g).statistics();
  checks.push_back(
      {gpu + "read sectors asked = L2 hits + demand fills", l2.asked_read, l2.hits + l2.fills});
  checks.push_back(
      {gpu + "L2 fills = demand reads the scheduler took", l2.fills, unit.demand_fills});
  checks.push_back(
      {gpu + "bytes stored = overwritten in L2 + written back + died dirty + dirty at end",
       l2.stored, l2.overwritten + l2.written_back + l2.discarded + platform.gpu(g).l2().dirty()});
  checks.push_back(
      {gpu + "L2 write-backs = writes the scheduler took + those whose tensor had died",
       l2.written_back, unit.write_backs + unit.dead_writes});
  checks.push_back({gpu + "pages copied: read = written", unit.copied_read, unit.copied_written});
  checks.push_back({gpu + "pages moved × size = bytes copied",
                    platform.brain(g).counters().moved.count, unit.copied_written});
}

struct Sent {
  std::uint64_t read = 0, written = 0;
};

Sent sent_by_schedulers(const Platform& platform) {
  Sent sent;
  for (std::uint32_t g = 0; g < platform.gpus(); ++g) {
    const SchedulerStatistics& unit = platform.scheduler(g).statistics();
    sent.read += unit.demand_fills + unit.copy_bytes_read + unit.copied_read;
    sent.written += unit.write_backs + unit.copy_bytes_written + unit.copied_written;
  }
  return sent;
}

void check_tiers(const Platform& platform, std::vector<LedgerCheck>& checks) {
  Sent served;
  for (std::size_t t = 0; t < platform.tiers().size(); ++t) {
    const TierInstance& tier = platform.tiers()[t];
    served.read += tier.module->statistics().read_bytes;
    served.written += tier.module->statistics().write_bytes;
    std::uint64_t pages = 0;
    for (std::uint32_t g = 0; g < platform.gpus(); ++g)
      pages += platform.brain(g).table().resident(static_cast<memory::TierIndex>(t));
    const std::uint64_t page = platform.scenario().scheduler.page.count;
    checks.push_back({tier.name + ": resident pages × size = occupancy", pages * page,
                      tier.frames->used() * page});
  }
  const Sent sent = sent_by_schedulers(platform);
  checks.push_back({"bytes read of tiers = bytes asked by schedulers", served.read, sent.read});
  checks.push_back(
      {"bytes written to tiers = bytes sent by schedulers", served.written, sent.written});
}

} // namespace

std::vector<LedgerCheck> balance(const Platform& platform, const ReplayTotals& totals,
                                 Femtoseconds makespan) {
  std::vector<LedgerCheck> checks;
  for (std::uint32_t g = 0; g < platform.gpus(); ++g)
    check_l2(platform, g, checks);
  check_tiers(platform, checks);
  for (const auto& link : platform.links()) {
    const LinkStatistics& s = link->statistics();
    checks.push_back({link->link_name() + ".tx: bytes in = bytes out", s.tx_in, s.tx_out});
    checks.push_back({link->link_name() + ".rx: bytes in = bytes out", s.rx_in, s.rx_out});
  }
  std::uint64_t copied = 0;
  for (std::uint32_t g = 0; g < platform.gpus(); ++g)
    copied += platform.scheduler(g).statistics().copy_bytes_read +
              platform.scheduler(g).statistics().copy_bytes_written;
  checks.push_back({"copy engines: bytes read + written = sides of the trace's copies", copied,
                    totals.copy_side_bytes});
  for (std::uint32_t g = 0; g < platform.gpus(); ++g)
    checks.push_back({gpu_name(g) + ": causes of time sum to the makespan (fs)",
                      static_cast<std::uint64_t>(platform.gpu(g).causes().total().count),
                      static_cast<std::uint64_t>(makespan.count)});
  checks.push_back({"payloads in flight at the end = 0", platform.payloads().in_flight(), 0});
  return checks;
}

bool balanced(const std::vector<LedgerCheck>& checks) {
  return std::all_of(checks.begin(), checks.end(), [](const LedgerCheck& c) { return c.ok(); });
}

} // namespace umf::hw
