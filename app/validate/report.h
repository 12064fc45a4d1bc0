#pragma once

#include "app/validate/verdict.h"

#include <filesystem>
#include <string>
#include <vector>

namespace umf::app {

/// Writes README.md, SUITE.csv and SUITE.svg of every suite that ran into `folder`, all or none.
/// Suites of many rows are thinned evenly, their worst rows kept: measured tables are not copied.
/// `command` is what the report says it was made by. Throws UserError where the folder cannot be
/// written.
void write_validation_report(const std::vector<SuiteResult>& results,
                             const std::filesystem::path& folder);

/// A scatter of simulated against reference figures, both axes logarithmic, a panel a group, with
/// the diagonal and the gate beside it. Everything is placed in fixed digits.
std::string scatter_svg(const SuiteResult& result);

/// Which rows a report shows: all, or at most `most`, evenly over each group by their reference,
/// and the worst of each group. In order.
std::vector<std::size_t> shown_rows(const SuiteResult& result, std::size_t most);

} // namespace umf::app
