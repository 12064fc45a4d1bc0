#pragma once

#include "hw/fabric/cause.h"
#include "hw/platform/ledger.h"
#include "hw/platform/platform.h"
#include "hw/platform/replay.h"
#include "traces/summary.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace umf::app {

/// One replay, done: the machine as it stands at the end and what was counted on the way.
struct ReplayRun {
  std::unique_ptr<hw::Platform> platform;
  traces::Summary trace;
  hw::ReplayTotals totals;
  std::vector<hw::OperationRow> rows; ///< in order of issue
  std::vector<hw::LedgerCheck> ledger;
  Femtoseconds makespan{};
  double wall_seconds = 0; ///< of the replay alone, reading included
};

struct ReplayRequest {
  std::filesystem::path trace;
  std::filesystem::path scenario;
  std::vector<std::string> sets; ///< --set overlays
  /// Told how many of the trace's operations are done; false stops the run.
  std::function<bool(std::uint64_t done, std::uint64_t all)> progress;
};

/// Thrown when progress said stop.
struct Interrupted {};

/// Reads the trace twice: once for what it holds and which weights come first, once to
/// replay it. Throws UserError, Interrupted.
ReplayRun run_replay(const ReplayRequest& request);

} // namespace umf::app
