#pragma once

#include "app/run/replay_run.h"

#include <nlohmann/json.hpp>

#include <filesystem>

/// Runs whose files are written, and how to repeat them.
namespace umf::app {

/// What run.json says under "request": whole names of the files with their size and checksum
/// (XXH3), and the overlays.
nlohmann::ordered_json request_json(const ReplayRequest& request);

struct FinishedRun {
  ReplayRequest request; ///< without progress and stop
  nlohmann::ordered_json summary;
  double wall_seconds = 0; ///< that the replay took
};

/// Reads the folder that a replay wrote. Throws UserError where it is none, or where a trace or the
/// scenario has changed since: its figures would explain another run.
FinishedRun read_finished(const std::filesystem::path& folder);

} // namespace umf::app
