#pragma once

#include "hw/gpu/gpu_config.h"
#include "hw/gpu/operation.h"

namespace umf::hw {

/// What a launch keeps busy: the classic occupancy limits (threads, blocks, registers,
/// shared memory), and the bytes it can have in flight. What is not recorded does not limit.
struct Occupancy {
  std::uint64_t resident_blocks = 0;
  std::uint64_t resident_threads = 0;
  std::uint64_t active_sms = 0;
  bool turns_over = false; ///< more blocks than fit at once
  Bytes in_flight{};       ///< the window; never 0
};

Occupancy occupancy(const GpuConfig& config, const Operation& operation);

} // namespace umf::hw
