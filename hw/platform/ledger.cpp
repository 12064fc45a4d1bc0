#include "hw/platform/ledger.h"

#include "hw/platform/energy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace umf::hw {

namespace {

/// By reference: gcc 12 takes fright at moving temporaries into the list.
void prove(std::vector<LedgerCheck>& checks, const std::string& name, std::uint64_t left,
           std::uint64_t right) {
  LedgerCheck& check = checks.emplace_back();
  check.name = name;
  check.left = left;
  check.right = right;
}

void check_l2(const Platform& platform, std::uint32_t g, std::vector<LedgerCheck>& checks) {
  const std::string gpu = gpu_name(g) + ": ";
  const L2Statistics& l2 = platform.gpu(g).l2().statistics();
  const SchedulerStatistics& unit = platform.scheduler(g).statistics();
  prove(checks, gpu + "read sectors asked = L2 hits + demand fills", l2.asked_read,
        l2.hits + l2.fills);
  prove(checks, gpu + "L2 fills = demand reads the scheduler took", l2.fills, unit.demand_fills);
  prove(checks, gpu + "bytes stored = overwritten in L2 + written back + died dirty + dirty at end",
        l2.stored, l2.overwritten + l2.written_back + l2.discarded + platform.gpu(g).l2().dirty());
  prove(checks, gpu + "L2 write-backs = writes the scheduler took + those whose tensor had died",
        l2.written_back, unit.write_backs + unit.dead_writes);
  prove(checks, gpu + "pages copied: read, alone or by an access = written",
        unit.copied_read + unit.carried, unit.copied_written);
  prove(checks, gpu + "pages moved × size = bytes copied", platform.brain(g).counters().moved.count,
        unit.copied_written);
  prove(checks, gpu + "bytes read of the staging buffer = written to the pool", unit.synced_read,
        unit.synced_written);
  prove(checks, gpu + "bytes of syncs = written to the pool",
        platform.brain(g).counters().synced.count, unit.synced_written);
}

struct Sent {
  std::uint64_t read = 0, written = 0;
  std::uint64_t saved_read = 0, saved_written = 0; ///< of them, by packing
};

Sent sent_by_schedulers(const Platform& platform) {
  Sent sent;
  for (std::uint32_t g = 0; g < platform.gpus(); ++g) {
    const SchedulerStatistics& unit = platform.scheduler(g).statistics();
    sent.read += unit.demand_fills + unit.copy_bytes_read + unit.copied_read + unit.synced_read;
    sent.written +=
        unit.write_backs + unit.copy_bytes_written + unit.copied_written + unit.synced_written;
    sent.saved_read += unit.saved_read;
    sent.saved_written += unit.saved_written;
  }
  return sent;
}

std::uint64_t staging_frames(const Platform& platform, std::size_t t) {
  std::uint64_t frames = 0;
  for (std::uint32_t g = 0; g < platform.gpus(); ++g)
    frames += platform.brain(g).staging_frames(static_cast<memory::TierIndex>(t));
  return frames;
}

/// By region as the page tables have it, against what frames were taken for.
void check_regions(const Platform& platform, std::size_t t, std::vector<LedgerCheck>& checks) {
  const std::uint64_t page = platform.scenario().scheduler.page.count;
  std::array<std::uint64_t, memory::kRegions> mapped{};
  for (std::uint32_t g = 0; g < platform.gpus(); ++g)
    platform.brain(g).table().each([&](const memory::PageRun& run) {
      if (run.tier == t && run.packed == 0)
        mapped[static_cast<std::size_t>(memory::region_at(run.first * page))] += run.count;
    });
  const TierInstance& tier = platform.tiers()[t];
  mapped[static_cast<std::size_t>(memory::Region::activation)] += staging_frames(platform, t);
  for (std::uint32_t g = 0; g < platform.gpus(); ++g)
    for (std::size_t r = 0; r < memory::kRegions; ++r)
      mapped[r] += platform.brain(g)
                       .packed(static_cast<memory::TierIndex>(t))
                       .frames_used(static_cast<memory::Region>(r));
  std::uint64_t sum = 0;
  for (std::size_t r = 0; r < memory::kRegions; ++r) {
    const auto region = static_cast<memory::Region>(r);
    sum += tier.frames->used(region);
    prove(checks, tier.name + ": " + std::string(name_of(region)) + " pages = frames taken",
          mapped[r] * page, tier.frames->used(region) * page);
  }
  prove(checks, tier.name + ": regions sum to the occupancy", sum * page,
        tier.frames->used() * page);
}

void check_tiers(const Platform& platform, std::vector<LedgerCheck>& checks) {
  Sent served;
  for (std::size_t t = 0; t < platform.tiers().size(); ++t) {
    const TierInstance& tier = platform.tiers()[t];
    served.read += tier.module->statistics().read_bytes;
    served.written += tier.module->statistics().write_bytes;
    std::uint64_t pages = staging_frames(platform, t);
    for (std::uint32_t g = 0; g < platform.gpus(); ++g) {
      const scheduler::Brain& brain = platform.brain(g);
      const auto at = static_cast<memory::TierIndex>(t);
      pages +=
          brain.table().resident(at) - brain.table().packed(at) + brain.packed(at).frames_used();
      prove(checks,
            fmt::format("{}: packed pages of {} = those of its table", tier.name, gpu_name(g)),
            brain.packed(at).pages(), brain.table().packed(at));
    }
    const std::uint64_t page = platform.scenario().scheduler.page.count;
    prove(checks,
          tier.name + ": pages resident, of slabs and of staging buffers × size = occupancy",
          pages * page, tier.frames->used() * page);
    check_regions(platform, t, checks);
  }
  const Sent sent = sent_by_schedulers(platform);
  prove(checks, "bytes read of tiers, and saved by packing = asked by schedulers",
        served.read + sent.saved_read, sent.read);
  prove(checks, "bytes written to tiers, and saved by packing = sent by schedulers",
        served.written + sent.saved_written, sent.written);
}

/// The nearest whole byte, as summaries have it.
std::uint64_t carried(const Platform& platform, ResourceId resource) {
  return static_cast<std::uint64_t>(platform.clock().network().carried(resource) + 0.5);
}

/// What was sampled in windows adds up to what was counted over the run.
void check_windows(const Platform& platform, std::vector<LedgerCheck>& checks) {
  const Sampler& sampler = platform.sampler();
  const Windows& windows = sampler.windows();
  const auto check = [&](std::size_t column, std::uint64_t total) {
    prove(checks, windows.columns()[column].name + ": sum of windows = total", windows.sum(column),
          total);
  };
  for (std::size_t t = 0; t < platform.tiers().size(); ++t) {
    const TierStatistics& s = platform.tiers()[t].module->statistics();
    check(sampler.tier_column(t) + Sampler::read_bytes, s.read_bytes);
    check(sampler.tier_column(t) + Sampler::write_bytes, s.write_bytes);
  }
  for (std::size_t l = 0; l < platform.links().size(); ++l) {
    check(sampler.link_column(l) + Sampler::tx_bytes, carried(platform, platform.links()[l]->tx()));
    check(sampler.link_column(l) + Sampler::rx_bytes, carried(platform, platform.links()[l]->rx()));
  }
  for (std::uint32_t g = 0; g < platform.gpus(); ++g) {
    const auto& counters = platform.brain(g).counters();
    const std::size_t first = sampler.gpu_column(g);
    check(first + Sampler::remote_hits, counters.remote_hits);
    check(first + Sampler::faults, counters.faults);
    check(first + Sampler::migrated_bytes, counters.moved.count);
    check(first + Sampler::read_only_fs,
          static_cast<std::uint64_t>(platform.brain(g).read_only_for(sim_now()).count));
    if (const policy::Collections* gc = platform.brain(g).collections())
      check(first + Sampler::cause_fs + kCauses + Sampler::collected_bytes,
            gc->freed * platform.scenario().scheduler.page.count);
    std::uint64_t agree = 0;
    for (std::size_t c = 0; c < kCauses; ++c) {
      const Femtoseconds total = platform.gpu(g).causes().of(static_cast<Cause>(c));
      agree +=
          windows.sum(first + Sampler::cause_fs + c) == static_cast<std::uint64_t>(total.count);
    }
    prove(checks, gpu_name(g) + ": causes whose windows sum to the run's", agree, kCauses);
  }
}

/// Counted by tiers, links and dies on one side, carried home by bursts on the other.
void check_energy(const Platform& platform, const ReplayTotals& totals,
                  std::vector<LedgerCheck>& checks) {
  const auto picojoules = [](Femtojoules energy) {
    return static_cast<std::uint64_t>(energy.count / 1000);
  };
  prove(checks, "energy of tiers, links and dies = of operations, moves and loose writes (pJ)",
        picojoules(energy_spent(platform, {}).dynamic()),
        picojoules(energy_accounts(platform, totals).total()));
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
    prove(checks, link->link_name() + ".tx: bytes in = bytes out", s.tx_in, s.tx_out);
    prove(checks, link->link_name() + ".rx: bytes in = bytes out", s.rx_in, s.rx_out);
  }
  std::uint64_t copied = 0;
  for (std::uint32_t g = 0; g < platform.gpus(); ++g)
    copied += platform.scheduler(g).statistics().copy_bytes_read +
              platform.scheduler(g).statistics().copy_bytes_written;
  prove(checks, "copy engines: bytes read + written = sides of the trace's copies", copied,
        totals.copy_side_bytes);
  for (std::uint32_t g = 0; g < platform.gpus(); ++g)
    prove(checks, gpu_name(g) + ": causes of time sum to the makespan (fs)",
          static_cast<std::uint64_t>(platform.gpu(g).causes().total().count),
          static_cast<std::uint64_t>(makespan.count));
  check_windows(platform, checks);
  check_energy(platform, totals, checks);
  prove(checks, "payloads in flight at the end = 0", platform.payloads().in_flight(), 0);
  return checks;
}

bool balanced(const std::vector<LedgerCheck>& checks) {
  return std::all_of(checks.begin(), checks.end(), [](const LedgerCheck& c) { return c.ok(); });
}

} // namespace umf::hw
