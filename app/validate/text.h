#pragma once

#include "app/tables/table.h"
#include "app/validate/verdict.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

/// Results of `umfsim validate` on a terminal and for scripts.
namespace umf::app {

/// A line a group: rows, errors, the gate and whether it holds; then what failed and why.
std::string validation_text(const std::vector<SuiteResult>& results);
/// A row a figure, of all suites.
Table validation_rows(const std::vector<SuiteResult>& results);
nlohmann::ordered_json validation_json(const std::vector<SuiteResult>& results);

/// "4.2 %"
std::string percent(double share);
/// "5 % of each", or "none"
std::string gate_text(const Gate* gate);
/// "held", "FAILED" or, where only the file lists the gate, "–"
std::string verdict_text(const GroupResult& group);
/// What did not hold: worst rows, reasons, gates without rows. A line each.
std::vector<std::string> failure_lines(const SuiteResult& result);

} // namespace umf::app
