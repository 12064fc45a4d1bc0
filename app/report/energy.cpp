#include "app/report/energy.h"

#include "app/report/figures.h"
#include "app/report/json_text.h"
#include "hw/platform/energy.h"

#include <algorithm>
#include <utility>

namespace umf::app {

using Json = nlohmann::ordered_json;

std::vector<StepEnergy> steps_of(const ReplayRun& run) {
  std::vector<StepEnergy> steps;
  std::size_t next = 0;        // mark
  std::uint64_t operation = 0; // of this repetition
  const auto begin = [&](std::string name, const hw::OperationRow& row) {
    steps.emplace_back();
    steps.back().name = std::move(name);
    steps.back().tenant = row.tenant;
    steps.back().repeat = row.repeat;
  };
  for (const auto& row : run.rows) { // by tenant, in order of issue
    const auto& marks = run.tenants[row.tenant].steps;
    if (steps.empty() || steps.back().tenant != row.tenant || steps.back().repeat != row.repeat) {
      next = 0;
      operation = 0;
      if (marks.empty() || marks.front().first_operation > 1)
        begin(marks.empty() ? "whole run" : kBeforeSteps, row);
    }
    if (row.copied_for == 0) ++operation;
    while (next < marks.size() && marks[next].first_operation <= operation)
      begin(marks[next++].name, row);
    StepEnergy& step = steps.back();
    step.start = step.operations == 0 ? row.result.start : std::min(step.start, row.result.start);
    step.end = std::max(step.end, row.result.end);
    step.energy += row.result.energy;
    ++step.operations;
  }
  return steps;
}

Json energy_json(const ReplayRun& run) {
  const hw::EnergySpent spent = hw::energy_spent(*run.platform, run.makespan);
  const hw::EnergyAccounts accounts = hw::energy_accounts(*run.platform, run.totals);
  const auto sum = [](const std::vector<Femtojoules>& parts) {
    Femtojoules all{};
    for (const Femtojoules part : parts)
      all += part;
    return exact_joules(all);
  };
  Json steps = Json::array();
  for (const StepEnergy& step : steps_of(run))
    steps.push_back({{"name", step.name},
                     {"tenant", step.tenant},
                     {"repeat", step.repeat},
                     {"operations", step.operations},
                     {"start_ns", exact_ns(step.start)},
                     {"end_ns", exact_ns(step.end)},
                     {"energy_j", exact_joules(step.energy)}});
  const double seconds = run.makespan.seconds();
  return {{"total_j", exact_joules(spent.total())},
          {"mean_power_w", seconds > 0 ? spent.total().joules() / seconds : 0.0},
          {"by_place",
           {{"compute_j", exact_joules(spent.compute)},
            {"l2_j", exact_joules(spent.l2)},
            {"tiers_j", sum(spent.tiers)},
            {"links_j", sum(spent.links)},
            {"idle_j", exact_joules(spent.idle)}}},
          {"by_account",
           {{"operations_j", exact_joules(accounts.operations)},
            {"moves_j", exact_joules(accounts.moves)},
            {"loose_write_backs_j", exact_joules(accounts.loose)},
            {"idle_j", exact_joules(spent.idle)}}},
          {"steps", steps}};
}

} // namespace umf::app
