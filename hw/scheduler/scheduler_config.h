#pragma once

#include "model/base/keys.h"
#include "model/memory/packed_store.h"
#include "model/scheduler/coherence.h"
#include "model/scheduler/degrade.h"

namespace umf::hw {

/// What the scheduler unit costs (see README.md for the model).
struct SchedulerConfig {
  Bytes page = 64_KiB;
  std::uint64_t tlb_entries = 4096;
  Femtoseconds walk_latency = 500_ns;
  std::uint32_t walkers = 32;
  Hertz lookup_rate{140e9};
  Bytes request{128};
  Femtoseconds lookup_latency{0};
  std::uint32_t queue_depth = 64;
  std::uint32_t command_queue = 16;
  Femtoseconds fault_latency = 20000_ns;
  std::uint32_t fault_batch = 256;
  Bytes max_burst = 16_MiB;
  Bytes move_burst = 4_MiB;
  Femtoseconds operation_cost{0};
  std::uint32_t operation_batch = 1;
  scheduler::PoolWrites pool_writes = scheduler::PoolWrites::direct;
  bool forward_from_staging = false;
  Bytes staging = 16_MiB;
  bool weight_region_lock = false;
  std::uint32_t packing_bits = 4;
  std::uint32_t packing_group = 32;
  Bytes packing_metadata{4};
  BytesPerSecond packing_rate{4e12};
  double degrade_below = 0.6;
  double recover_above = 0.9;
  Femtoseconds recover_after = 1000000_ns;
  double degrade_errors = 1e-3;

  memory::Packing packing() const { return {packing_bits, packing_group, packing_metadata}; }
  scheduler::Coherence coherence() const { return {pool_writes, forward_from_staging, staging}; }
  scheduler::Degrading degrading() const {
    return {degrade_below, recover_above, recover_after, degrade_errors};
  }
};

const Component<SchedulerConfig>& scheduler_component();
/// Faults settings that contradict each other.
void check_scheduler(const SchedulerConfig& config, const std::string& pointer,
                     KeyContext& context);

} // namespace umf::hw

template <>
struct umf::EnumNames<umf::scheduler::PoolWrites> {
  static constexpr std::pair<std::string_view, umf::scheduler::PoolWrites> list[] = {
      {"direct", umf::scheduler::PoolWrites::direct},
      {"staged", umf::scheduler::PoolWrites::staged}};
};
