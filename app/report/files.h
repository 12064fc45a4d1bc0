#pragma once

#include "app/run/replay_run.h"
#include "app/run/variants.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace umf::app {

/// As RunFacts has it.
std::string utc_now();

/// What else the files say about a run.
struct RunFacts {
  std::string command;
  std::string started;                      ///< UTC, ISO 8601
  std::vector<VariantResult> variants;      ///< of the same replay
  nlohmann::ordered_json request = nullptr; ///< request_json(); null: not to be repeated
};

/// `variants`: the same replay otherwise, for comparison.
nlohmann::ordered_json summary_json(const ReplayRun& run,
                                    const std::vector<VariantResult>& variants = {});
/// Everything that may differ between two runs of the same scenario on the same trace.
nlohmann::ordered_json run_json(const ReplayRun& run, const RunFacts& facts);
std::string kernels_csv(const ReplayRun& run);

/// Throws UserError where write_files would find no place; makes nothing. Asked before a long run.
void check_folder(const std::filesystem::path& folder);
/// Writes summary.json, kernels.csv, timeseries.csv, timeline.json and run.json into `folder`, each
/// whole or not at all, and removes the explain.json of a run before. Throws UserError.
void write_files(const ReplayRun& run, const RunFacts& facts, const std::filesystem::path& folder);

} // namespace umf::app
