#pragma once

#include "traces/generate/weights.h"

#include <array>
#include <vector>

namespace umf::traces::generate {

/// LoRA adapters beside the products of dense layers: of each matrix and adapter one tensor, A
/// (rank × in) and then B (out × rank), in BF16. A sequence uses adapter id mod adapters.
class Adapters {
public:
  Adapters(const StepOptions& options, const Weights& weights, Numbers& numbers);

  /// What one matrix has; no adapters: rank 0.
  struct Pair {
    stream::TensorId first = 0; ///< of adapter 0
    std::uint64_t rank = 0;
    Bytes down{}, up{}; ///< A, B
  };
  const Pair& of(std::uint32_t layer, shapes::Slot slot) const;

  void declare(std::vector<stream::Record>& records) const;
  /// Those a batch uses, ascending.
  void used_by(std::span<const Sequence> batch, std::vector<std::uint32_t>& adapters) const;

private:
  static constexpr std::array kAdapted = {shapes::Slot::qkv, shapes::Slot::output,
                                          shapes::Slot::gate_up, shapes::Slot::down};

  std::uint32_t adapters_;
  std::vector<std::array<Pair, kAdapted.size()>> pairs_; ///< by layer
  std::vector<stream::Tensor> tensors_;
};

} // namespace umf::traces::generate
