#include "traces/generate/weights.h"

#include <fmt/format.h>

namespace umf::traces::generate {

using shapes::Matrix;
using shapes::Slot;

Weights::Weights(const StepOptions& options, Numbers& numbers) {
  const shapes::Model& model = options.model;
  around_ = place(shapes::matrices_around(model, options.tp), "", -1, options.weights, numbers);
  layers_.reserve(model.layers);
  for (std::uint32_t layer = 0; layer < model.layers; ++layer)
    layers_.push_back(place(shapes::matrices_of_layer(model, layer, options.tp),
                            fmt::format("layers.{}.", layer), static_cast<std::int32_t>(layer),
                            options.weights, numbers));
}

LayerWeights Weights::place(const std::vector<Matrix>& matrices, const std::string& prefix,
                            std::int32_t layer, const shapes::WeightFormats& formats,
                            Numbers& numbers) {
  LayerWeights weights;
  Bytes expert{};
  std::uint32_t experts = 0;
  stream::DType expert_dtype{};
  for (const Matrix& matrix : matrices) {
    const shapes::Format& format = shapes::format_of(matrix, formats);
    const Bytes bytes = shapes::bytes_of(matrix, formats);
    bytes_ += bytes;
    Weight& weight = weights.slots[static_cast<std::size_t>(matrix.slot)];
    weight = {0, bytes, matrix.out, matrix.in, format.compute};
    if (matrix.part == shapes::Part::expert) { // of one expert
      weight.bytes = format.bytes(matrix.out, matrix.in);
      expert += weight.bytes;
      experts = matrix.copies;
      expert_dtype = format.dtype;
      continue;
    }
    weight.tensor = numbers.tensor++;
    stream::Tensor tensor{weight.tensor,
                          prefix + std::string(shapes::name_of(matrix.slot)),
                          stream::Role::weight,
                          format.dtype,
                          {static_cast<std::int64_t>(matrix.out)},
                          bytes,
                          layer};
    if (matrix.in != 1) tensor.shape.push_back(static_cast<std::int64_t>(matrix.in));
    tensors_.push_back(std::move(tensor));
  }
  declare_experts(prefix, layer, experts, expert, expert_dtype, weights, numbers);
  return weights;
}

void Weights::declare_experts(const std::string& prefix, std::int32_t layer, std::uint32_t experts,
                              Bytes each, stream::DType dtype, LayerWeights& weights,
                              Numbers& numbers) {
  weights.first_expert = numbers.tensor;
  for (std::uint32_t e = 0; e < experts; ++e) {
    const Weight& down = weights[Slot::expert_down];
    tensors_.push_back(
        {numbers.tensor++,
         fmt::format("{}experts.{}", prefix, e),
         stream::Role::expert,
         dtype,
         {3, static_cast<std::int64_t>(down.in), static_cast<std::int64_t>(down.out)},
         each,
         layer});
  }
}

const Weight& Weights::head() const {
  const Weight& own = around_[Slot::lm_head];
  return own.exists() ? own : around_[Slot::embedding];
}

void Weights::declare(std::vector<stream::Record>& records) const {
  records.reserve(records.size() + tensors_.size());
  for (const stream::Tensor& tensor : tensors_)
    records.emplace_back(tensor);
}

} // namespace umf::traces::generate
