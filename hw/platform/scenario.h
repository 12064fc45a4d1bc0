#pragma once

#include "hw/gpu/gpu_config.h"
#include "hw/pcie/pcie.h"
#include "hw/platform/kinds.h"
#include "hw/platform/replay_config.h"
#include "hw/platform/sampler.h"
#include "hw/scheduler/scheduler_config.h"
#include "model/base/keys.h"
#include "model/policy/policy.h"
#include "model/serving/config.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace umf::hw {

struct GeneralConfig {
  std::string name;
  std::uint32_t gpus = 1;
  std::uint64_t seed = 1;
};

/// A whole machine with its policy, read and checked; nothing is built yet.
struct Scenario {
  GeneralConfig general;
  GpuConfig gpu;
  std::vector<std::unique_ptr<TierSpec>> tiers; ///< in file order
  std::vector<LinkSpec> links;
  std::map<std::string, PcieSwitchConfig> switches;
  SchedulerConfig scheduler;
  ReplayConfig replay;
  ReportConfig report;
  serving::Config serving; ///< for serve-sim; a replay has no use for it
  std::string policy;
  std::string policy_json; ///< its object, for command logs
  /// A policy of its own for each GPU's scheduler.
  std::vector<std::unique_ptr<policy::Policy>> policies;
  KeyContext keys;
  /// Of every key's value but those of the report and of serving: equal machines hash alike.
  std::uint64_t hash = 0;
  std::uint64_t serving_hash = 0; ///< of the keys of serving
};

/// Every section of a scenario file: for reading, describe, schema.
std::span<const Section> scenario_sections();

/// Throws UserErrors with every fault found, one line each.
Scenario read_scenario(const JsonValue& document);

} // namespace umf::hw
