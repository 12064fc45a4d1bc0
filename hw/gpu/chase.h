#pragma once

#include "hw/gpu/gpu_config.h"

#include <cstdint>

namespace umf::hw {

/// What a thread sees that follows pointers through an array: each load waits for the one before
/// and reads a line of its own, in one drawn round that is walked again and again.
///
/// Line by line: the SM's L1, its near L2 partition, and the far one, which takes in what the near
/// one gives up and gives back what is asked for, so that both together hold an array as large as
/// the L2. The near partition's sets are even (physical memory comes in large pages and the hash
/// is one to one), its replacement is "not recently used"; the L1's sets are hashed, least recent.
/// Left out: sectors, translation, other SMs.
struct Chase {
  Femtoseconds latency{};                       ///< mean of a load (boundary: sm)
  double l1 = 0, near = 0, far = 0, memory = 0; ///< shares of the loads by where they hit
};

/// `memory`: of a lone read between the L2's miss and its data (boundary: l2_miss).
Chase chase(const GpuConfig& config, Bytes array, Femtoseconds memory);

} // namespace umf::hw
