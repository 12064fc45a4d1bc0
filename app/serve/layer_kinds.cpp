#include "app/serve/layer_kinds.h"

#include "model/shapes/kv.h"

#include <algorithm>
#include <tuple>

namespace umf::app {

namespace {

bool equal_parts(const std::vector<shapes::KvPart>& a, const std::vector<shapes::KvPart>& b) {
  const auto key = [](const shapes::KvPart& part) {
    return std::tuple(part.heads, part.numbers, part.entry, part.tokens_per_entry, part.window,
                      part.top_k);
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](const auto& x, const auto& y) { return key(x) == key(y); });
}

} // namespace

std::vector<std::vector<std::uint32_t>> equal_layers(const shapes::Model& model) {
  std::vector<std::vector<std::uint32_t>> kinds;
  for (std::uint32_t layer = 0; layer < model.layers; ++layer) {
    const auto like = [&](const std::vector<std::uint32_t>& kind) {
      return model.is_moe(kind.front()) == model.is_moe(layer) &&
             equal_parts(shapes::kv_parts(model, kind.front()), shapes::kv_parts(model, layer));
    };
    const auto known = std::find_if(kinds.begin(), kinds.end(), like);
    if (known == kinds.end())
      kinds.push_back({layer});
    else
      known->push_back(layer);
  }
  return kinds;
}

} // namespace umf::app
