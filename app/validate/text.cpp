#include "app/validate/text.h"

#include "app/tables/memories.h"

#include <fmt/format.h>

#include <algorithm>

namespace umf::app {

namespace {

std::string mape_text(const Mape& mape) {
  return mape.rows == 0 ? "-" : percent(mape.value);
}

std::string worst_text(const SuiteResult& result, const GroupResult& group) {
  const Row& worst = result.rows[group.worst];
  return fmt::format("{} {:+.1f} %", worst.id, 100 * worst.error());
}

std::size_t doubted(const SuiteResult& result) {
  return static_cast<std::size_t>(
      std::count_if(result.rows.begin(), result.rows.end(), above_peak));
}

Table groups_table(const std::vector<SuiteResult>& results) {
  Table table;
  table.title = "The model beside machines that exist: mean absolute error of each group of rows";
  table.columns = {
      key("suite", "suite"),      key("group", "group"),       figure("rows", "rows", ""),
      figure("mape", "MAPE", ""), figure("fit", "fitted", ""), figure("unfit", "unfitted", ""),
      text("worst", "worst row"), text("gate", "gate"),        text("verdict", "verdict")};
  for (const SuiteResult& result : results) {
    const std::string& suite = result.published.suite;
    if (result.status == SuiteResult::Status::skipped)
      table.rows.push_back({cell(suite), cell("-"), cell("0"), cell("-"), cell("-"), cell("-"),
                            cell("-"), cell("-"), cell("skipped")});
    for (const GroupResult& group : result.groups)
      table.rows.push_back({cell(suite), cell(group.group), cell(std::to_string(group.all.rows)),
                            cell(mape_text(group.all)), cell(mape_text(group.fitted)),
                            cell(mape_text(group.unfitted)), cell(worst_text(result, group)),
                            cell(gate_text(group.gate)), cell(verdict_text(group))});
  }
  return table;
}

} // namespace

std::string percent(double share) {
  return fmt::format("{:.2f} %", 100 * share);
}

std::string gate_text(const Gate* gate) {
  if (gate == nullptr) return "none";
  return fmt::format("{:g} % {}", 100 * gate->limit,
                     gate->of == Gate::Of::mean ? "mean" : "each row");
}

std::string verdict_text(const GroupResult& group) {
  if (group.gate == nullptr) return "-";
  return group.holds ? "held" : "FAILED";
}

std::vector<std::string> failure_lines(const SuiteResult& result) {
  std::vector<std::string> lines;
  const std::string& suite = result.published.suite;
  if (result.status == SuiteResult::Status::skipped)
    return {fmt::format("{}: skipped, {}", suite, result.message)};
  for (const GroupResult& group : result.groups) {
    if (group.holds) continue;
    const Row& worst = result.rows[group.worst];
    lines.push_back(fmt::format(
        "{}: {} is beyond its gate of {}: MAPE {}, {} of {} rows beyond, worst {} ({}): {:.6g} {} "
        "against {:.6g}{}",
        suite, group.group, gate_text(group.gate), percent(group.all.value), group.beyond,
        group.all.rows, worst.id, worst.what, worst.simulated, worst.unit, worst.reference,
        group.gate->reason.empty() ? "" : "; why: " + group.gate->reason));
  }
  for (const Gate& gate : result.published.gates)
    if (result.status == SuiteResult::Status::failed &&
        std::none_of(result.groups.begin(), result.groups.end(),
                     [&](const GroupResult& group) { return group.group == gate.rows; }))
      lines.push_back(fmt::format("{}: no row of group {}, which has a gate", suite, gate.rows));
  if (const std::size_t count = doubted(result); count > 0)
    lines.push_back(fmt::format("{}: {} row(s) with a reference above the part's peak: shown, not "
                                "judged",
                                suite, count));
  return lines;
}

std::string validation_text(const std::vector<SuiteResult>& results) {
  std::string text = to_terminal(groups_table(results));
  bool first = true;
  for (const SuiteResult& result : results)
    for (const std::string& line : failure_lines(result)) {
      text += (first ? "\n" : "") + line + '\n';
      first = false;
    }
  return text;
}

Table validation_rows(const std::vector<SuiteResult>& results) {
  Table table;
  table.columns = {key("suite", "suite"),
                   key("id", "id"),
                   text("group", "group"),
                   text("what", "what"),
                   figure("reference", "reference", ""),
                   text("unit", "unit"),
                   figure("simulated", "simulated", ""),
                   figure("error", "error", ""),
                   text("fitted", "fitted"),
                   text("above_peak", "above peak")};
  for (const SuiteResult& result : results)
    for (std::size_t i = 0; i < result.rows.size(); ++i) {
      const Row& row = result.rows[i];
      table.rows.push_back(
          {cell(result.published.suite), cell(row.id), cell(row.group), cell(row.what),
           cell(fmt::format("{:.7g}", row.reference)), cell(row.unit),
           cell(fmt::format("{:.7g}", row.simulated)), cell(fmt::format("{:.4f}", row.error())),
           cell(result.fitted[i] ? "yes" : "no"), cell(above_peak(row) ? "yes" : "no")});
    }
  return table;
}

nlohmann::ordered_json validation_json(const std::vector<SuiteResult>& results) {
  using Json = nlohmann::ordered_json;
  const auto mape = [](const Mape& m) { return m.rows == 0 ? Json() : Json(m.value); };
  Json suites = Json::array(), rows = Json::array();
  for (const SuiteResult& result : results) {
    Json groups = Json::array();
    for (const GroupResult& group : result.groups) {
      Json one = {{"group", group.group},
                  {"rows", group.all.rows},
                  {"mape", mape(group.all)},
                  {"mape_fitted", mape(group.fitted)},
                  {"mape_unfitted", mape(group.unfitted)},
                  {"worst", result.rows[group.worst].id}};
      if (group.gate != nullptr) {
        one["gate"] = {{"limit", group.gate->limit},
                       {"of", group.gate->of == Gate::Of::mean ? "mean" : "each"},
                       {"beyond", group.beyond},
                       {"holds", group.holds}};
        if (!group.gate->reason.empty()) one["gate"]["reason"] = group.gate->reason;
      }
      groups.push_back(std::move(one));
    }
    suites.push_back({{"suite", result.published.suite},
                      {"status", name_of(result.status)},
                      {"mape", mape(result.all)},
                      {"groups", groups}});
    if (!result.message.empty()) suites.back()["message"] = result.message;
    for (std::size_t i = 0; i < result.rows.size(); ++i) {
      const Row& row = result.rows[i];
      rows.push_back({{"suite", result.published.suite},
                      {"id", row.id},
                      {"what", row.what},
                      {"reference", row.reference},
                      {"unit", row.unit},
                      {"simulated", row.simulated},
                      {"error", row.error()},
                      {"group", row.group},
                      {"fitted", static_cast<bool>(result.fitted[i])},
                      {"above_peak", above_peak(row)}});
    }
  }
  return {{"suites", suites}, {"rows", rows}};
}

} // namespace umf::app
