#include "model/shapes/totals.h"

#include <functional>
#include <numeric>

namespace umf::shapes {

namespace {

ByPart sum_over(const Model& model, std::uint32_t tp,
                const std::function<std::uint64_t(const Matrix&)>& count) {
  ByPart sums{};
  const auto add = [&](const std::vector<Matrix>& matrices) {
    for (const Matrix& matrix : matrices)
      sums[static_cast<std::size_t>(matrix.part)] += count(matrix);
  };
  add(matrices_around(model, tp));
  for (std::uint32_t layer = 0; layer < model.layers; ++layer)
    add(matrices_of_layer(model, layer, tp));
  return sums;
}

} // namespace

std::uint64_t sum_of(const ByPart& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

ByPart parameters(const Model& model) {
  return sum_over(model, 1, [](const Matrix& matrix) { return matrix.elements(); });
}

std::uint64_t active_parameters(const Model& model) {
  const ByPart all = parameters(model);
  const std::uint64_t experts = all[static_cast<std::size_t>(Part::expert)];
  if (experts == 0) return sum_of(all);
  return sum_of(all) - experts / model.ffn.experts * (model.ffn.experts - model.ffn.top_k);
}

ByPart weight_bytes(const Model& model, const WeightFormats& formats, std::uint32_t tp) {
  return sum_over(model, tp, [&](const Matrix& matrix) { return bytes_of(matrix, formats).count; });
}

Bytes expert_bytes(const Model& model, const Format& format, std::uint32_t tp) {
  const std::uint64_t width = model.ffn.expert / tp;
  return format.bytes(2 * width, model.hidden) + format.bytes(model.hidden, width);
}

} // namespace umf::shapes
