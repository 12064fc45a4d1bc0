#pragma once

#include "app/run/replay_run.h"
#include "app/serve/serving_source.h"
#include "model/serving/outcome.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace umf::app {

/// All that serving depends on.
struct ServeRequest {
  std::string requests; ///< a trace's path, "poisson" or "tenants"
  std::string model, weight_format, kv_format;
  std::uint32_t tp = 1;
  std::uint64_t most_requests = 0; ///< of the trace; 0: all
  std::filesystem::path scenario;
  std::vector<std::string> sets;
  std::function<bool()> stop;
};

/// Where the KV cache had room.
struct KvRoom {
  std::uint32_t blocks = 0;
  Bytes block{}, weights{}, workspace{}, hbm{}, pool{}; ///< hbm, pool: what serving may use
};

/// Requests served on a simulated machine, and the machine as it stands at the end.
struct ServeRun {
  /// The machine's side: what was simulated, on its own clock, with its ledger.
  ReplayRun machine;
  std::string source, format, model;
  std::string weight_format, kv_format;
  std::uint32_t tp = 1;
  serving::Config config;
  KvRoom room;
  std::vector<serving::Outcome> outcomes; ///< in order of end
  std::vector<serving::Tenant> tenants;   ///< empty: one source of requests
  Utilisation::Figures utilisation;
  std::vector<stream::Oddity> oddities;
  serving::BatchCounters counters;
  std::uint64_t peak_held_blocks = 0, evicted_blocks = 0;
  FoldCounters fold;
  AlikeIterations::Check alike;
  std::int64_t first_arrival_ns = 0, end_ns = 0;

  double seconds() const { return static_cast<double>(end_ns - first_arrival_ns) * 1e-9; }
};

/// Throws UserError, and Interrupted once `stop` says so. One a process: it elaborates SystemC.
ServeRun run_serving(const ServeRequest& request);

} // namespace umf::app
