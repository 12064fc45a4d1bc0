#include "traces/requests/poisson.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace umf::traces::requests {

namespace {

/// Log-normal with the given mean: exp(mu + spread * normal), mu = ln(mean) - spread^2 / 2.
std::uint32_t length(const serving::Lengths& lengths, double normal) {
  const double spread = lengths.spread;
  const double drawn = lengths.mean * std::exp(spread * normal - spread * spread / 2);
  return static_cast<std::uint32_t>(std::clamp(std::round(drawn), 1.0, 1e9));
}

} // namespace

PoissonSource::PoissonSource(const serving::PoissonConfig& config, std::uint64_t seed)
    : gaps_(seed, "poisson-gap"), lengths_(seed, "poisson-length"),
      rate_(config.rate.value), prompt_{static_cast<double>(config.prompt), config.spread},
      output_{static_cast<double>(config.output), config.spread}, most_(config.requests),
      until_ns_(std::numeric_limits<double>::infinity()) {
  header_.format = "poisson";
  header_.source = "poisson";
}

PoissonSource::PoissonSource(const serving::Tenant& tenant, Femtoseconds time, std::uint64_t seed)
    : gaps_(seed, "tenant-gap " + tenant.name), lengths_(seed, "tenant-length " + tenant.name),
      rate_(tenant.rate.value), prompt_(tenant.prompt), output_(tenant.output),
      until_ns_(time.nanoseconds()), waits_(true) {
  header_.format = "poisson";
  header_.source = tenant.name;
}

bool PoissonSource::next(stream::Record& record) {
  if (given_ == most_) return false;
  if (given_ > 0 || waits_) at_ns_ += -std::log1p(-gaps_.unit_at(given_)) / rate_ * 1e9;
  if (at_ns_ > until_ns_) return false;
  // Box and Muller: two normal numbers from two uniform ones.
  const double radius = std::sqrt(-2 * std::log1p(-lengths_.unit_at(2 * given_)));
  const double angle = 2 * 3.14159265358979323846 * lengths_.unit_at(2 * given_ + 1);
  stream::Request request;
  request.id = given_++;
  request.arrival_ns = static_cast<std::int64_t>(at_ns_);
  request.prompt_tokens = length(prompt_, radius * std::cos(angle));
  request.output_tokens = length(output_, radius * std::sin(angle));
  record = std::move(request);
  return true;
}

} // namespace umf::traces::requests
