#include "app/report/files.h"

#include "app/report/comparisons.h"
#include "app/report/energy.h"
#include "app/report/figures.h"
#include "app/report/json_text.h"
#include "app/report/timeline.h"
#include "app/report/timeseries.h"
#include "app/version.h"
#include "traces/places.h"
#include "traces/whole_file.h"

#include <fmt/format.h>

#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <system_error>
#include <utility>
#include <vector>

namespace umf::app {

using Json = nlohmann::ordered_json;

namespace {

Json latency_json(const hw::TierStatistics& statistics) {
  Json all = Json::object();
  for (std::size_t b = 0; b < hw::kBoundaries; ++b) {
    const Histogram& h = statistics.latency[b];
    if (h.count() == 0) continue;
    const auto ns = [](auto picoseconds) { return static_cast<double>(picoseconds) / 1000.0; };
    all[std::string(hw::name_of(static_cast<hw::Boundary>(b)))] = {{"mean", ns(h.mean())},
                                                                   {"p50", ns(h.percentile(50))},
                                                                   {"p95", ns(h.percentile(95))},
                                                                   {"p99", ns(h.percentile(99))},
                                                                   {"max", ns(h.max())}};
  }
  return all;
}

Json regions_json(const ReplayRun& run, const hw::TierInstance& tier) {
  const std::uint64_t page = run.platform->scenario().scheduler.page.count;
  Json regions = Json::object();
  for (std::size_t r = 0; r < memory::kRegions; ++r) {
    const auto region = static_cast<memory::Region>(r);
    regions[std::string(memory::name_of(region))] = {
        {"peak_bytes", tier.frames->peak_used(region) * page},
        {"end_bytes", tier.frames->used(region) * page}};
  }
  return regions;
}

Json tiers_json(const ReplayRun& run) {
  Json tiers = Json::object();
  std::uint64_t all_reads = 0;
  for (const auto& tier : run.platform->tiers())
    all_reads += tier.module->statistics().demand_read_bytes;
  for (const auto& tier : run.platform->tiers()) {
    const auto& s = tier.module->statistics();
    const Busy busy = media_busy(run, *tier.module);
    tiers[tier.name] = {
        {"read_bytes", s.read_bytes},
        {"write_bytes", s.write_bytes},
        {"peak_bytes", tier.frames->peak_used() * run.platform->scenario().scheduler.page.count},
        {"capacity_bytes", tier.spec->capacity().count},
        {"utilisation", busy.mean},
        {"max_channel_utilisation", busy.most},
        {"hit_rate", all_reads == 0 ? 0.0
                                    : static_cast<double>(s.demand_read_bytes) /
                                          static_cast<double>(all_reads)},
        {"energy_j", exact_joules(s.read_energy + s.write_energy)},
        {"regions", regions_json(run, tier)},
        {"latency_ns", latency_json(s)}};
  }
  return tiers;
}

Json links_json(const ReplayRun& run) {
  Json links = Json::object();
  for (const auto& link : run.platform->links()) {
    const auto& s = link->statistics();
    const auto& network = run.platform->clock().network();
    const double tx = utilisation(run, link->tx()), rx = utilisation(run, link->rx());
    links[link->link_name()] = {
        {"tx_bytes", static_cast<std::uint64_t>(network.carried(link->tx()) + 0.5)},
        {"rx_bytes", static_cast<std::uint64_t>(network.carried(link->rx()) + 0.5)},
        {"payload_bytes", s.tx_out + s.rx_out},
        {"utilisation", std::max(tx, rx)},
        {"tx_utilisation", tx},
        {"rx_utilisation", rx},
        {"energy_j", exact_joules(s.tx_energy + s.rx_energy)},
        {"replays", 0}}; // burst resolution has no bit errors
  }
  return links;
}

/// In pages. Accuracy: of those that came or were coming, the accessed ones. Coverage: of accesses
/// to pages outside or prefetched, those that found them there. Timeliness: of those accessed, the
/// ones that were there.
Json prefetch_json(const scheduler::Counters& brain) {
  const scheduler::PrefetchCounters& p = brain.prefetch;
  const auto share = [](std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
  };
  return {{"issued", p.issued},
          {"useful", p.useful},
          {"late", p.late},
          {"wasted", p.wasted},
          {"refused", p.refused},
          {"waiting", p.issued - p.useful - p.late - p.wasted - p.refused},
          {"hit_rate", share(p.useful, p.issued)},
          {"accuracy", share(p.useful + p.late, p.useful + p.late + p.wasted)},
          {"coverage", share(p.useful, p.useful + brain.remote_pages)},
          {"timeliness", share(p.useful, p.useful + p.late)}};
}

/// S5. Crowded writes found the staging buffer full or their pages in a sync; torn accesses are to
/// pages of the pool that others wrote, or read, at the time.
Json worm_json(const scheduler::Counters& brain, const hw::SchedulerStatistics& unit) {
  return {{"synced_pages", brain.synced_pages},
          {"synced_bytes", brain.synced.count},
          {"joined_writes", brain.joined},
          {"crowded_writes", brain.crowded},
          {"torn_accesses", unit.torn}};
}

/// Pages whose values have fewer bits than their tensor's, and what of the reads came from them.
Json packing_json(const scheduler::Counters& brain, const hw::SchedulerStatistics& unit) {
  return {{"packed_pages", brain.packed},
          {"unpacked_pages", brain.unpacked},
          {"read_bytes", unit.packed_read},
          {"saved_read_bytes", unit.saved_read},
          {"saved_write_bytes", unit.saved_written}};
}

/// S7: times that a pool became read only, and what happened to it all the same.
Json degrade_json(const scheduler::DegradeCounters& counters) {
  Json entered = Json::object();
  for (std::size_t t = 0; t < scheduler::kTriggers; ++t)
    entered[std::string(scheduler::kTriggerNames[t])] = counters.entered[t];
  return {{"entered", std::move(entered)},
          {"forced_writes", counters.forced_writes},
          {"forced_pages", counters.forced_pages},
          {"declined_pages", counters.declined}};
}

/// S8, of all GPUs; null where no policy collects. Regret: what was freed and accessed later.
Json gc_json(const ReplayRun& run, const policy::Collections& gc, Femtoseconds scanning) {
  const auto& platform = *run.platform;
  if (platform.brain(0).collections() == nullptr) return nullptr;
  const std::uint64_t page = platform.scenario().scheduler.page.count;
  const policy::Tier* host = platform.brain(0).ground().first(policy::TierClass::host);
  return {{"runs", gc.runs},
          {"scanned_pages", gc.scanned},
          {"scan_ns", exact_ns(scanning)},
          {"to", host == nullptr ? Json(nullptr) : Json(host->name)},
          {"freed_pages", gc.freed},
          {"freed_bytes", gc.freed * page},
          {"regret_pages", gc.regret},
          {"regret_bytes", gc.regret * page},
          {"fault_pages", gc.faults},
          {"fault_wait_ns", exact_ns(gc.waited)}};
}

/// S9, a GPU each; null where no policy tunes itself.
Json tuner_json(const ReplayRun& run) {
  if (run.platform->brain(0).tuning() == nullptr) return nullptr;
  Json gpus = Json::array();
  for (std::uint32_t g = 0; g < run.platform->gpus(); ++g) {
    const policy::Tuning& tuning = *run.platform->brain(g).tuning();
    gpus.push_back({{"samples", tuning.samples},
                    {"periods", tuning.periods},
                    {"changes", tuning.changes()},
                    {"reserve_raised", tuning.raised},
                    {"reserve_lowered", tuning.lowered},
                    {"prefetch_window_changes", tuning.windows},
                    {"hbm_reserve_ratio", tuning.reserve},
                    {"prefetch_window", tuning.prefetch_window}});
  }
  return gpus;
}

Json scheduler_json(const ReplayRun& run) {
  hw::SchedulerStatistics unit;
  scheduler::Counters brain;
  policy::Collections gc;
  std::uint64_t padding = 0, holes = 0;
  Femtoseconds degraded{}; // of the GPU that was longest
  for (std::uint32_t g = 0; g < run.platform->gpus(); ++g) {
    degraded = std::max(degraded, run.platform->brain(g).read_only_for(run.makespan));
    const auto& s = run.platform->scheduler(g).statistics();
    unit.translations += s.translations;
    unit.tlb_hits += s.tlb_hits;
    unit.parked += s.parked;
    unit.fault_batches += s.fault_batches;
    unit.operations += s.operations;
    unit.torn += s.torn;
    unit.saved_read += s.saved_read;
    unit.saved_written += s.saved_written;
    unit.packed_read += s.packed_read;
    unit.scanning += s.scanning;
    if (const auto* collected = run.platform->brain(g).collections()) gc += *collected;
    brain += run.platform->brain(g).counters();
    padding += run.platform->brain(g).peak_padding().count;
    holes += run.platform->brain(g).peak_holes().count;
  }
  const double seconds = run.makespan.seconds();
  return {{"translations", unit.translations},
          {"tlb_hit_rate", unit.translations == 0 ? 0.0
                                                  : static_cast<double>(unit.tlb_hits) /
                                                        static_cast<double>(unit.translations)},
          {"remote_hits", brain.remote_hits},
          {"unmet_fault_pages", brain.unmet},
          {"fault_batches", unit.fault_batches},
          {"faults", brain.faults},
          {"faults_per_s", seconds > 0 ? static_cast<double>(brain.faults) / seconds : 0.0},
          {"first_touch_pages", brain.first_touches},
          {"migrated_bytes", brain.moved.count},
          {"remote_pages", brain.remote_pages},
          {"prefetch", prefetch_json(brain)},
          {"promotions", brain.promotions},
          {"demotions", brain.demotions},
          {"returned_pages", brain.returned},
          {"host_operations", unit.operations},
          {"gc_runs", gc.runs},
          {"gc", gc_json(run, gc, unit.scanning)},
          {"tuner", tuner_json(run)},
          {"worm_syncs", brain.syncs},
          {"worm", worm_json(brain, unit)},
          {"packing", packing_json(brain, unit)},
          {"degraded_ns", exact_ns(degraded)},
          {"degrade", degrade_json(brain.degrade)},
          {"commands_refused", brain.refused},
          {"parked", unit.parked},
          {"reclaimed_bytes", brain.reclaimed.count},
          {"reclaimed_pages", brain.reclaimed_pages},
          {"peak_page_padding_bytes", padding},
          {"peak_page_holes_bytes", holes}};
}

Json l2_json(const ReplayRun& run) {
  hw::L2Statistics all;
  std::uint64_t dirty = 0;
  for (std::uint32_t g = 0; g < run.platform->gpus(); ++g) {
    const auto& s = run.platform->gpu(g).l2().statistics();
    all.asked_read += s.asked_read;
    all.hits += s.hits;
    all.fills += s.fills;
    all.over_fetch += s.over_fetch;
    all.stored += s.stored;
    all.written_back += s.written_back;
    all.discarded += s.discarded;
    dirty += run.platform->gpu(g).l2().dirty();
  }
  return {{"read_bytes", all.asked_read},
          {"hit_bytes", all.hits},
          {"hit_rate", all.asked_read == 0
                           ? 0.0
                           : static_cast<double>(all.hits) / static_cast<double>(all.asked_read)},
          {"fill_bytes", all.fills},
          {"over_fetch_bytes", all.over_fetch},
          {"stored_bytes", all.stored},
          {"written_back_bytes", all.written_back},
          {"died_dirty_bytes", all.discarded},
          {"dirty_at_end_bytes", dirty}};
}

Json deviation_json(const Deviation& deviation) {
  return {{"kernels", deviation.kernels}, {"median", deviation.median}, {"p90", deviation.p90}};
}

Json accuracy_json(const ReplayRun& run) {
  const Accuracy accuracy = accuracy_of(run);
  Json by_bound = Json::object();
  for (const auto& [bound, deviation] : accuracy.by_bound)
    by_bound[bound] = deviation_json(deviation);
  Json all = deviation_json(accuracy.all);
  all["unknown_kernels"] = accuracy.unknown;
  all["unmeasured_kernels"] = accuracy.unmeasured;
  all["by_bound"] = by_bound;
  return all;
}

Json ledger_json(const ReplayRun& run) {
  Json checks = Json::array();
  for (const auto& check : run.ledger)
    checks.push_back(
        {{"name", check.name}, {"ok", check.ok()}, {"left", check.left}, {"right", check.right}});
  return {{"ok", hw::balanced(run.ledger)}, {"checks", checks}};
}

/// Places name a trace as the command line did; the same run from elsewhere must not differ.
void shorten_places(Json& oddities, const ReplayRun& run) {
  for (auto& oddity : oddities) {
    const std::string place = oddity.at("first_place");
    for (const auto& tenant : run.tenants)
      if (const std::string given = tenant.trace.string(); place.starts_with(given)) {
        oddity["first_place"] = tenant.trace.filename().string() + place.substr(given.size());
        break;
      }
  }
}

/// Every repetition replays the same, so that what is counted of all is a multiple.
Json trace_json(const ReplayRun& run) {
  Json full = traces::to_json(run.trace);
  shorten_places(full.at("oddities"), run);
  const std::uint64_t repeats = run.repeats();
  return {{"source", names_of_traces(run)},
          {"format", full.at("format")},
          {"kernels", run.totals.kernels / repeats},
          {"unknown_kernels", run.totals.unknown_kernels / repeats},
          {"copies", run.totals.copies / repeats},
          {"memsets", run.totals.memsets / repeats},
          {"streams", full.at("streams")},
          {"measured_kernel_ns", run.trace.measured_kernel_ns},
          {"busy_ns", run.trace.busy_ns},
          {"span_ns", run.trace.span_ns},
          {"inferred_bytes", full.at("inferred_bytes")},
          {"kernels_by_rule", full.at("kernels_by_rule")},
          {"oddities", full.at("oddities")},
          {"copies_without_host_side", run.totals.skipped_host_side / repeats}};
}

Json tenants_json(const ReplayRun& run) {
  Json tenants = Json::array();
  const auto figures = figures_of_tenants(run);
  const auto steps = step_times_of_tenants(run);
  for (std::size_t t = 0; t < run.tenants.size(); ++t) {
    const TenantRun& tenant = run.tenants[t];
    const hw::ReplayTotals& totals = tenant.result.totals;
    Json repeats = Json::array();
    for (const Femtoseconds took : tenant.result.repeats)
      repeats.push_back({{"simulated_ns", exact_ns(took)}});
    tenants.push_back({{"name", tenant.name},
                       {"trace", tenant.trace.filename().string()},
                       {"gpu", tenant.gpu},
                       {"gpus", tenant.result.gpus},
                       {"weight", tenant.weight},
                       {"kernels", totals.kernels},
                       {"unknown_kernels", totals.unknown_kernels},
                       {"copies", totals.copies},
                       {"memsets", totals.memsets},
                       {"simulated_ns", exact_ns(figures[t].end)},
                       {"kernels_ns", exact_ns(figures[t].kernels)},
                       {"measured_span_ns", tenant.summary.span_ns},
                       {"read_bytes", figures[t].read},
                       {"write_bytes", figures[t].written},
                       {"dram_bytes", figures[t].dram},
                       {"host_times",
                        {{"untimed_operations", totals.host.untimed},
                         {"backwards", totals.host.backwards},
                         {"untimed_waits", totals.host.untimed_waits}}},
                       {"repeats", repeats}});
    if (run.tenants.size() > 1)
      tenants.back()["steps"] = {{"count", steps[t].steps},
                                 {"p50_ns", exact_ns(steps[t].p50)},
                                 {"p99_ns", exact_ns(steps[t].p99)},
                                 {"max_ns", exact_ns(steps[t].max)}};
  }
  return tenants;
}

Json duplicates_json(const ReplayRun& run, const hw::Duplicates& found) {
  Json tiers = Json::object();
  for (std::size_t t = 0; t < found.by_tier.size(); ++t)
    if (found.by_tier[t] > 0) tiers[run.platform->tiers()[t].name] = found.by_tier[t];
  return {{"bytes", found.bytes()}, {"by_tier", tiers}};
}

/// S10.
Json processes_json(const ReplayRun& run) {
  const hw::ReplayConfig& config = run.platform->scenario().replay;
  const hw::ProcessFigures& p = run.processes;
  const bool forked = config.processes == hw::ProcessStart::fork;
  return {{"start", LeafCodec<hw::ProcessStart>::print(config.processes)},
          {"common_tensors", p.tensors},
          {"common_bytes", p.once.count},
          {"shared_bytes", forked ? p.again.count : 0},
          {"duplicated_at_begin", duplicates_json(run, p.at_begin)},
          {"duplicated_at_peak", duplicates_json(run, p.at_peak)},
          {"duplicated_at_end", duplicates_json(run, p.at_end)},
          {"copied_on_write_pages", p.copied_pages},
          {"copied_on_write_bytes", p.copied.count},
          {"copy_fault_batches", p.fault_batches},
          {"clear_caches", p.clear_caches},
          {"clear_cache_ns", exact_ns(p.clear_time)}};
}

} // namespace

Json summary_json(const ReplayRun& run, const std::vector<VariantResult>& variants) {
  const hw::Scenario& scenario = run.platform->scenario();
  Json causes = Json::object();
  const hw::CauseLedger ledger = causes_of(run);
  for (std::size_t c = 0; c < hw::kCauses; ++c) {
    const auto cause = static_cast<hw::Cause>(c);
    causes[std::string(hw::name_of(cause)) + "_ns"] = exact_ns(ledger.of(cause));
  }
  Json per_gpu = Json::array();
  if (run.platform->gpus() > 1)
    for (std::uint32_t g = 0; g < run.platform->gpus(); ++g) {
      Json own = Json::object();
      for (std::size_t c = 0; c < hw::kCauses; ++c)
        own[std::string(hw::name_of(static_cast<hw::Cause>(c))) + "_ns"] =
            exact_ns(run.platform->gpu(g).causes().of(static_cast<hw::Cause>(c)));
      per_gpu.push_back(own);
    }
  Json summary = {
      {"version", kVersion},
      {"scenario",
       {{"name", scenario.general.name}, {"hash", fmt::format("{:016x}", scenario.hash)}}},
      {"seed", scenario.general.seed},
      {"resolution", "burst"},
      {"policy", scenario.policy},
      {"replay", mode_name(run)},
      {"gpus", run.platform->gpus()},
      {"trace", trace_json(run)},
      {"time",
       {{"simulated_ns", exact_ns(run.makespan)},
        {"simulated_span_ns", exact_ns(simulated_span(run))},
        {"measured_span_ns", run.trace.span_ns}}},
      {"time_by_cause", causes}};
  if (!per_gpu.empty()) summary["time_by_cause_per_gpu"] = per_gpu;
  summary["tenants"] = tenants_json(run);
  if (run.tenants.size() == 1) summary["repeats"] = summary["tenants"][0]["repeats"];
  if (run.tenants.size() > 1 || run.processes.clear_caches > 0)
    summary["processes"] = processes_json(run);
  summary["tiers"] = tiers_json(run);
  summary["l2"] = l2_json(run);
  summary["links"] = links_json(run);
  summary["scheduler"] = scheduler_json(run);
  summary["energy"] = energy_json(run);
  summary["accuracy"] = accuracy_json(run);
  summary["ledger"] = ledger_json(run);
  add_comparisons(summary, variants);
  return summary;
}

Json run_json(const ReplayRun& run, const RunFacts& facts) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  Json json = {{"wall_s", run.wall_seconds},
               {"speed", run.wall_seconds > 0 ? run.makespan.seconds() / run.wall_seconds : 0.0},
               {"peak_rss_bytes", static_cast<std::uint64_t>(usage.ru_maxrss) * 1024},
               {"host", host.data()},
               {"started", facts.started},
               {"command", facts.command}};
  if (!facts.request.is_null()) json["request"] = facts.request;
  return json;
}

std::string kernels_csv(const ReplayRun& run) {
  std::string csv =
      "id,name,stream,phase,layer,start_ns,duration_ns,measured_ns,bytes_read,"
      "bytes_written,dram_bytes,inferred_share,flops,bound_by,energy_j,repeat,tenant\n";
  for (const auto& row : run.rows) {
    if (row.kind != hw::Operation::Kind::kernel) continue;
    fmt::format_to(
        std::back_inserter(csv), "{},{},{}:{},{},{},{},{},{},{},{},{},{:.4g},{},{},{},{},{}\n",
        row.id, csv_quoted(*row.name), row.stream.device, row.stream.stream,
        stream::name_of(row.phase), row.layer < 0 ? "" : std::to_string(row.layer),
        decimal_ns(row.result.start), decimal_ns(row.result.end - row.result.start),
        row.measured_ns < 0 ? "" : std::to_string(row.measured_ns), row.result.read.count,
        row.result.written.count, row.result.dram.count, row.inferred_share, row.flops,
        bound_by(row), decimal_joules(row.result.energy), row.repeat, row.tenant);
  }
  return csv;
}

void check_folder(const std::filesystem::path& folder) {
  const auto refuse = [&](const std::string& what) {
    throw UserError(traces::place_of(folder.string()),
                    what + ", expected a folder, new or there, that may be written to");
  };
  if (folder.empty()) throw UserError("--out: an empty name, expected a folder");
  std::error_code error;
  std::filesystem::path there = std::filesystem::absolute(folder, error);
  while (!std::filesystem::exists(std::filesystem::symlink_status(there, error)) &&
         there.has_relative_path())
    there = there.parent_path();
  if (!std::filesystem::is_directory(there, error))
    refuse(there == std::filesystem::absolute(folder, error)
               ? "is not a folder"
               : "'" + there.filename().string() + "' above it is not a folder");
  if (access(there.c_str(), W_OK | X_OK) != 0) refuse("no right to write there");
}

void write_files(const ReplayRun& run, const RunFacts& facts, const std::filesystem::path& folder) {
  traces::write_whole(folder, {{"kernels.csv", kernels_csv(run)},
                               {"timeseries.csv", timeseries_csv(run)},
                               {"timeline.json", timeline_json(run)},
                               {"run.json", json_text(run_json(run, facts))},
                               {"summary.json", json_text(summary_json(run, facts.variants))}});
  // What explained the run that was here before does not explain this one.
  std::error_code none;
  std::filesystem::remove(folder / "explain.json", none);
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

} // namespace umf::app
