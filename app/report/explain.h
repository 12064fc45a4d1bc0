#pragma once

#include "app/run/explain.h"

#include <nlohmann/json.hpp>

#include <string>

namespace umf::app {

/// explain.json: limits, mechanisms and changes, each list by what it is worth, largest first. No
/// wall time is in it.
nlohmann::ordered_json explanation_json(const FinishedRun& run, const Explanation& found);

/// The same in words, from that JSON; `within` is the time that was given, for what was not tried.
std::string explanation_text(const nlohmann::ordered_json& explanation, double within_seconds,
                             double wall_seconds);

} // namespace umf::app
