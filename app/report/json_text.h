#pragma once

#include "model/base/units.h"

#include <nlohmann/json.hpp>

#include <string>

namespace umf::app {

/// Nanoseconds to the last femtosecond, as a number in the file. A double would round
/// times beyond some seconds, and causes would no longer sum to the makespan.
nlohmann::ordered_json exact_ns(Femtoseconds time);

/// What exact_ns() put, or a number read from a file, as a double.
double ns_in(const nlohmann::ordered_json& exact);

/// Joules to the last femtojoule, likewise.
nlohmann::ordered_json exact_joules(Femtojoules energy);

/// Indented by two; keeps exact_ns() digit for digit, and puts U+FFFD where a text
/// (a file's name, a kernel's) is not UTF-8.
std::string json_text(const nlohmann::ordered_json& value);

} // namespace umf::app
