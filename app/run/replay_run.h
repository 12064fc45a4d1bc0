#pragma once

#include "app/run/steps.h"
#include "app/run/trace_source.h"
#include "hw/fabric/cause.h"
#include "hw/platform/bound.h"
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

/// One trace of a replay.
struct TenantRun {
  std::string name; ///< its file's, made unique among the run's
  std::filesystem::path trace;
  std::uint32_t gpu = 0; ///< of its first device
  double weight = 1.0;
  traces::Summary summary;
  std::vector<StepMark> steps; ///< as the trace marks them
  hw::TenantResult result;
};

/// One replay, done: the machine as it stands at the end and what was counted on the way.
struct ReplayRun {
  std::unique_ptr<hw::Platform> platform;
  std::vector<TenantRun> tenants;     ///< a trace each, in order of the request
  traces::Summary trace;              ///< all of them together, once
  hw::ReplayTotals totals;            ///< all of them together, every repetition
  hw::ProcessFigures processes;       ///< what they have in common
  std::vector<hw::OperationRow> rows; ///< by tenant, in order of issue
  std::vector<hw::LedgerCheck> ledger;
  Femtoseconds makespan{};
  double wall_seconds = 0; ///< of the replay alone, reading included

  std::uint64_t repeats() const { return platform->scenario().replay.repeat; }
};

/// All that a replay depends on.
struct ReplayRequest {
  std::vector<std::filesystem::path> traces; ///< one or more: tenants of one machine
  std::filesystem::path shapes_from;         ///< a trace that says what kernels without operator do
  std::filesystem::path scenario;
  std::vector<std::string> sets; ///< --set overlays
  std::filesystem::path log_out; ///< file for the command log; empty: none
  std::string ideal;             ///< the limit to lift (hw::lift); empty: none
  /// Told now and then how many operations of how many are done, repetitions included, with the
  /// machine as it is.
  std::function<void(std::uint64_t done, std::uint64_t all, const hw::Platform&)> progress;
  /// Asked now and then; true ends the run with Interrupted.
  std::function<bool()> stop;
};

/// Reads each trace once for what it holds and which weights come first, then once a
/// repetition. Memory: the read-ahead, and some 1.3 kB an operation and repetition for rows and
/// reports at their peak. Throws UserError, which names the trace where it is at fault, and
/// Interrupted.
ReplayRun run_replay(const ReplayRequest& request);

/// The time below which no policy comes in that replay, its own policy aside; nothing is simulated.
hw::Bound bound_of(const ReplayRequest& request);

} // namespace umf::app
