#pragma once

#include "model/shapes/model.h"

#include <cstdint>
#include <vector>

namespace umf::shapes {

/// Layers that do equal work, together: the same feed-forward part and the same KV cache.
std::vector<std::vector<std::uint32_t>> equal_layers(const Model& model);

} // namespace umf::shapes
