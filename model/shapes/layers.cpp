#include "model/shapes/layers.h"

#include "model/shapes/kv.h"

#include <algorithm>

namespace umf::shapes {

std::vector<std::vector<std::uint32_t>> equal_layers(const Model& model) {
  std::vector<std::vector<std::uint32_t>> kinds;
  for (std::uint32_t layer = 0; layer < model.layers; ++layer) {
    const auto like = [&](const std::vector<std::uint32_t>& kind) {
      return model.is_moe(kind.front()) == model.is_moe(layer) &&
             kv_parts(model, kind.front()) == kv_parts(model, layer);
    };
    const auto known = std::find_if(kinds.begin(), kinds.end(), like);
    if (known == kinds.end())
      kinds.push_back({layer});
    else
      known->push_back(layer);
  }
  return kinds;
}

} // namespace umf::shapes
