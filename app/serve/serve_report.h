#pragma once

#include "app/serve/serve_run.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <optional>
#include <string>

namespace umf::app {

/// Latencies of the folded run against the unfolded one, of the same first requests.
struct FoldingError {
  std::uint64_t requests = 0;
  nlohmann::ordered_json folded, unfolded; ///< "ttft_ms" and "tpot_ms" with percentiles
  double worst = 0;                        ///< relative, of mean and percentiles of both
  std::string worst_at;
};

/// Requests, percentiles and goodput.
nlohmann::ordered_json latency_json(const serving::Latency& latency, const ServeRun& run);
/// TTFT and TPOT alone, as check_folding compares them.
nlohmann::ordered_json latencies_json(const ServeRun& run);
FoldingError compare_folding(std::uint64_t requests, nlohmann::ordered_json folded,
                             nlohmann::ordered_json unfolded);

nlohmann::ordered_json serving_json(const ServeRun& run,
                                    const std::optional<FoldingError>& error = {});
std::string serving_text(const ServeRun& run, const std::optional<FoldingError>& error = {});
/// A row a request, in order of id.
std::string requests_csv(const ServeRun& run);

/// Writes summary.json, requests.csv and run.json into `folder`, each whole or not at all.
void write_serving_files(const ServeRun& run, const std::optional<FoldingError>& error,
                         const std::string& command, const std::filesystem::path& folder);

} // namespace umf::app
