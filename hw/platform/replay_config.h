#pragma once

#include "model/base/keys.h"

#include <cstdint>
#include <vector>

namespace umf::hw {

/// When an operation may start, besides its stream's predecessor and the waits before it.
enum class ReplayMode : std::uint8_t {
  closed, ///< at once: the machine alone, without the host
  open,   ///< not before the time the trace recorded
  hybrid  ///< when a host that works as recorded, and waits for this machine, comes to it
};

struct ReplayConfig {
  ReplayMode mode = ReplayMode::closed;
  std::uint64_t read_ahead = 4096;
  std::uint64_t repeat = 1;
  std::vector<std::uint32_t> tenant_gpus;
  std::vector<double> tenant_weights;

  /// Of the tenant with that index, counted from 0; lists may be shorter than tenants are many.
  std::uint32_t gpu_of(std::size_t tenant) const {
    return tenant < tenant_gpus.size() ? tenant_gpus[tenant] : 0;
  }
  double weight_of(std::size_t tenant) const {
    return tenant < tenant_weights.size() ? tenant_weights[tenant] : 1.0;
  }
};

const Component<ReplayConfig>& replay_component();

/// Faults of values that each are in range: a tenant on a GPU that the machine lacks.
void check_replay(const ReplayConfig& config, std::uint32_t gpus, KeyContext& context);

} // namespace umf::hw

template <>
struct umf::EnumNames<umf::hw::ReplayMode> {
  static constexpr std::pair<std::string_view, umf::hw::ReplayMode> list[] = {
      {"closed", umf::hw::ReplayMode::closed},
      {"open", umf::hw::ReplayMode::open},
      {"hybrid", umf::hw::ReplayMode::hybrid}};
};
