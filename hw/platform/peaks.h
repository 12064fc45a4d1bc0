#pragma once

#include "hw/platform/scenario.h"
#include "hw/platform/topology.h"
#include "model/policy/future.h"

#include <cstdint>
#include <vector>

namespace umf::hw {

/// Bytes a second that are never exceeded on the way between one GPU and a memory.
struct WayPeak {
  double read = 0, write = 0; ///< each direction alone
  double both = 0;            ///< of both together
};

/// Rates that no placement exceeds, by GPU: what the machine could carry if everything lay right.
/// Windows, latencies and mixes of reads and writes only ever take away from them.
class Peaks {
public:
  explicit Peaks(const Scenario& scenario);

  /// All that lies beside the die, of its classes HBM and SRAM.
  WayPeak near(std::uint32_t gpu) const;
  /// Of those the ones of class HBM.
  WayPeak hbm(std::uint32_t gpu) const;
  /// All that lies behind links: what their first hops carry, where the memories behind do.
  WayPeak far(std::uint32_t gpu) const;
  /// The host's memory that copies go to; no rate where there is none.
  WayPeak host(std::uint32_t gpu) const;
  Bytes near_capacity(std::uint32_t gpu) const;
  Bytes sram_capacity(std::uint32_t gpu) const;

  /// One tier (an index into Scenario::tiers) and the links before it; nothing out of reach.
  WayPeak way(std::uint32_t gpu, std::size_t tier) const;
  /// Unloaded read, beyond what all memories share (boundary: port and links).
  Femtoseconds latency(std::uint32_t gpu, std::size_t tier) const;

private:
  WayPeak link(const LinkSpec& link) const;

  const Scenario& scenario_;
  Topology topology_;
};

/// By tier as a GPU's policy sees them: on-package memory has one instance a GPU.
std::vector<policy::Future::Speed> speeds_of(const Scenario& scenario, std::uint32_t gpu);

} // namespace umf::hw
