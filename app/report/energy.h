#pragma once

#include "app/run/replay_run.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace umf::app {

/// Energy of the operations of one step, idling not included.
struct StepEnergy {
  std::string name;
  std::uint32_t tenant = 0, repeat = 0;
  std::uint64_t operations = 0;
  Femtoseconds start{}, end{}; ///< of the first to start and the last to end
  Femtojoules energy{};
};

inline constexpr const char* kBeforeSteps = "before the first step";

/// The steps each trace marks, by tenant, repetition and order, with a part "before the first
/// step" where operations stand before it; without marks a repetition is one. Together they hold
/// every operation.
std::vector<StepEnergy> steps_of(const ReplayRun& run);

nlohmann::ordered_json energy_json(const ReplayRun& run);

} // namespace umf::app
