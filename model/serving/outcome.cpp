#include "model/serving/outcome.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace umf::serving {

double Outcome::tpot_ns() const {
  return output_tokens < 2 ? 0.0
                           : static_cast<double>(end_ns - first_token_ns) /
                                 static_cast<double>(output_tokens - 1);
}

Spread spread_of(std::vector<double> values) {
  Spread spread;
  if (values.empty()) return spread;
  std::sort(values.begin(), values.end());
  const auto count = static_cast<double>(values.size());
  const auto rank = [&](double percent) {
    const double nth = std::ceil(percent / 100 * count);
    return values[static_cast<std::size_t>(std::max(nth, 1.0)) - 1];
  };
  spread.mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  spread.p50 = rank(50);
  spread.p95 = rank(95);
  spread.p99 = rank(99);
  spread.max = values.back();
  return spread;
}

Latency latency_of(const std::vector<Outcome>& outcomes, const std::vector<ServiceClass>& classes,
                   int service_class) {
  Latency latency;
  std::vector<double> ttft, tpot, whole;
  for (const Outcome& outcome : outcomes) {
    if (!outcome.done()) continue;
    if (service_class >= 0 && outcome.service_class != static_cast<std::uint32_t>(service_class))
      continue;
    ++latency.requests;
    latency.output_tokens += outcome.output_tokens;
    ttft.push_back(static_cast<double>(outcome.ttft_ns()) / 1e6);
    whole.push_back(static_cast<double>(outcome.end_ns - outcome.arrival_ns) / 1e6);
    if (outcome.output_tokens > 1) tpot.push_back(outcome.tpot_ns() / 1e6);
    const ServiceClass& promised = classes[outcome.service_class];
    if (ttft.back() * 1e6 > promised.ttft.nanoseconds() ||
        outcome.tpot_ns() > promised.tpot.nanoseconds())
      continue;
    ++latency.kept;
    latency.kept_tokens += outcome.output_tokens;
  }
  latency.ttft_ms = spread_of(std::move(ttft));
  latency.tpot_ms = spread_of(std::move(tpot));
  latency.end_to_end_ms = spread_of(std::move(whole));
  return latency;
}

} // namespace umf::serving
