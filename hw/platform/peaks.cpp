#include "hw/platform/peaks.h"

#include <algorithm>
#include <map>

namespace umf::hw {

namespace {

WayPeak least(const WayPeak& a, const WayPeak& b) {
  return {std::min(a.read, b.read), std::min(a.write, b.write), std::min(a.both, b.both)};
}

WayPeak sum(const WayPeak& a, const WayPeak& b) {
  return {a.read + b.read, a.write + b.write, a.both + b.both};
}

double over(double rate, double first, double second) {
  const double cost = std::max(first, second);
  return cost > 0 ? rate / cost : kEndlessRate;
}

} // namespace

Peaks::Peaks(const Scenario& scenario) : scenario_(scenario), topology_(scenario) {}

WayPeak Peaks::link(const LinkSpec& spec) const {
  double raw = spec.options.raw_bytes_per_second;
  for (const auto& change : spec.options.changes)
    raw = std::max(raw, change.raw_bytes_per_second);
  const link::WireCost cost = spec.options.shape.cost(); // the least: ends do not matter
  const double read = over(raw, cost.read_tx, cost.read_rx);
  const double write = over(raw, cost.write_tx, cost.write_rx);
  return {read, write, read + write};
}

WayPeak Peaks::way(std::uint32_t gpu, std::size_t tier) const {
  const Path* path = topology_.path(gpu, tier);
  if (path == nullptr) return {};
  const double media = scenario_.tiers[tier]->at_most().value;
  WayPeak way{media, media, media};
  for (const std::size_t l : *path)
    way = least(way, link(scenario_.links[l]));
  return way;
}

Femtoseconds Peaks::latency(std::uint32_t gpu, std::size_t tier) const {
  Femtoseconds latency = scenario_.tiers[tier]->read_latency();
  if (const Path* path = topology_.path(gpu, tier))
    for (const std::size_t l : *path)
      latency += scenario_.links[l].options.one_way * 2;
  return latency;
}

WayPeak Peaks::near(std::uint32_t gpu) const {
  WayPeak all;
  for (std::size_t t = 0; t < scenario_.tiers.size(); ++t)
    if (scenario_.tiers[t]->on_package()) all = sum(all, way(gpu, t));
  return all;
}

WayPeak Peaks::hbm(std::uint32_t gpu) const {
  WayPeak all;
  for (std::size_t t = 0; t < scenario_.tiers.size(); ++t)
    if (scenario_.tiers[t]->on_package() &&
        scenario_.tiers[t]->tier_class() == policy::TierClass::hbm)
      all = sum(all, way(gpu, t));
  return all;
}

WayPeak Peaks::far(std::uint32_t gpu) const {
  std::map<std::size_t, WayPeak> behind; // by first link
  for (std::size_t t = 0; t < scenario_.tiers.size(); ++t) {
    const Path* path = topology_.path(gpu, t);
    if (path == nullptr || path->empty()) continue;
    behind[path->front()] = sum(behind[path->front()], way(gpu, t));
  }
  WayPeak all;
  for (const auto& [l, ways] : behind)
    all = sum(all, least(ways, link(scenario_.links[l])));
  return all;
}

WayPeak Peaks::host(std::uint32_t gpu) const {
  for (std::size_t t = 0; t < scenario_.tiers.size(); ++t)
    if (scenario_.tiers[t]->tier_class() == policy::TierClass::host && topology_.path(gpu, t))
      return way(gpu, t);
  return {};
}

Bytes Peaks::near_capacity(std::uint32_t) const {
  Bytes all{};
  for (const auto& tier : scenario_.tiers)
    if (tier->on_package()) all += tier->capacity();
  return all;
}

Bytes Peaks::sram_capacity(std::uint32_t) const {
  Bytes all{};
  for (const auto& tier : scenario_.tiers)
    if (tier->tier_class() == policy::TierClass::sram) all += tier->capacity();
  return all;
}

std::vector<policy::Future::Speed> speeds_of(const Scenario& scenario, std::uint32_t gpu) {
  const Peaks peaks(scenario);
  std::vector<policy::Future::Speed> speeds;
  for (std::size_t t = 0; t < scenario.tiers.size(); ++t) {
    const std::uint32_t instances = scenario.tiers[t]->on_package() ? scenario.general.gpus : 1;
    for (std::uint32_t i = 0; i < instances; ++i)
      speeds.push_back({{peaks.way(gpu, t).read}, peaks.latency(gpu, t)});
  }
  return speeds;
}

} // namespace umf::hw
