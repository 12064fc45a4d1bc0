#pragma once

#include "app/run/steps.h"
#include "app/run/trace_source.h"
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
  std::vector<StepMark> steps;        ///< as the trace marks them
  std::vector<hw::LedgerCheck> ledger;
  Femtoseconds makespan{};
  double wall_seconds = 0; ///< of the replay alone, reading included
};

struct ReplayRequest {
  std::filesystem::path trace;
  std::filesystem::path shapes_from; ///< a trace that says what kernels without operator do
  std::filesystem::path scenario;
  std::vector<std::string> sets; ///< --set overlays
  std::string ideal;             ///< the limit to lift (hw::lift); empty: none
  /// Told now and then how many of the trace's operations are done, with the machine as it is.
  std::function<void(std::uint64_t done, std::uint64_t all, const hw::Platform&)> progress;
  /// Asked now and then; true ends the run with Interrupted.
  std::function<bool()> stop;
};

/// Reads the trace twice: once for what it holds and which weights come first, once to
/// replay it. Throws UserError, which names the trace where it is at fault, and Interrupted.
ReplayRun run_replay(const ReplayRequest& request);

} // namespace umf::app
