#include "app/run/replay_run.h"

#include "app/run/log_run.h"
#include "app/run/replay_traces.h"
#include "hw/platform/foresight.h"
#include "hw/platform/limits.h"
#include "hw/platform/record.h"
#include "traces/places.h"

#include <fmt/format.h>
#include <systemc>

#include <algorithm>
#include <chrono>
#include <optional>
#include <tuple>
#include <utility>

namespace umf::app {

namespace {

/// SystemC reports the end of a stopped run on stdout, which is the report's.
void hush_systemc() {
  sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
}

hw::Scenario scenario_of(const ReplayRequest& request) {
  ensure(!request.traces.empty(), "a replay without traces");
  hw::Scenario scenario = hw::read_scenario(load_scenario(request.scenario, request.sets));
  if (!request.ideal.empty()) hw::lift(scenario, request.ideal);
  return scenario;
}

/// Lists for tenants that the command line does not have are a slip, not a default.
void check_tenants(const hw::Scenario& scenario, std::size_t traces) {
  const auto refuse = [&](const char* key, std::size_t length) {
    if (length > traces)
      throw UserError(
          scenario.keys.place_of(key),
          fmt::format("{} entries for {} trace(s), expected an entry a trace", length, traces));
  };
  refuse("/replay/tenant_gpus", scenario.replay.tenant_gpus.size());
  refuse("/replay/tenant_weights", scenario.replay.tenant_weights.size());
}

/// Who knows the future knows each tenant's tensors by numbers of their own.
void refuse_fork(const hw::Scenario& scenario, std::size_t traces, const std::string& who) {
  if (scenario.replay.processes == hw::ProcessStart::fork && traces > 1)
    throw UserError(scenario.keys.place_of("/replay/processes"),
                    fmt::format("fork: {} cannot foresee pages that several traces share, expected "
                                "spawn, or a policy without foresight",
                                who));
}

/// What the simulation itself refuses has no tenant to name; a lone trace it must be.
template <class Act>
void naming_the_traces(const std::vector<std::filesystem::path>& traces, Act act) {
  try {
    act();
  } catch (const UserError& error) {
    if (!error.place().text().empty() || traces.size() > 1) throw;
    throw UserError(traces::place_of(traces.front().string()), error.what());
  }
}

/// Reads what there is to know of each trace; `setups` are for the replay.
void read_traces(const ReplayRequest& request, const hw::ReplayConfig& config, ReplayRun& run,
                 std::vector<hw::TenantSetup>& setups) {
  const auto names = names_of(request.traces);
  for (std::size_t t = 0; t < request.traces.size(); ++t) {
    const auto& trace = request.traces[t];
    TraceFacts facts = read_facts(trace, request.shapes_from, request.stop);
    require_work(facts, trace);
    require_times(facts, config.mode, trace);
    setups.push_back(
        {traces::place_of(trace.string()),
         [&request, trace] { return open_source(trace, request.stop, request.shapes_from); },
         std::move(facts.weights),
         {},
         origin_of(facts.summary.header, trace)});
    run.tenants.push_back({names[t],
                           trace,
                           config.gpu_of(t),
                           config.weight_of(t),
                           std::move(facts.summary),
                           std::move(facts.steps),
                           {}});
  }
  std::vector<const traces::Summary*> summaries;
  for (const auto& tenant : run.tenants)
    summaries.push_back(&tenant.summary);
  run.trace = together(summaries);
}

void simulate(const ReplayRequest& request, const std::vector<hw::TenantSetup>& setups,
              ReplayRun& run) {
  const std::uint64_t once = run.trace.kernels + run.trace.copies.count + run.trace.memsets.count;
  const std::uint64_t all = once * run.repeats();
  hw::Replay replay(*run.platform, setups,
                    [&](hw::OperationRow&& row) { run.rows.push_back(std::move(row)); });
  replay.on_progress([&](std::uint64_t done) {
    if (request.progress) request.progress(done, all, *run.platform);
    return !(request.stop && request.stop());
  });
  replay.run();
  if (replay.interrupted()) throw Interrupted{};
  auto results = replay.results();
  for (std::size_t t = 0; t < results.size(); ++t)
    run.tenants[t].result = std::move(results[t]);
  run.totals = replay.totals();
  run.processes = replay.processes();
}

} // namespace

ReplayRun run_replay(const ReplayRequest& request) {
  const auto started = std::chrono::steady_clock::now();
  hw::Scenario scenario = scenario_of(request);
  check_tenants(scenario, request.traces.size());
  std::optional<RunLog> log;
  if (!request.log_out.empty()) {
    hw::check_recordable(scenario);
    log.emplace(request.log_out);
  }
  ReplayRun run;
  hush_systemc();
  std::vector<hw::TenantSetup> setups;
  read_traces(request, scenario.replay, run, setups);

  std::vector<std::shared_ptr<const policy::Future>> futures;
  if (!scenario.policies.empty() && scenario.policies.front()->wants_future()) {
    refuse_fork(scenario, setups.size(), scenario.policy);
    futures = hw::foresee(scenario, setups);
  }
  run.platform = std::make_unique<hw::Platform>(std::move(scenario));
  for (std::uint32_t g = 0; g < futures.size(); ++g)
    run.platform->brain(g).foresee(std::move(futures[g]));
  if (log) log->attach(*run.platform);
  naming_the_traces(request.traces, [&] { simulate(request, setups, run); });

  run.makespan = hw::sim_now();
  run.ledger = hw::balance(*run.platform, run.totals, run.makespan);
  const auto order = [](const hw::OperationRow& row) { // a copy on write behind what waited for it
    const bool copied = row.copied_for != 0;
    return std::tuple(row.tenant, copied ? row.copied_for : row.result.id, copied);
  };
  std::sort(run.rows.begin(), run.rows.end(),
            [&](const auto& a, const auto& b) { return order(a) < order(b); });
  if (log) log->finish();
  run.wall_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  return run;
}

hw::Bound bound_of(const ReplayRequest& request) {
  const hw::Scenario scenario = scenario_of(request);
  check_tenants(scenario, request.traces.size());
  refuse_fork(scenario, request.traces.size(), "bound");
  ReplayRun facts;
  std::vector<hw::TenantSetup> setups;
  read_traces(request, scenario.replay, facts, setups);
  return hw::lower_bound(scenario, setups);
}

} // namespace umf::app
