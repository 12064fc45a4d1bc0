#include "app/report/explain.h"

#include "app/report/comparisons.h"
#include "app/report/files.h"
#include "app/report/json_text.h"
#include "app/run/trace_source.h"
#include "app/verbs/verbs.h"
#include "model/base/error.h"
#include "traces/whole_file.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <memory>

/// Why a finished run took as long as it did, from reruns.
namespace umf::app {

namespace {

struct Options {
  std::string run, format = "table";
  double within = 120;
};

void announce(std::size_t reruns) {
  if (isatty(STDERR_FILENO) != 0) std::fprintf(stderr, "%zu reruns, two at a time ...\n", reruns);
}

/// All results but the bound, which has no ledger.
std::vector<VariantResult> results_of(const Explanation& found) {
  std::vector<VariantResult> results = found.limits;
  results.insert(results.end(), found.mechanisms.begin(), found.mechanisms.end());
  for (const Tried& tried : found.tries)
    results.push_back(tried.result);
  return results;
}

Exit explain_run(const Options& options) {
  if (!(options.within >= 0 && std::isfinite(options.within)))
    throw UserError("--within: expected seconds from 0 up, such as 120");
  const FinishedRun run = read_finished(options.run);
  check_folder(options.run);
  ExplainOptions how;
  how.within_seconds = options.within;
  how.announce = announce;
  how.summarise = [](const ReplayRun& rerun) { return summary_json(rerun); };
  how.stop = stop_asked;
  const Explanation found = explain(run, how);
  if (stop_asked()) throw Interrupted{};

  const auto json = explanation_json(run, found);
  traces::write_whole(options.run, {{"explain.json", json_text(json)}});
  print(options.format == "json" ? json_text(json)
                                 : explanation_text(json, options.within, run.wall_seconds));
  const auto wrong = unbalanced(results_of(found));
  for (const auto& name : wrong)
    std::fprintf(stderr, "ledger: does not balance in the run of %s\n", name.c_str());
  return wrong.empty() ? Exit::ok : Exit::check_failed;
}

} // namespace

Action add_explain(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand(
      "explain", "What bounded a finished replay, what each mechanism was worth, what to try next");
  verb->add_option("RUN", options->run,
                   "Folder that replay wrote; explain.json is written into it. Its traces and its "
                   "scenario must be as they were")
      ->required();
  verb->add_option("--within", options->within,
                   "Seconds for reruns, two at a time, each taken to last as long as the run did; "
                   "those that do not fit are named as not tried")
      ->capture_default_str();
  verb->add_option("--format", options->format, "What stdout gets")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  return [options] { return explain_run(*options); };
}

} // namespace umf::app
