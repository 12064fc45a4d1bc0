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
  /// Part of the time that a byte in flight holds the window: what lies between a block's last
  /// bytes and its successor's first, shared by all that the block has in flight in turn.
  Femtoseconds turnover{};
  Bytes in_flight{}; ///< the window; never 0
  /// Share of its bytes that wait for room in the window: the first window's worth does not.
  double refills = 1.0;
};

Occupancy occupancy(const GpuConfig& config, const Operation& operation);

} // namespace umf::hw
