#include "traces/generate/routers.h"

#include <numeric>
#include <utility>

namespace umf::traces::generate {

void ChoosingRouter::route(std::uint32_t layer, std::span<const Sequence> batch,
                           std::vector<std::uint32_t>& loads) {
  for (const Sequence& sequence : batch)
    for (std::uint64_t token = 0; token < sequence.fresh; ++token) {
      chooser_->choose(sequence.id, layer, experts_);
      for (const std::uint32_t expert : experts_)
        ++loads[expert];
    }
}

UniformRouter::UniformRouter(const shapes::Model& model, std::uint64_t seed)
    : experts_(model.ffn.experts), top_k_(model.ffn.top_k), random_(seed, "generate.routing"),
      order_(experts_) {
  std::iota(order_.begin(), order_.end(), 0u);
}

void UniformRouter::route(std::uint32_t, std::span<const Sequence> batch,
                          std::vector<std::uint32_t>& loads) {
  std::uint64_t tokens = 0;
  for (const Sequence& sequence : batch)
    tokens += sequence.fresh;
  for (std::uint64_t token = 0; token < tokens; ++token)
    for (std::uint32_t k = 0; k < top_k_; ++k) {
      std::swap(order_[k], order_[k + random_.next_below(experts_ - k)]);
      ++loads[order_[k]];
    }
}

} // namespace umf::traces::generate
