#pragma once

#include "traces/kineto/work.h"

#include <cstdint>
#include <string_view>

namespace umf::traces::kineto {

/// Convolutions, forward and backward; transposed ones only backward.
bool is_convolution(std::string_view op);
bool is_convolution_kernel(std::string_view kernel);

/// What a convolution computes, and so which of its three tensors the arguments leave out
/// when the lists among them (stride, sizes) were not recorded.
enum class ConvolutionPart : std::uint8_t { none, result, input_gradient, weight_gradient, both };
ConvolutionPart convolution_part(std::string_view op);
/// Where the arguments hold input or gradient (the first) and weight or input (the second).
struct ConvolutionPlaces {
  std::size_t first = 0;
  std::size_t second = 1;
};
ConvolutionPlaces convolution_places(std::string_view op);
/// True when the arguments tell the third shape.
bool tells_convolution(const OperatorCall& call);

/// Input, weight and bias read, the result written; backward the gradient and what it is
/// taken against. 2·(elements of the result)·(elements of one filter) FLOPs, forward and for
/// each of the two gradients.
Work convolution_work(const OperatorCall& call);

} // namespace umf::traces::kineto
