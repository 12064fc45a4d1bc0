#include "traces/requests/poisson.h"

#include "model/base/random.h"

#include <algorithm>
#include <cmath>

namespace umf::traces::requests {

PoissonSource::PoissonSource(const serving::PoissonConfig& config, std::uint64_t seed)
    : config_(config), seed_(seed) {
  header_.format = "poisson";
  header_.source = "poisson";
}

/// Log-normal with the given mean: exp(mu + spread * normal), mu = ln(mean) - spread^2 / 2.
std::uint32_t PoissonSource::length(std::uint32_t mean, double normal) const {
  const double spread = config_.spread;
  const double drawn = mean * std::exp(spread * normal - spread * spread / 2);
  return static_cast<std::uint32_t>(std::clamp(std::round(drawn), 1.0, 1e9));
}

bool PoissonSource::next(stream::Record& record) {
  if (given_ == config_.requests) return false;
  const RandomStream gaps(seed_, "poisson-gap"), lengths(seed_, "poisson-length");
  if (given_ > 0) at_ns_ += -std::log1p(-gaps.unit_at(given_)) / config_.rate.value * 1e9;
  // Box and Muller: two normal numbers from two uniform ones.
  const double radius = std::sqrt(-2 * std::log1p(-lengths.unit_at(2 * given_)));
  const double angle = 2 * 3.14159265358979323846 * lengths.unit_at(2 * given_ + 1);
  stream::Request request;
  request.id = given_++;
  request.arrival_ns = static_cast<std::int64_t>(at_ns_);
  request.prompt_tokens = length(config_.prompt, radius * std::cos(angle));
  request.output_tokens = length(config_.output, radius * std::sin(angle));
  record = std::move(request);
  return true;
}

} // namespace umf::traces::requests
