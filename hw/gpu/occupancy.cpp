#include "hw/gpu/occupancy.h"

#include <algorithm>

namespace umf::hw {

namespace {

constexpr std::uint64_t kWarp = 32;

/// Rounded up, at least 1.
std::uint64_t share(std::uint64_t bytes, std::uint64_t sharers) {
  return bytes == 0 ? 1 : (bytes - 1) / sharers + 1;
}

std::uint64_t blocks_per_sm(const GpuConfig& config, const Operation& operation) {
  const std::uint64_t threads = (operation.threads_per_block + kWarp - 1) / kWarp * kWarp;
  std::uint64_t blocks =
      std::min<std::uint64_t>(config.blocks_per_sm, config.threads_per_sm / threads);
  if (operation.registers_per_thread > 0)
    blocks = std::min(blocks, config.registers_per_sm / (operation.registers_per_thread * threads));
  if (operation.shared_memory.count > 0)
    blocks = std::min(blocks, config.shared_memory_per_sm.count / operation.shared_memory.count);
  return std::max<std::uint64_t>(blocks, 1); // it did run
}

} // namespace

Occupancy occupancy(const GpuConfig& config, const Operation& operation) {
  Occupancy result;
  std::uint64_t per_thread = config.bytes_in_flight_per_thread.count;
  if (operation.blocks == 0 || operation.threads_per_block == 0) {
    result.active_sms = config.sms;
    result.resident_threads = static_cast<std::uint64_t>(config.sms) * config.threads_per_sm;
  } else {
    const std::uint64_t fit = blocks_per_sm(config, operation) * config.sms;
    result.resident_blocks = std::min(fit, operation.blocks);
    result.turns_over = operation.blocks > fit;
    result.resident_threads = result.resident_blocks * operation.threads_per_block;
    result.active_sms = std::min<std::uint64_t>(config.sms, operation.blocks);
    std::uint64_t bytes = 0;
    for (const auto& access : operation.accesses)
      bytes += access.length.count;
    // A thread never has more in flight than it moves in its whole life.
    const std::uint64_t of_block = share(bytes, operation.blocks);
    per_thread = std::min(per_thread, share(of_block, operation.threads_per_block));
  }
  // Kernels that stage through shared memory (cp.async, TMA) fill it, not registers.
  const std::uint64_t in_flight = std::max(result.resident_threads * per_thread,
                                           result.resident_blocks * operation.shared_memory.count);
  const std::uint64_t most = result.active_sms * config.bytes_in_flight_per_sm.count;
  result.in_flight = {std::max(config.l2.sector.count, std::min(in_flight, most))};
  return result;
}

} // namespace umf::hw
