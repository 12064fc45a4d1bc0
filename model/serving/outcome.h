#pragma once

#include "model/serving/config.h"

#include <cstdint>
#include <string>
#include <vector>

namespace umf::serving {

/// What became of a request. Times are nanoseconds since the first arrival's epoch.
struct Outcome {
  std::uint64_t id = 0;
  std::uint32_t service_class = 0;
  std::uint32_t tenant = 0;
  std::uint32_t prompt_tokens = 0, output_tokens = 0;
  std::uint32_t cached_tokens = 0; ///< of the prompt, when it was first admitted
  std::uint32_t preemptions = 0;
  std::int64_t arrival_ns = 0, admitted_ns = -1, first_token_ns = -1, end_ns = -1;

  bool done() const { return end_ns >= 0; }
  std::int64_t ttft_ns() const { return first_token_ns - arrival_ns; }
  /// Mean gap between output tokens; 0 where there is only one.
  double tpot_ns() const;
};

/// A distribution in milliseconds; exact, by sorting. Nearest rank: P99 of 100 values is the 99th.
struct Spread {
  double mean = 0, p50 = 0, p95 = 0, p99 = 0, max = 0;
};
Spread spread_of(std::vector<double> values);

struct Latency {
  std::uint64_t requests = 0; ///< done
  std::uint64_t kept = 0;     ///< of them within what their class promises
  std::uint64_t output_tokens = 0, kept_tokens = 0;
  Spread ttft_ms, tpot_ms, end_to_end_ms;
};

/// Of the requests that are done; `service_class` -1: of all classes.
Latency latency_of(const std::vector<Outcome>& outcomes, const std::vector<ServiceClass>& classes,
                   int service_class = -1);

} // namespace umf::serving
