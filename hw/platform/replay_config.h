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

/// How the tenants of a GPU came to be processes.
enum class ProcessStart : std::uint8_t {
  spawn, ///< each loads its weights itself: page tables are private
  fork   ///< one loaded them and forked: equal weights share pages until one is written
};

/// When the host gives cached memory back.
enum class ClearCache : std::uint8_t { never, repetitions };

struct ReplayConfig {
  ReplayMode mode = ReplayMode::closed;
  std::uint64_t read_ahead = 4096;
  std::uint64_t repeat = 1;
  std::vector<std::uint32_t> tenant_gpus;
  std::vector<double> tenant_weights;
  ProcessStart processes = ProcessStart::spawn;
  ClearCache clear_cache = ClearCache::never;
  Femtoseconds clear_cache_cost = 120'000'000_ns;

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

template <>
struct umf::EnumNames<umf::hw::ProcessStart> {
  static constexpr std::pair<std::string_view, umf::hw::ProcessStart> list[] = {
      {"spawn", umf::hw::ProcessStart::spawn}, {"fork", umf::hw::ProcessStart::fork}};
};

template <>
struct umf::EnumNames<umf::hw::ClearCache> {
  static constexpr std::pair<std::string_view, umf::hw::ClearCache> list[] = {
      {"never", umf::hw::ClearCache::never}, {"repetitions", umf::hw::ClearCache::repetitions}};
};
