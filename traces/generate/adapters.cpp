#include "traces/generate/adapters.h"

#include <fmt/format.h>

#include <algorithm>

namespace umf::traces::generate {

Adapters::Adapters(const StepOptions& options, const Weights& weights, Numbers& numbers)
    : adapters_(options.lora_adapters) {
  pairs_.resize(options.model.layers);
  if (adapters_ == 0) return;
  const std::uint64_t rank = options.lora_rank;
  for (std::uint32_t layer = 0; layer < options.model.layers; ++layer)
    for (std::size_t i = 0; i < kAdapted.size(); ++i) {
      const Weight& weight = weights.layer(layer)[kAdapted[i]];
      if (!weight.exists()) continue;
      Pair& pair = pairs_[layer][i];
      pair = {numbers.tensor,
              rank,
              {rank * weight.in * kActivation},
              {rank * weight.out * kActivation}};
      for (std::uint32_t a = 0; a < adapters_; ++a)
        tensors_.push_back(
            {numbers.tensor++,
             fmt::format("layers.{}.{}.lora.{}", layer, shapes::name_of(kAdapted[i]), a),
             stream::Role::lora,
             stream::DType::bf16,
             {static_cast<std::int64_t>(rank), static_cast<std::int64_t>(weight.in + weight.out)},
             pair.down + pair.up,
             static_cast<std::int32_t>(layer)});
    }
}

const Adapters::Pair& Adapters::of(std::uint32_t layer, shapes::Slot slot) const {
  static const Pair none;
  const auto at = std::find(kAdapted.begin(), kAdapted.end(), slot);
  return at == kAdapted.end() ? none
                              : pairs_[layer][static_cast<std::size_t>(at - kAdapted.begin())];
}

void Adapters::declare(std::vector<stream::Record>& records) const {
  for (const stream::Tensor& tensor : tensors_)
    records.emplace_back(tensor);
}

void Adapters::used_by(std::span<const Sequence> batch,
                       std::vector<std::uint32_t>& adapters) const {
  adapters.clear();
  if (adapters_ == 0) return;
  for (const Sequence& sequence : batch)
    adapters.push_back(static_cast<std::uint32_t>(sequence.id % adapters_));
  std::sort(adapters.begin(), adapters.end());
  adapters.erase(std::unique(adapters.begin(), adapters.end()), adapters.end());
}

} // namespace umf::traces::generate
