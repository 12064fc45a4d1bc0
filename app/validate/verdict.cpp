#include "app/validate/verdict.h"

#include <algorithm>
#include <cmath>

namespace umf::app {

namespace {

void add(Mape& mape, double error) {
  ++mape.rows;
  mape.value += (error - mape.value) / static_cast<double>(mape.rows);
}

GroupResult& group_of(std::vector<GroupResult>& groups, const std::string& name, std::size_t row) {
  for (GroupResult& group : groups)
    if (group.group == name) return group;
  groups.push_back({name, {}, {}, {}, row});
  return groups.back();
}

bool holds(const GroupResult& group, const Gate& gate) {
  if (gate.of == Gate::Of::each) return group.beyond == 0;
  return group.all.value <= gate.limit && group.unfitted.value <= gate.limit;
}

} // namespace

void judge(SuiteResult& result, bool partial) {
  const std::vector<Gate>& gates = result.published.gates;
  const auto gate_of = [&](const std::string& group) -> const Gate* {
    for (const Gate& gate : gates)
      if (gate.rows == group) return &gate;
    return nullptr;
  };
  result.fitted.clear();
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    const Row& row = result.rows[i];
    result.fitted.push_back(result.published.fitted(row.id));
    GroupResult& group = group_of(result.groups, row.group, i);
    group.gate = gate_of(row.group);
    if (above_peak(row)) continue;
    const double error = std::abs(row.error());
    add(result.all, error);
    add(group.all, error);
    add(result.fitted[i] ? group.fitted : group.unfitted, error);
    if (!(error <= std::abs(result.rows[group.worst].error())) ||
        above_peak(result.rows[group.worst]))
      group.worst = i;
    if (group.gate != nullptr && !(error <= group.gate->limit)) ++group.beyond;
  }
  for (const Gate& gate : gates) {
    const auto found = std::find_if(result.groups.begin(), result.groups.end(),
                                    [&](const GroupResult& g) { return g.group == gate.rows; });
    if (found == result.groups.end()) {
      if (!partial) result.status = SuiteResult::Status::failed;
      continue;
    }
    found->holds = holds(*found, gate);
    if (!found->holds) result.status = SuiteResult::Status::failed;
  }
}

const char* name_of(SuiteResult::Status status) {
  switch (status) {
  case SuiteResult::Status::held:
    return "held";
  case SuiteResult::Status::failed:
    return "failed";
  case SuiteResult::Status::skipped:
    return "skipped";
  }
  return "";
}

} // namespace umf::app
