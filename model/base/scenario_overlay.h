#pragma once

#include "model/base/json.h"

#include <string_view>

namespace umf {

/// Applies one `--set` argument, "/json/pointer=VALUE" or "dotted.path=VALUE":
/// the value (and any object missing on the way) takes the place of what was
/// there. Throws UserError with the place "--set: /pointer".
void apply_overlay(JsonValue& scenario, std::string_view argument);

} // namespace umf
