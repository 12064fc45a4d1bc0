#pragma once

#include "model/base/json.h"

#include <string>

namespace umf {

/// On one line, members in their order; reads back as the same value.
std::string compact_json(const JsonValue& value);

} // namespace umf
