#include "traces/access/mixture.h"

#include <algorithm>
#include <cmath>

namespace umf::traces::access {

namespace {

/// One counter from several numbers.
std::uint64_t counter(std::initializer_list<std::uint64_t> numbers) {
  std::uint64_t mixed = 0;
  for (const std::uint64_t number : numbers)
    mixed = mix_bits(mixed * 0x9E3779B97F4A7C15U + number);
  return mixed;
}

std::uint64_t below(double unit, std::uint64_t limit) {
  return std::min(static_cast<std::uint64_t>(unit * static_cast<double>(limit)), limit - 1);
}

} // namespace

Mixture::Mixture(const MixtureConfig& config, std::uint64_t seed)
    : config_(config), draws_(seed, "access.draws"), places_(seed, "access.places"),
      references_(seed, "access.references") {}

std::uint64_t Mixture::first_recent(const PageAsk& ask) const {
  return ask.tokens > config_.recent ? (ask.tokens - config_.recent) / config_.page : 0;
}

void Mixture::add_certain(const PageAsk& ask, std::vector<std::uint64_t>& found) const {
  const std::uint64_t all = pages(ask);
  const std::uint64_t sinks = (config_.sinks + config_.page - 1) / config_.page;
  for (std::uint64_t page = 0; page < std::min(sinks, all); ++page)
    found.push_back(page);
  for (std::uint64_t page = first_recent(ask); page < all; ++page)
    found.push_back(page);
  const std::uint64_t at = counter({ask.sequence, ask.tokens});
  if (all == 0 || references_.unit_at(at) >= config_.reference) return;
  const std::uint64_t first = below(references_.unit_at(at + 1), all);
  const std::uint64_t length = (config_.reference_length + config_.page - 1) / config_.page;
  for (std::uint64_t page = first; page < std::min(first + length, all); ++page)
    found.push_back(page);
}

/// Inverse of the continuous power law over 1..pages.
std::uint64_t Mixture::rank(double unit, std::uint64_t pages) const {
  const double n = static_cast<double>(pages) + 1, a = 1 - config_.alpha;
  const double at =
      std::abs(a) < 1e-9 ? std::pow(n, unit) : std::pow(unit * (std::pow(n, a) - 1) + 1, 1 / a);
  return std::min(static_cast<std::uint64_t>(at), pages) - 1;
}

std::uint64_t Mixture::heavy(const PageAsk& ask, std::uint64_t draw) const {
  const std::uint64_t all = pages(ask);
  const double unit =
      draws_.unit_at(counter({ask.sequence, ask.layer, ask.head, ask.tokens, draw}));
  const std::uint64_t who = rank(unit, all);
  const std::uint64_t phase =
      places_.at(counter({ask.sequence, ask.layer, ask.head, who})) % config_.drift;
  const std::uint64_t epoch = (ask.tokens + phase) / config_.drift;
  // A page that was there when the rank moved to it; time is counted in tokens.
  const std::uint64_t moved = std::max(epoch * config_.drift, phase) - phase;
  const std::uint64_t then = std::max<std::uint64_t>(moved / config_.page, 1);
  return below(places_.unit_at(counter({ask.sequence, ask.layer, ask.head, who, epoch, 1})),
               std::min(then, all));
}

void sort_unique(std::vector<std::uint64_t>& pages) {
  std::sort(pages.begin(), pages.end());
  pages.erase(std::unique(pages.begin(), pages.end()), pages.end());
}

} // namespace umf::traces::access
