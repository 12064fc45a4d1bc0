#pragma once

#include "traces/generate/step.h"

#include <array>
#include <string>
#include <vector>

namespace umf::traces::generate {

/// A matrix as a tensor of the stream; `bytes` is 0 where the model has none.
struct Weight {
  stream::TensorId tensor = 0;
  Bytes bytes{};
  std::uint64_t out = 0, in = 0;
  stream::DType compute = stream::DType::bf16; ///< of products with it

  bool exists() const { return bytes.count != 0; }
};

/// Tensors of the weights of one layer (or of what is around them), by slot. An expert is one
/// tensor: gate and up, then down.
struct LayerWeights {
  std::array<Weight, shapes::kSlots> slots{};
  stream::TensorId first_expert = 0;

  const Weight& operator[](shapes::Slot slot) const {
    return slots[static_cast<std::size_t>(slot)];
  }
};

class Weights {
public:
  Weights(const StepOptions& options, Numbers& numbers);

  const LayerWeights& layer(std::uint32_t layer) const { return layers_[layer]; }
  const LayerWeights& around() const { return around_; }
  /// The output's matrix: its own or the embedding's.
  const Weight& head() const;

  /// Their tensors, in the order of use.
  void declare(std::vector<stream::Record>& records) const;
  Bytes bytes() const { return bytes_; }

private:
  LayerWeights place(const std::vector<shapes::Matrix>& matrices, const std::string& prefix,
                     std::int32_t layer, const shapes::WeightFormats& formats, Numbers& numbers);
  void declare_experts(const std::string& prefix, std::int32_t layer, std::uint32_t experts,
                       Bytes each, stream::DType dtype, LayerWeights& weights, Numbers& numbers);

  std::vector<LayerWeights> layers_;
  LayerWeights around_;
  std::vector<stream::Tensor> tensors_;
  Bytes bytes_{};
};

} // namespace umf::traces::generate
