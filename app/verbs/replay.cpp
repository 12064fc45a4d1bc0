#include "app/verbs/verbs.h"

#include "app/report/comparisons.h"
#include "app/report/figures.h"
#include "app/report/files.h"
#include "app/report/json_text.h"
#include "app/report/printable.h"
#include "app/report/terminal.h"
#include "app/run/address_run.h"
#include "app/run/finished.h"
#include "app/run/log_run.h"
#include "app/run/progress.h"
#include "app/run/replay_run.h"
#include "traces/registry.h"
#include "traces/whole_file.h"

#include <algorithm>
#include <iterator>
#include <memory>

namespace umf::app {

namespace {

struct Options {
  std::vector<std::string> traces;
  std::string shapes_from, scenario, out = "umfsim-out", policy, replay, repeat, tenant_gpus,
                                     tenant_weights, resolution, seed, progress = "auto",
                                     format = "table";
  std::string tier, log_out, log_in;
  std::uint32_t outstanding = 0;
  std::vector<std::string> sets, against, without, ideal, check_bursts;
  bool quiet = false;
};

/// Flags that stand for keys become overlays, so that they are checked and hashed alike.
/// They come first: a --set may refine the policy that --policy chose.
std::vector<std::string> overlays(const Options& options) {
  std::vector<std::string> sets;
  if (!options.policy.empty()) sets.push_back("/policy=" + json_text({{"name", options.policy}}));
  if (!options.replay.empty()) sets.push_back("/replay/mode=" + json_text(options.replay));
  if (!options.repeat.empty()) sets.push_back("/replay/repeat=" + options.repeat);
  if (!options.tenant_gpus.empty())
    sets.push_back("/replay/tenant_gpus=[" + options.tenant_gpus + "]");
  if (!options.tenant_weights.empty())
    sets.push_back("/replay/tenant_weights=[" + options.tenant_weights + "]");
  if (!options.seed.empty()) sets.push_back("/seed=" + options.seed);
  sets.insert(sets.end(), options.sets.begin(), options.sets.end());
  return sets;
}

/// What stdout gets.
std::string shown(const ReplayRun& run, const std::vector<VariantResult>& variants,
                  const Options& options) {
  if (options.format == "json") return json_text(summary_json(run, variants));
  if (options.format == "csv") return kernels_csv(run);
  const std::string compared =
      variants.empty() ? std::string() : comparison_tables(summary_json(run), variants);
  return terminal_report(run) + compared + "files          " +
         (std::filesystem::path(options.out) / "summary.json").string() +
         ", kernels.csv, timeseries.csv, timeline.json, run.json\n";
}

/// Files of a line replay, each whole or not at all.
void write_line_files(const AddressRun& run, const std::string& folder) {
  traces::write_whole(
      folder, {{"summary.json", json_text(summary_json(run))},
               {"run.json", json_text({{"wall_s", run.wall_seconds},
                                       {"requests_per_s", static_cast<double>(run.requests) /
                                                              std::max(run.wall_seconds, 1e-9)},
                                       {"started", utc_now()},
                                       {"command", command_line()}})}});
}

Exit replay_log(const Options& options) {
  const LogRun run = replay_log_file(options.log_in, stop_asked);
  if (!options.quiet) print(terminal_report(run));
  if (options.progress != "json" && Progress::wanted(options.progress, options.quiet))
    std::fprintf(stderr, "%.3g events/s\n",
                 static_cast<double>(run.result.events) / std::max(run.wall_seconds, 1e-9));
  if (run.same()) return Exit::ok;
  std::fprintf(stderr, "%s: %s\n", options.log_in.c_str(),
               printable(run.result.difference).c_str());
  return Exit::check_failed;
}

/// A log brings its machine and all that happened on it.
void check_log_in(const CLI::App& verb) {
  constexpr const char* kBeside[] = {"--log-in", "--quiet", "--progress", "--help"};
  for (const CLI::Option* option : verb.get_options())
    if (option->count() > 0 &&
        std::find(std::begin(kBeside), std::end(kBeside), option->get_name()) == std::end(kBeside))
      throw CLI::ExcludesError("--log-in", option->get_name());
}

void check_needed(const Options& options) {
  if (options.traces.empty()) throw CLI::RequiredError("TRACE");
  if (options.scenario.empty()) throw CLI::RequiredError("--scenario");
}

Exit replay_lines(const Options& options) {
  if (options.traces.size() != 1 || !traces::is_address_trace(options.traces.front()))
    throw UserError("--resolution: line replays one address trace, expected burst for traces of "
                    "kernels");
  if (!options.against.empty() || !options.without.empty() || !options.ideal.empty() ||
      !options.shapes_from.empty() || !options.check_bursts.empty())
    throw UserError("--resolution line: no kernels, policies, limits or bursts take part, expected "
                    "none of --against, --without, --ideal, --check-bursts and --shapes-from");
  if (!options.log_out.empty())
    throw UserError("--resolution line: no scheduler decides anything, expected no --log-out");
  check_folder(options.out);
  AddressRequest request;
  request.trace = options.traces.front();
  request.scenario = options.scenario;
  request.sets = overlays(options);
  request.tier = options.tier;
  request.outstanding = options.outstanding;
  request.stop = stop_asked;
  const AddressRun run = run_addresses(request);
  write_line_files(run, options.out);
  if (!options.quiet)
    print(options.format == "json" ? json_text(summary_json(run)) : terminal_report(run));
  return hw::balanced(run.ledger) ? Exit::ok : Exit::check_failed;
}

Exit replay(const Options& options) {
  if (!options.log_in.empty()) return replay_log(options);
  if (options.resolution == "line") return replay_lines(options);
  if (!options.tier.empty() || options.outstanding != 0)
    throw UserError("--tier, --outstanding: only with --resolution line");
  check_folder(options.out);
  Progress progress(options.progress, options.quiet);
  ReplayRequest request;
  request.traces.assign(options.traces.begin(), options.traces.end());
  request.shapes_from = options.shapes_from;
  request.scenario = options.scenario;
  request.sets = overlays(options);
  request.progress = [&](std::uint64_t done, std::uint64_t all, const hw::Platform& platform) {
    progress.show(done, all, platform);
  };
  request.stop = stop_asked;

  RunFacts facts{command_line(), utc_now(), {}};
  std::vector<Variant> variants = policy_variants(request, options.against);
  std::ranges::move(without_variants(request, options.without), std::back_inserter(variants));
  std::ranges::move(limit_variants(request, options.ideal), std::back_inserter(variants));
  std::ranges::move(burst_variants(request, options.check_bursts), std::back_inserter(variants));
  facts.variants =
      run_variants(variants, [](const ReplayRun& variant) { return summary_json(variant); });

  request.log_out = options.log_out; // of this run alone
  const ReplayRun run = run_replay(request);
  progress.clear();
  if (stop_asked()) throw Interrupted{};
  facts.request = request_json(request);
  write_files(run, facts, options.out);
  if (!options.quiet) print(shown(run, facts.variants, options));
  const auto wrong = unbalanced(facts.variants);
  for (const auto& name : wrong)
    std::fprintf(stderr, "ledger: does not balance in the run of %s\n", name.c_str());
  if (hw::balanced(run.ledger)) return wrong.empty() ? Exit::ok : Exit::check_failed;
  for (const auto& check : run.ledger)
    if (!check.ok())
      std::fprintf(stderr, "ledger: %s: %llu against %llu\n", check.name.c_str(),
                   static_cast<unsigned long long>(check.left),
                   static_cast<unsigned long long>(check.right));
  return Exit::check_failed;
}

} // namespace

Action add_replay(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("replay", "Replay a trace on a simulated machine");
  verb->add_option("TRACE", options->traces, "Trace of any readable format; several are tenants");
  verb->add_option("--shapes-from", options->shapes_from, kShapesFrom);
  verb->add_option("--scenario", options->scenario, "Scenario file (JSON)");
  verb->add_option("--set", options->sets,
                   "POINTER=VALUE over the scenario, such as tiers.hbm.capacity=64GiB; repeatable")
      ->take_all()
      ->allow_extra_args(false);
  verb->add_option("--out", options->out, "Folder for the result files")->capture_default_str();
  verb->add_option("--policy", options->policy,
                   "Policy, with its default keys, over the scenario's");
  verb->add_option("--against", options->against,
                   "Also under these policies, with their default keys, or beside the time that "
                   "none passes: a list such as bound,static,belady, or all")
      ->delimiter(',')
      ->allow_extra_args(false);
  verb->add_option("--without", options->without,
                   "Also without a mechanism of the policy, to see what it was worth: a list such "
                   "as S4,S6, or all")
      ->delimiter(',')
      ->allow_extra_args(false);
  verb->add_option("--ideal", options->ideal,
                   "Also with a limit lifted, to see what it costs: hbm, sram, cxl, host, "
                   "\"link NAME\", links, l2, scheduler, launch, compute, or all, one by one")
      ->delimiter(',')
      ->allow_extra_args(false);
  verb->add_option("--check-bursts", options->check_bursts,
                   "Also with runs cut into bursts of at most this size, such as 64KiB, and how "
                   "much time differs; repeatable")
      ->delimiter(',')
      ->allow_extra_args(false);
  verb->add_option(
      "--replay", options->replay,
      "Over the scenario's mode: closed (the machine alone), open (as recorded) or hybrid "
      "(the recorded host on this machine)");
  verb->add_option("--repeat", options->repeat,
                   "Replay each trace N times, one after the other, with warm state");
  verb->add_option("--tenant-gpus", options->tenant_gpus,
                   "GPU of each trace, such as 0,1; left out: they share GPU 0");
  verb->add_option("--tenant-weights", options->tenant_weights,
                   "Weight of each trace where they share a resource, such as 1,3; left out: 1");
  verb->add_option("--resolution", options->resolution,
                   "burst (default), or line: an address trace, request by request through the "
                   "banks of one memory")
      ->check(CLI::IsMember({"burst", "line"}));
  verb->add_option("--tier", options->tier,
                   "With --resolution line: which memory; left out: the first with DRAM banks");
  verb->add_option("--outstanding", options->outstanding,
                   "With --resolution line: requests without an answer at most; left out: as many "
                   "as are taken");
  verb->add_option("--log-out", options->log_out,
                   "File for the command log: all events and commands of the run's schedulers");
  verb->add_option("--log-in", options->log_in,
                   "Instead of traces and scenario: replays a command log, deciding alone, and "
                   "says whether the commands are the same");
  verb->add_option("--seed", options->seed, "Seed over the scenario's");
  verb->add_flag("--quiet", options->quiet, "Nothing on stdout; faults still go to stderr");
  verb->add_option("--progress", options->progress, "On stderr; auto: only on a terminal")
      ->check(CLI::IsMember({"auto", "always", "never", "json"}))
      ->capture_default_str();
  verb->add_option("--format", options->format, "What stdout gets")
      ->check(CLI::IsMember({"table", "json", "csv"}))
      ->capture_default_str();
  verb->callback(
      [options, verb] { options->log_in.empty() ? check_needed(*options) : check_log_in(*verb); });
  return [options] { return replay(*options); };
}

} // namespace umf::app
