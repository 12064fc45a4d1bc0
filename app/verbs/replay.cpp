#include "app/verbs/verbs.h"

#include "app/report/figures.h"
#include "app/report/files.h"
#include "app/report/terminal.h"
#include "app/run/progress.h"
#include "app/run/replay_run.h"

#include <cstdio>
#include <ctime>
#include <memory>

namespace umf::app {

namespace {

struct Options {
  std::vector<std::string> traces;
  std::string scenario, out = "umfsim-out", policy, replay, resolution, progress = "auto",
                        format = "table";
  std::vector<std::string> sets;
  std::string seed;
  bool quiet = false;
};

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

/// Flags that stand for keys become overlays, so that they are checked and hashed alike.
std::vector<std::string> overlays(const Options& options) {
  std::vector<std::string> sets = options.sets;
  if (!options.policy.empty()) sets.push_back("/policy={\"name\":\"" + options.policy + "\"}");
  if (!options.replay.empty()) sets.push_back("/replay/mode=\"" + options.replay + "\"");
  if (!options.seed.empty()) sets.push_back("/seed=" + options.seed);
  return sets;
}

Exit replay(const Options& options) {
  if (options.traces.size() > 1)
    throw UserError("several traces at once are not supported, expected one TRACE");
  if (options.resolution == "line")
    throw UserError("--resolution line is not supported for kernel traces, expected burst");
  Progress progress(options.progress, options.quiet);
  ReplayRequest request;
  request.trace = options.traces.front();
  request.scenario = options.scenario;
  request.sets = overlays(options);
  request.progress = [&](std::uint64_t done, std::uint64_t all) {
    progress.show(done, all);
    return !stop_asked();
  };
  const ReplayRun run = run_replay(request);
  progress.finish();
  if (stop_asked()) throw Interrupted{};

  const RunFacts facts{options.traces.front(), command_line(), utc_now()};
  write_files(run, facts, options.out);
  if (!options.quiet) {
    if (options.format == "json")
      std::fputs((summary_json(run, facts).dump(2) + "\n").c_str(), stdout);
    else if (options.format == "csv")
      std::fputs(kernels_csv(run).c_str(), stdout);
    else
      std::fputs((terminal_report(run, facts) + "files          " + options.out +
                  "/summary.json, kernels.csv, run.json\n")
                     .c_str(),
                 stdout);
  }
  if (hw::balanced(run.ledger)) return Exit::ok;
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
  verb->add_option("TRACE", options->traces, "Trace of any readable format")->required();
  verb->add_option("--scenario", options->scenario, "Scenario file (JSON)")->required();
  verb->add_option("--set", options->sets, "POINTER=VALUE, over the scenario; repeatable")
      ->take_all()
      ->allow_extra_args(false);
  verb->add_option("--out", options->out, "Folder for the result files")->capture_default_str();
  verb->add_option("--policy", options->policy,
                   "Policy, with its default keys, over the scenario's");
  verb->add_option("--replay", options->replay, "Replay mode over the scenario's: closed");
  verb->add_option("--resolution", options->resolution, "burst (default)")
      ->check(CLI::IsMember({"burst", "line"}));
  verb->add_option("--seed", options->seed, "Seed over the scenario's");
  verb->add_flag("--quiet", options->quiet, "Nothing on stdout but errors");
  verb->add_option("--progress", options->progress, "On stderr; auto: only on a terminal")
      ->check(CLI::IsMember({"auto", "always", "never", "json"}))
      ->capture_default_str();
  verb->add_option("--format", options->format, "What stdout gets")
      ->check(CLI::IsMember({"table", "json", "csv"}))
      ->capture_default_str();
  return [options] { return replay(*options); };
}

} // namespace umf::app
