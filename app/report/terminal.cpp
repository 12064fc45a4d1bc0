#include "app/report/terminal.h"

#include "app/report/figures.h"
#include "app/report/printable.h"
#include "app/report/quantities.h"
#include "hw/platform/energy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace umf::app {

namespace {

using Out = std::back_insert_iterator<std::string>;

std::string bar(double share, int width = 24) {
  const int full = static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * width));
  std::string text;
  for (int i = 0; i < width; ++i)
    text += i < full ? "█" : "·";
  return text;
}

std::string duration(Femtoseconds time) {
  return app::duration(time.seconds());
}

std::string recorded(std::int64_t ns) {
  return app::duration(static_cast<double>(ns) * 1e-9);
}

/// One line a tenant: the first repetitions, which warm the caches, and the last.
void repetitions(Out out, const ReplayRun& run) {
  if (run.repeats() == 1) return;
  constexpr std::size_t kFirst = 4;
  for (const auto& tenant : run.tenants) {
    const auto& took = tenant.result.repeats;
    std::string each;
    for (std::size_t r = 0; r < took.size(); ++r) {
      if (r == kFirst && took.size() > kFirst + 1) each += "  …";
      if (r < kFirst || r + 1 == took.size()) each += "  " + duration(took[r]);
    }
    fmt::format_to(out, "repeats        {} ×{}{}\n", took.size(), each,
                   run.tenants.size() == 1 ? "" : "   " + tenant.name);
  }
}

/// Open and hybrid: recorded times that could not be used.
void host_times(Out out, const ReplayRun& run) {
  const auto& host = run.totals.host;
  const auto line = [&](std::uint64_t count, const char* what) {
    if (count > 0) fmt::format_to(out, "host times     {} × {}\n", count, what);
  };
  line(host.untimed, "operation without the time this mode goes by: with the one before it");
  line(host.backwards, "time earlier than one it must follow");
  line(host.untimed_waits, "host wait without an end: the gap behind it is not known, taken as 0");
}

void head(Out out, const ReplayRun& run) {
  const auto& scenario = run.platform->scenario();
  fmt::format_to(out, "umfsim replay  {} on {}  (policy {}, {}, burst resolution)\n\n",
                 names_of_traces(run), scenario.general.name, scenario.policy, mode_name(run));
  fmt::format_to(
      out, "kernels        {}  ({} unknown: launch cost only)   copies {}   memsets {}\n",
      run.totals.kernels, run.totals.unknown_kernels, run.totals.copies, run.totals.memsets);
  Femtoseconds simulated{};
  for (const auto& row : run.rows)
    if (row.kind == hw::Operation::Kind::kernel) simulated += row.result.end - row.result.start;
  fmt::format_to(out, "simulated      {}   kernels alone {}{}\n", duration(run.makespan),
                 duration(simulated),
                 scenario.replay.mode == hw::ReplayMode::closed
                     ? ""
                     : "   first kernel to last " + duration(simulated_span(run)));
  fmt::format_to(out, "measured       {}   kernels alone {}   (as the trace recorded{})\n",
                 recorded(run.trace.span_ns), recorded(run.trace.measured_kernel_ns),
                 run.repeats() > 1 ? ", once" : "");
  repetitions(out, run);
  host_times(out, run);
  const Accuracy accuracy = accuracy_of(run);
  if (accuracy.all.kernels > 0)
    fmt::format_to(
        out,
        "per kernel     |simulated − measured| / measured: median {:.1f} %, P90 {:.1f} % "
        "of {} known kernels (untuned)\n",
        accuracy.all.median * 100, accuracy.all.p90 * 100, accuracy.all.kernels);
}

void tenants(Out out, const ReplayRun& run) {
  if (run.tenants.size() == 1) return;
  std::size_t width = 15;
  for (const auto& tenant : run.tenants)
    width = std::max(width, tenant.name.size() + 1);
  fmt::format_to(out, "\n{:<{}}{:>4} {:>7} {:>9} {:>13} {:>13} {:>13} {:>13} {:>11} {:>11}\n",
                 "tenant", width + 2, "gpu", "weight", "kernels", "done at", "kernels alone",
                 "step P50", "step P99", "read", "written");
  const auto figures = figures_of_tenants(run);
  const auto steps = step_times_of_tenants(run);
  for (std::size_t t = 0; t < run.tenants.size(); ++t) {
    const TenantRun& tenant = run.tenants[t];
    fmt::format_to(out, "  {:<{}}{:>4} {:>7} {:>9} {:>13} {:>13} {:>13} {:>13} {:>11} {:>11}\n",
                   tenant.name, width, tenant.gpu, tenant.weight, tenant.result.totals.kernels,
                   duration(figures[t].end), duration(figures[t].kernels), duration(steps[t].p50),
                   duration(steps[t].p99), decimal_bytes(figures[t].read),
                   decimal_bytes(figures[t].written));
  }
}

/// S10: what tenants have in common, and what clearing caches took.
void processes(Out out, const ReplayRun& run) {
  const hw::ProcessFigures& p = run.processes;
  if (p.tensors > 0 && run.platform->scenario().replay.processes == hw::ProcessStart::fork)
    fmt::format_to(out,
                   "\nprocesses      forked: {} of weights are not loaded again; {} pages ({}) "
                   "copied on write\n",
                   binary_bytes(p.again.count), p.copied_pages, binary_bytes(p.copied.count));
  else if (p.at_peak.bytes() > 0) {
    std::string where;
    for (std::size_t t = 0; t < p.at_peak.by_tier.size(); ++t)
      if (p.at_peak.by_tier[t] > 0)
        where += fmt::format("{}{} in {}", where.empty() ? "" : ", ",
                             binary_bytes(p.at_peak.by_tier[t]), run.platform->tiers()[t].name);
    fmt::format_to(out,
                   "\nprocesses      the same weights lie there more than once: {} too much at the "
                   "peak ({}), {} at the end; replay.processes=fork shares them\n",
                   binary_bytes(p.at_peak.bytes()), where, binary_bytes(p.at_end.bytes()));
  }
  if (p.clear_caches > 0)
    fmt::format_to(out, "\nclear cache    {} ×, {}\n", p.clear_caches, duration(p.clear_time));
}

void causes(Out out, const ReplayRun& run) {
  if (run.makespan.count == 0) return; // nothing ran
  const hw::CauseLedger ledger = causes_of(run);
  const TimeUnit unit = time_unit_for(run.makespan.seconds());
  fmt::format_to(out, "\nwhere the time went\n");
  for (std::size_t c = 0; c < hw::kCauses; ++c) {
    const auto cause = static_cast<hw::Cause>(c);
    const Femtoseconds time = ledger.of(cause);
    if (time.count == 0) continue;
    const double share = static_cast<double>(time.count) / static_cast<double>(run.makespan.count);
    fmt::format_to(out, "  {:<15}{} {:>13} {:>6.2f} %\n", hw::name_of(cause), bar(share),
                   app::duration(time.seconds(), unit), share * 100);
  }
}

/// The first column: the bars stand below one another however long the names are.
std::size_t name_width(const ReplayRun& run) {
  std::size_t width = 15;
  for (const auto& tier : run.platform->tiers())
    width = std::max(width, tier.name.size() + 1);
  for (const auto& link : run.platform->links())
    width = std::max(width, link->link_name().size() + 1);
  return width;
}

/// S11: what held it, each region at its own peak.
std::string peaks_of_regions(const hw::TierInstance& tier, std::uint64_t page) {
  std::string text;
  for (std::size_t r = 0; r < memory::kRegions; ++r) {
    const auto region = static_cast<memory::Region>(r);
    if (tier.frames->peak_used(region) == 0) continue;
    text += fmt::format("{} {} {}", text.empty() ? ":" : ",", memory::name_of(region),
                        binary_bytes(tier.frames->peak_used(region) * page));
  }
  return text;
}

void tiers(Out out, const ReplayRun& run) {
  const std::size_t width = name_width(run);
  const std::uint64_t page = run.platform->scenario().scheduler.page.count;
  fmt::format_to(out, "\n{:<{}}{:<26}{:>11} {:>11} {:>9}  {}\n", "tier", width + 2,
                 "peak occupancy", "read", "written", "busy", "latency at sm, mean");
  for (const auto& tier : run.platform->tiers()) {
    const auto& s = tier.module->statistics();
    const std::uint64_t peak = tier.frames->peak_used() * page;
    const std::uint64_t capacity = tier.spec->capacity().count;
    const auto& latency = s.latency[static_cast<std::size_t>(hw::Boundary::sm)];
    const double full =
        capacity == 0 ? 0.0 : static_cast<double>(peak) / static_cast<double>(capacity);
    fmt::format_to(out, "  {:<{}}{}  {:>11} {:>11} {:>7.1f} %  {}\n", tier.name, width, bar(full),
                   decimal_bytes(s.read_bytes), decimal_bytes(s.write_bytes),
                   media_busy(run, *tier.module).mean * 100,
                   latency.count() == 0 ? "-" : fmt::format("{:.0f} ns", latency.mean() / 1000.0));
    fmt::format_to(out, "  {:<{}}{} of {}{}\n", "", width, binary_bytes(peak),
                   binary_bytes(capacity), peaks_of_regions(tier, page));
  }
}

void links(Out out, const ReplayRun& run) {
  if (run.platform->links().empty()) return;
  const std::size_t width = name_width(run);
  fmt::format_to(out, "\n{:<{}}{:<26}{:>11} {:>11} {:>9}\n", "link", width + 2, "busier direction",
                 "tx payload", "rx payload", "busy");
  for (const auto& link : run.platform->links()) {
    const double busy = std::max(utilisation(run, link->tx()), utilisation(run, link->rx()));
    fmt::format_to(out, "  {:<{}}{}  {:>11} {:>11} {:>7.1f} %\n", link->link_name(), width,
                   bar(busy), decimal_bytes(link->statistics().tx_out),
                   decimal_bytes(link->statistics().rx_out), busy * 100);
  }
}

/// What pages hold that is of no use, of all GPUs: behind their tensors, and where bytes died.
void fragmentation(Out out, const ReplayRun& run) {
  Bytes padding, holes;
  scheduler::Counters all;
  for (std::uint32_t g = 0; g < run.platform->gpus(); ++g) {
    const scheduler::Brain& brain = run.platform->brain(g);
    padding += brain.peak_padding();
    holes += brain.peak_holes();
    all += brain.counters();
  }
  if (all.reclaimed.count == 0) return;
  fmt::format_to(out,
                 "\nfragmentation  {} of padding and {} of holes at their peaks; {} freed in parts "
                 "gave back {} pages\n",
                 binary_bytes(padding.count), binary_bytes(holes.count),
                 decimal_bytes(all.reclaimed.count), all.reclaimed_pages);
}

/// S7. Times are of the GPU whose pools were read only longest.
void degraded(Out out, const ReplayRun& run) {
  scheduler::DegradeCounters all;
  Femtoseconds longest{};
  for (std::uint32_t g = 0; g < run.platform->gpus(); ++g) {
    const scheduler::Brain& brain = run.platform->brain(g);
    all += brain.counters().degrade;
    longest = std::max(longest, brain.read_only_for(run.makespan));
  }
  std::string entered;
  for (std::size_t t = 0; t < scheduler::kTriggers; ++t)
    if (all.entered[t] > 0)
      entered += fmt::format("{}{} by {}", entered.empty() ? "" : ", ", all.entered[t],
                             scheduler::kTriggerNames[t]);
  if (entered.empty()) return;
  fmt::format_to(out,
                 "\ndegraded       a pool was read only for {} ({}); {} pages placed there and {} "
                 "writes to it all the same\n",
                 duration(longest), entered, all.forced_pages, all.forced_writes);
}

/// What the scheduler did, of all GPUs; nothing where nothing lay outside or moved.
void decisions(Out out, const ReplayRun& run) {
  scheduler::Counters all;
  for (std::uint32_t g = 0; g < run.platform->gpus(); ++g)
    all += run.platform->brain(g).counters();
  if (all.remote_pages + all.faults + all.promotions + all.demotions + all.syncs == 0) return;
  fmt::format_to(
      out,
      "\nscheduler      {} pages read or written outside, {} faulted; {} came closer, {} "
      "went farther, {} of them back to a copy; {} copied, {} moves refused\n",
      all.remote_pages, all.faults, all.promotions, all.demotions, all.returned,
      decimal_bytes(all.moved.count), all.refused);
  if (all.syncs > 0)
    fmt::format_to(out,
                   "coherence      {} writes to the pool staged in HBM: {} pages, {}; {} waited\n",
                   all.syncs, all.synced_pages, decimal_bytes(all.synced.count), all.crowded);
  const scheduler::PrefetchCounters& p = all.prefetch;
  if (p.issued > 0)
    fmt::format_to(out, "prefetch       {} pages: {} in time, {} late, {} wasted, {} refused\n",
                   p.issued, p.useful, p.late, p.wasted, p.refused);
}

/// S8 and S9, where they ran.
void loops(Out out, const ReplayRun& run) {
  policy::Collections gc;
  for (std::uint32_t g = 0; g < run.platform->gpus(); ++g)
    if (const auto* collected = run.platform->brain(g).collections()) gc += *collected;
  const std::uint64_t page = run.platform->scenario().scheduler.page.count;
  const policy::Tier* host = run.platform->brain(0).ground().first(policy::TierClass::host);
  if (gc.runs > 0)
    fmt::format_to(
        out,
        "collection     {} runs read {} page-table entries; {} left the pool{}, {} of it "
        "was wanted again\n",
        gc.runs, gc.scanned, decimal_bytes(gc.freed * page),
        host == nullptr ? " (no host memory to send it to)" : "", decimal_bytes(gc.regret * page));
  for (std::uint32_t g = 0; g < run.platform->gpus(); ++g)
    if (const policy::Tuning* tuning = run.platform->brain(g).tuning())
      fmt::format_to(out,
                     "tuner          GPU {}: {} periods, {} changes; at the end {:.4g} of HBM in "
                     "reserve, {} rows prefetched\n",
                     g, tuning->periods, tuning->changes(), tuning->reserve,
                     tuning->prefetch_window);
}

void energy(Out out, const ReplayRun& run) {
  if (run.makespan.count == 0) return;
  const hw::EnergySpent spent = hw::energy_spent(*run.platform, run.makespan);
  const double total = spent.total().joules();
  Femtojoules tiers{}, links{};
  for (const Femtojoules tier : spent.tiers)
    tiers += tier;
  for (const Femtojoules link : spent.links)
    links += link;
  const auto share = [&](Femtojoules part) {
    return total > 0 ? part.joules() / total * 100 : 0.0;
  };
  fmt::format_to(out,
                 "\nenergy         {:.3g} J, {:.0f} W on average: compute {:.0f} %, L2 {:.0f} %, "
                 "tiers {:.0f} %, links {:.0f} %, idle {:.0f} %  (estimates, see README)\n",
                 total, total / run.makespan.seconds(), share(spent.compute), share(spent.l2),
                 share(tiers), share(links), share(spent.idle));
}

/// Four rules a line, each with its bytes and kernels.
std::string bytes_by_rule(const traces::Summary& trace) {
  std::string text = "bytes by rule  ";
  int shown = 0;
  for (std::size_t r = 0; r < traces::Summary::kRules; ++r) {
    const auto& inferred = trace.inferred[r];
    if (inferred.bytes.count == 0) continue;
    text += shown == 0 ? "" : shown % 4 == 0 ? "\n               " : "   ";
    text += fmt::format("{} {} ({})", stream::name_of(static_cast<stream::Rule>(r)),
                        decimal_bytes(inferred.bytes.count), inferred.kernels);
    ++shown;
  }
  return text + (shown == 0 ? "none known\n" : "\n");
}

void provenance(Out out, const ReplayRun& run) {
  fmt::format_to(out, "\n{}", bytes_by_rule(run.trace));
  for (const auto& oddity : run.trace.oddities)
    fmt::format_to(out, "oddity         {} × {}: {} (first at {})\n", oddity.count, oddity.code,
                   oddity.sentence, oddity.first_place);
  const auto wrong = std::count_if(run.ledger.begin(), run.ledger.end(),
                                   [](const auto& check) { return !check.ok(); });
  fmt::format_to(out, "ledger         {} of {} checks balance{}\n",
                 run.ledger.size() - static_cast<std::size_t>(wrong), run.ledger.size(),
                 wrong == 0 ? ": ok" : "");
  for (const auto& check : run.ledger)
    if (!check.ok())
      fmt::format_to(out, "  MISMATCH     {}: {} against {}\n", check.name, check.left,
                     check.right);
}

} // namespace

std::string terminal_report(const ReplayRun& run) {
  std::string text;
  const Out out = std::back_inserter(text);
  head(out, run);
  tenants(out, run);
  processes(out, run);
  causes(out, run);
  tiers(out, run);
  fragmentation(out, run);
  links(out, run);
  decisions(out, run);
  degraded(out, run);
  loops(out, run);
  energy(out, run);
  provenance(out, run);
  return printable(std::move(text));
}

} // namespace umf::app
