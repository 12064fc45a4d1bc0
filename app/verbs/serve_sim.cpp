#include "app/verbs/verbs.h"

#include "app/report/files.h"
#include "app/report/json_text.h"
#include "app/run/apart.h"
#include "app/run/trace_source.h"
#include "app/serve/serve_report.h"
#include "app/serve/serve_run.h"

#include <memory>
#include <optional>

/// Requests to an LLM, served on a simulated machine.
namespace umf::app {

namespace {

struct Options {
  ServeRequest request;
  std::string scenario, out = "umfsim-out", policy, seed, format = "table";
  std::vector<std::string> sets;
  std::uint64_t check_folding = 0;
  bool quiet = false;
};

std::vector<std::string> overlays(const Options& options) {
  std::vector<std::string> sets;
  if (!options.policy.empty()) sets.push_back("/policy=" + json_text({{"name", options.policy}}));
  if (!options.seed.empty()) sets.push_back("/seed=" + options.seed);
  sets.insert(sets.end(), options.sets.begin(), options.sets.end());
  return sets;
}

/// The first requests served twice, each in a process of its own.
FoldingError error_of_folding(const ServeRequest& request, std::uint64_t requests) {
  std::vector<Job> jobs;
  for (const bool fold : {true, false}) {
    ServeRequest one = request;
    one.most_requests = requests;
    if (!fold) {
      one.sets.push_back("/serving/fold_layers=false");
      one.sets.push_back("/serving/fold_steady=1");
      one.sets.push_back("/serving/fold_alike=0");
    }
    jobs.push_back(
        {fold ? "folded" : "unfolded", [one] { return latencies_json(run_serving(one)).dump(); }});
  }
  const auto outcomes = run_apart(jobs);
  for (const Outcome& outcome : outcomes)
    if (outcome.refused) throw UserError(outcome.text);
  return compare_folding(requests, nlohmann::ordered_json::parse(outcomes[0].text),
                         nlohmann::ordered_json::parse(outcomes[1].text));
}

Exit serve(const Options& options) {
  check_folder(options.out);
  ServeRequest request = options.request;
  request.scenario = options.scenario;
  request.sets = overlays(options);
  request.stop = stop_asked;
  std::optional<FoldingError> error;
  if (options.check_folding > 0) error = error_of_folding(request, options.check_folding);
  const ServeRun run = run_serving(request);
  write_serving_files(run, error, command_line(), options.out);
  if (!options.quiet)
    print(options.format == "json"  ? json_text(serving_json(run, error))
          : options.format == "csv" ? requests_csv(run)
                                    : serving_text(run, error));
  return hw::balanced(run.machine.ledger) ? Exit::ok : Exit::check_failed;
}

} // namespace

Action add_serve_sim(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand(
      "serve-sim", "Serves a trace of requests: batches, kernels, latencies, goodput");
  ServeRequest& request = options->request;
  verb->add_option("REQUESTS", request.requests,
                   "Trace of requests (Mooncake JSON lines, Azure CSV), poisson for requests drawn "
                   "as serving.poisson says, or tenants for the sources in serving.tenants")
      ->required();
  verb->add_option("--model", request.model, "Model served, such as llama-3-8b, or a model's file")
      ->required();
  verb->add_option("--scenario", options->scenario, "Scenario file (JSON)")->required();
  verb->add_option("--set", options->sets,
                   "POINTER=VALUE over the scenario, such as serving.max_sequences=64; repeatable")
      ->take_all()
      ->allow_extra_args(false);
  verb->add_option("--policy", options->policy,
                   "Policy, with its default keys, over the scenario's");
  verb->add_option("--weight-dtype", request.weight_format,
                   "Number format of the weights, such as f8 or i4-g128; left out: as published");
  verb->add_option("--kv-dtype", request.kv_format,
                   "Number format of the KV cache, such as bf16, f8 or i4-g64; left out: bf16");
  verb->add_option("--tp", request.tp,
                   "GPUs that share the model, one of which is simulated (tensor parallel)")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  verb->add_option("--requests", request.most_requests, "Serve the first N requests alone");
  verb->add_option("--check-folding", options->check_folding,
                   "Also serve the first N requests with and without folding, and print the error");
  verb->add_option("--seed", options->seed, "Seed over the scenario's");
  verb->add_option("--out", options->out, "Folder for the result files")->capture_default_str();
  verb->add_flag("--quiet", options->quiet, "Nothing on stdout; faults still go to stderr");
  verb->add_option("--format", options->format, "What stdout gets")
      ->check(CLI::IsMember({"table", "json", "csv"}))
      ->capture_default_str();
  return [options] { return serve(*options); };
}

} // namespace umf::app
