#pragma once

#include "traces/access/access.h"

/// One function a file; registry.cpp lists them.
namespace umf::traces::access {

inline constexpr std::string_view kNameKey = "name";

PageKind dense_pages();
PageKind sinks_pages();
PageKind top_k_pages();
ExpertKind uniform_experts();
ExpertKind power_law_experts();
ExpertKind local_experts();
ExpertKind scattered_experts();

} // namespace umf::traces::access
