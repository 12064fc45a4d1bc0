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
  std::uint64_t of_block = 0, staged = operation.shared_memory.count;
  if (operation.blocks == 0 || operation.threads_per_block == 0) {
    result.active_sms = config.sms;
    result.resident_threads = static_cast<std::uint64_t>(config.sms) * config.threads_per_sm;
  } else {
    const std::uint64_t fit = blocks_per_sm(config, operation) * config.sms;
    result.resident_blocks = std::min(fit, operation.blocks);
    result.turns_over = operation.blocks > fit;
    result.resident_threads = result.resident_blocks * operation.threads_per_block;
    result.active_sms = std::min<std::uint64_t>(config.sms, operation.blocks);
    // What is in flight is what it loads; of a kernel that only stores, what it stores.
    std::uint64_t loads = 0, all = 0;
    for (const auto& access : operation.accesses) {
      all += access.length.count;
      if (!access.write) loads += access.length.count;
    }
    const std::uint64_t bytes = loads > 0 ? loads : all;
    // A thread never has more in flight than it moves in its whole life.
    of_block = share(bytes, operation.blocks);
    per_thread = std::min(per_thread, share(of_block, operation.threads_per_block));
    staged = std::min(staged, of_block);
  }
  // Kernels that stage through shared memory (cp.async, TMA) fill it, not registers.
  const std::uint64_t in_flight =
      std::max(result.resident_threads * per_thread, result.resident_blocks * staged);
  const std::uint64_t most = result.active_sms * config.bytes_in_flight_per_sm.count;
  result.in_flight = {std::max(config.l2.sector.count, std::min(in_flight, most))};
  if (of_block == 0) return result;
  const double window = static_cast<double>(result.in_flight.count);
  const double blocks = static_cast<double>(operation.blocks);
  const double resident = static_cast<double>(result.resident_blocks);
  const double in_turn = static_cast<double>(of_block) * resident / window;
  result.refills = std::max(1 - window / (static_cast<double>(of_block) * blocks), 0.0);
  if (result.turns_over && result.refills > 0) {
    const std::uint64_t warps = (operation.threads_per_block + kWarp - 1) / kWarp;
    const Femtoseconds once =
        config.block_turnover + config.warp_start * static_cast<std::int64_t>(warps - 1);
    const double share = (1 - resident / blocks) / (std::max(in_turn, 1.0) * result.refills);
    result.turnover = {static_cast<std::int64_t>(static_cast<double>(once.count) * share)};
  }
  return result;
}

} // namespace umf::hw
