#pragma once

#include "hw/platform/scenario.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace umf::hw {

/// The way from one GPU to one tier: indices into Scenario::links, nearest first.
/// Empty for a tier on the package.
using Path = std::vector<std::size_t>;

/// Shortest paths (fewest links; ties by the order of links in the scenario).
class Topology {
public:
  explicit Topology(const Scenario& scenario);

  /// Null when the GPU cannot reach the tier.
  const Path* path(std::uint32_t gpu, std::size_t tier) const;
  /// Ends of links that are neither GPU nor tier, in order of name.
  const std::vector<std::string>& switches() const { return switches_; }

private:
  std::map<std::pair<std::uint32_t, std::size_t>, Path> paths_;
  std::vector<std::string> switches_;
};

inline std::string gpu_name(std::uint32_t gpu) {
  return "gpu" + std::to_string(gpu);
}

/// Faults dangling links, tiers out of reach, `behind` that is not so, and bandwidth that
/// a tier's path cannot carry.
void check_topology(Scenario& scenario);

} // namespace umf::hw
