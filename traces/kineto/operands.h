#pragma once

#include "model/stream/records.h"
#include "traces/kineto/issued.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace umf::traces::kineto {

using Shape = std::vector<std::int64_t>;

/// One tensor among an operator's inputs, as the profiler recorded it.
struct InputTensor {
  stream::DType dtype = stream::DType::unknown;
  Shape shape;
  Shape strides; ///< in elements; empty when not recorded
};

/// One argument of an operator.
struct Argument {
  std::vector<InputTensor> tensors; ///< one, or several of a TensorList; none for other values
  bool list = false;                ///< a TensorList
  bool scalar = false;              ///< a number, or a tensor without dimensions
  stream::DType dtype = stream::DType::unknown;
  std::string concrete; ///< value as text; empty when not recorded
};

/// The arguments of a call; empty when the trace was taken without shapes or they are
/// malformed.
std::vector<Argument> arguments_of(const Op& op);

/// The tensor that is argument `i`; null for lists, values and what is not there.
const InputTensor* tensor_at(const std::vector<Argument>& arguments, std::size_t i);

/// Argument `i` as recorded in "Concrete Inputs": a whole number, True or False, a list of
/// whole numbers ("[1, 1]"). Nothing when it was not recorded or is something else.
std::optional<std::int64_t> number_at(const std::vector<Argument>& arguments, std::size_t i);
std::optional<bool> flag_at(const std::vector<Argument>& arguments, std::size_t i);
std::optional<Shape> list_at(const std::vector<Argument>& arguments, std::size_t i);

/// PyTorch's names for element types ("float", "c10::BFloat16", "long int").
stream::DType dtype_from(std::string_view name);
/// at::ScalarType's numbers (torch/headeronly/core/ScalarType.h: 5 Half, 6 Float, 15 BFloat16).
stream::DType dtype_from_number(std::int64_t number);

/// Product of the dimensions; 0 when it does not fit.
std::uint64_t elements_of(const Shape& shape);

/// The shape in storage: expanded dimensions (stride 0) count once.
Shape stored_shape(const InputTensor& tensor);

/// Elements between the first and the last touched: max over dims of Σ stride·(dim−1), plus
/// one, and never more than the stored shape has.
std::uint64_t stored_elements(const InputTensor& tensor);

} // namespace umf::traces::kineto
