#pragma once

#include "app/run/replay_run.h"

#include <string>

namespace umf::app {

/// timeseries.csv: a row a window of time, a column a figure (README.md). Columns that count
/// sum to the totals in summary.json to the last digit.
std::string timeseries_csv(const ReplayRun& run);

} // namespace umf::app
