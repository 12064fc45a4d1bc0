#pragma once

#include "hw/platform/platform.h"

#include <cstdint>
#include <string>
#include <vector>

namespace umf::app {

/// What the way from a GPU's scheduler to one memory carries when nothing else uses it.
struct PathFigures {
  std::string tier;
  policy::TierClass kind = policy::TierClass::hbm;
  BytesPerSecond read{}, write{}; ///< of its slowest hop; windows of bytes in flight included
  Femtoseconds latency{};         ///< of a read (boundary: scheduler)
};

/// Sends one burst each way down every path of the GPU and reads the hops it collected. It adds
/// modules to the platform and runs it: once, before anything else does.
std::vector<PathFigures> probe_paths(hw::Platform& platform, std::uint32_t gpu);

} // namespace umf::app
