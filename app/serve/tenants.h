#pragma once

#include "app/serve/serve_run.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace umf::app {

/// What one tenant of a server got.
struct TenantOutcome {
  serving::Latency latency;
  std::uint64_t arrived = 0;      ///< and not refused
  std::uint64_t asked_tokens = 0; ///< of prompts and outputs, of those
  /// Of the requests that were done when the last one of all arrived: while all tenants asked.
  std::uint64_t served_tokens = 0;
};

struct TenantsOutcome {
  std::vector<TenantOutcome> tenants; ///< as ServeRun::tenants
  std::int64_t last_arrival_ns = 0;
  /// Of served tokens over the weight; of the served part of what was asked.
  double jain_tokens = 1, jain_served = 1;
};
TenantsOutcome outcome_of_tenants(const ServeRun& run);

/// Nothing where requests came from one source.
nlohmann::ordered_json tenants_json(const ServeRun& run, const TenantsOutcome& outcome);
nlohmann::ordered_json fairness_json(const TenantsOutcome& outcome);
nlohmann::ordered_json utilisation_json(const Utilisation::Figures& figures);
std::string tenants_text(const ServeRun& run);

} // namespace umf::app
