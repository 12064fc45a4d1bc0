#include "traces/kineto/elementwise_rule.h"

#include "traces/kineto/decimal.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace umf::traces::kineto {

namespace {

using stream::DType;

enum class Form : std::uint8_t { pointwise, compare, copy, fill, convert, concatenate };

struct Pointwise {
  std::string_view op;
  std::size_t inputs; ///< leading arguments that are operands; an `out` tensor comes later
  Form form = Form::pointwise;
};

constexpr Pointwise kPointwise[] = {{"add", 2},
                                    {"sub", 2},
                                    {"rsub", 2},
                                    {"mul", 2},
                                    {"div", 2},
                                    {"pow", 2},
                                    {"maximum", 2},
                                    {"minimum", 2},
                                    {"fmod", 2},
                                    {"remainder", 2},
                                    {"atan2", 2},
                                    {"floor_divide", 2},
                                    {"addcmul", 3},
                                    {"addcdiv", 3},
                                    {"lerp", 3},
                                    {"neg", 1},
                                    {"abs", 1},
                                    {"exp", 1},
                                    {"exp2", 1},
                                    {"expm1", 1},
                                    {"log", 1},
                                    {"log2", 1},
                                    {"log1p", 1},
                                    {"sqrt", 1},
                                    {"rsqrt", 1},
                                    {"reciprocal", 1},
                                    {"square", 1},
                                    {"sin", 1},
                                    {"cos", 1},
                                    {"tanh", 1},
                                    {"sigmoid", 1},
                                    {"silu", 1},
                                    {"gelu", 1},
                                    {"relu", 1},
                                    {"elu", 1},
                                    {"leaky_relu", 1},
                                    {"hardtanh", 1},
                                    {"softplus", 1},
                                    {"erf", 1},
                                    {"floor", 1},
                                    {"ceil", 1},
                                    {"round", 1},
                                    {"trunc", 1},
                                    {"sign", 1},
                                    {"clamp", 1},
                                    {"clamp_min", 1},
                                    {"clamp_max", 1},
                                    {"threshold", 1},
                                    {"bitwise_and", 2},
                                    {"bitwise_or", 2},
                                    {"bitwise_xor", 2},
                                    {"bitwise_not", 1},
                                    {"masked_fill", 2},
                                    {"where", 3},
                                    {"silu_backward", 2},
                                    {"gelu_backward", 2},
                                    {"sigmoid_backward", 2},
                                    {"tanh_backward", 2},
                                    {"threshold_backward", 2},
                                    {"hardtanh_backward", 2},
                                    {"leaky_relu_backward", 2},
                                    {"elu_backward", 2},
                                    {"softplus_backward", 2},
                                    {"hardswish", 1},
                                    {"hardswish_backward", 2},
                                    {"hardsigmoid", 1},
                                    {"hardsigmoid_backward", 2},
                                    {"mish", 1},
                                    {"nan_to_num", 1},
                                    {"erfc", 1},
                                    {"tan", 1},
                                    {"sinh", 1},
                                    {"cosh", 1},
                                    {"atan", 1},
                                    {"frac", 1},
                                    {"xlogy", 2},
                                    {"eq", 2, Form::compare},
                                    {"ne", 2, Form::compare},
                                    {"lt", 2, Form::compare},
                                    {"le", 2, Form::compare},
                                    {"gt", 2, Form::compare},
                                    {"ge", 2, Form::compare},
                                    {"logical_and", 2, Form::compare},
                                    {"logical_or", 2, Form::compare},
                                    {"logical_not", 1, Form::compare},
                                    {"isnan", 1, Form::compare},
                                    {"isinf", 1, Form::compare},
                                    {"copy", 2, Form::copy},
                                    {"fill", 1, Form::fill},
                                    {"zero", 1, Form::fill},
                                    {"to", 1, Form::convert},
                                    {"_to_copy", 1, Form::convert},
                                    {"clone", 1},
                                    {"cat", 1, Form::concatenate}};

bool is_in_place(std::string_view op) {
  return op.size() > 1 && op.back() == '_';
}

std::string_view without_underscore(std::string_view op) {
  return is_in_place(op) ? op.substr(0, op.size() - 1) : op;
}

const Pointwise* find(std::string_view op) {
  const auto bare = without_underscore(op);
  const auto found = std::find_if(std::begin(kPointwise), std::end(kPointwise),
                                  [&](const Pointwise& p) { return p.op == bare; });
  if (found == std::end(kPointwise)) return nullptr;
  const bool only_in_place = found->form == Form::copy || found->form == Form::fill;
  return only_in_place && !is_in_place(op) ? nullptr : &*found;
}

/// PyTorch's categories for type promotion: boolean, integer, floating, complex.
int category(DType dtype) {
  switch (dtype) {
  case DType::boolean:
    return 0;
  case DType::u8:
  case DType::i8:
  case DType::i16:
  case DType::i32:
  case DType::i64:
    return 1;
  case DType::c64:
  case DType::c128:
    return 3;
  default:
    return 2;
  }
}

/// Type of the result of two operands that both have dimensions.
DType promoted(DType a, DType b) {
  if (a == b || a == DType::unknown) return b;
  if (category(a) != category(b)) return category(a) > category(b) ? a : b;
  const auto bits_a = stream::bits_of(a);
  const auto bits_b = stream::bits_of(b);
  if (bits_a == bits_b && category(a) == 2) return DType::f32; // f16 with bf16
  return bits_a >= bits_b ? a : b;
}

bool broadcast(const Shape& other, Shape& shape) {
  if (other.size() > shape.size()) shape.insert(shape.begin(), other.size() - shape.size(), 1);
  const auto shift = shape.size() - other.size();
  for (std::size_t i = 0; i < other.size(); ++i) {
    auto& dim = shape[shift + i];
    if (dim != other[i] && dim != 1 && other[i] != 1) return false;
    if (dim == 1) dim = other[i];
  }
  return true;
}

/// The tensors among the operands, with the argument each came from.
struct Input {
  const InputTensor* tensor;
  std::size_t argument;
};

std::vector<Input> inputs_of(const std::vector<Argument>& arguments, std::size_t first,
                             std::size_t end) {
  std::vector<Input> inputs;
  for (std::size_t i = first; i < std::min(end, arguments.size()); ++i)
    for (const auto& tensor : arguments[i].tensors)
      inputs.push_back({&tensor, i});
  return inputs;
}

bool all_known(const std::vector<Input>& inputs) {
  return std::all_of(inputs.begin(), inputs.end(), [](const Input& input) {
    return stream::bits_of(input.tensor->dtype) != 0 && elements_of(input.tensor->shape) != 0;
  });
}

/// Masks choose and do not take part in promotion (where's first, masked_fill's second).
bool is_mask(std::string_view op, std::size_t argument) {
  const auto bare = without_underscore(op);
  return (bare == "where" && argument == 0) || (bare == "masked_fill" && argument == 1);
}

DType result_type(std::string_view op, const std::vector<Input>& inputs,
                  const std::vector<Argument>& arguments, const Pointwise& rule) {
  if (rule.form == Form::compare) return DType::boolean;
  if (rule.form == Form::convert && arguments.size() > 1)
    if (const auto number = whole_number(arguments[1].concrete))
      if (const auto dtype = dtype_from_number(*number); dtype != DType::unknown) return dtype;
  auto dtype = DType::unknown;
  for (const auto& input : inputs)
    if (!is_mask(op, input.argument)) dtype = promoted(dtype, input.tensor->dtype);
  // A 0-dimensional tensor promotes only to a higher category.
  for (std::size_t i = 0; i < std::min(rule.inputs, arguments.size()); ++i)
    if (arguments[i].scalar && arguments[i].dtype == DType::f64 && category(dtype) < 2)
      dtype = DType::f32;
  return dtype;
}

/// The dimension cat joins along: as recorded, else the first in which the inputs differ,
/// else the outermost.
std::int64_t cat_dimension(const std::vector<Input>& inputs,
                           const std::vector<Argument>& arguments) {
  const auto& first = inputs.front().tensor->shape;
  if (arguments.size() > 1)
    if (const auto along = whole_number(arguments[1].concrete))
      return *along < 0 ? *along + static_cast<std::int64_t>(first.size()) : *along;
  for (const auto& input : inputs) {
    const auto& shape = input.tensor->shape;
    const auto [at, rest] = std::mismatch(first.begin(), first.end(), shape.begin(), shape.end());
    if (at != first.end()) return at - first.begin();
  }
  return 0;
}

std::optional<Shape> concatenated(const std::vector<Input>& inputs,
                                  const std::vector<Argument>& arguments) {
  Shape shape = inputs.front().tensor->shape;
  const auto dim = cat_dimension(inputs, arguments);
  if (dim < 0 || dim >= static_cast<std::int64_t>(shape.size())) return std::nullopt;
  const auto at = static_cast<std::size_t>(dim);
  shape[at] = 0;
  for (const auto& input : inputs) {
    const auto& other = input.tensor->shape;
    if (other.size() != shape.size()) return std::nullopt;
    if (__builtin_add_overflow(shape[at], other[at], &shape[at])) return std::nullopt;
  }
  return shape;
}

std::optional<Shape> result_shape(const std::vector<Input>& inputs,
                                  const std::vector<Argument>& arguments, Form form) {
  if (form == Form::concatenate) return concatenated(inputs, arguments);
  Shape shape;
  for (const auto& input : inputs)
    if (!broadcast(input.tensor->shape, shape)) return std::nullopt;
  return shape;
}

Work with_rule(std::vector<Operand> operands) {
  Work work;
  work.rule = stream::Rule::elementwise;
  work.operands = std::move(operands);
  return work;
}

/// The profiler writes "TensorList" for the type of a list. The kernel that joins one names
/// its element's type, or an opaque one of as many bytes: of 2 bytes then the 16-bit type of
/// this trace, of others the plainest.
DType joined_type(std::string_view kernel, DType half) {
  constexpr std::string_view opaque = "OpaqueType<";
  if (const auto at = kernel.find(opaque); at != std::string_view::npos) {
    const auto digit = kernel.substr(at + opaque.size(), 2);
    if (digit == "1u") return DType::u8;
    if (digit == "2u") return half;
    if (digit == "4u") return DType::f32;
    if (digit == "8u") return DType::i64;
    return digit == "16" ? DType::c128 : DType::unknown;
  }
  const auto name = kernel.find("CatArray");
  const auto begin = std::min(kernel.find('<', name), kernel.size());
  const auto end = std::min(kernel.find(',', begin), kernel.size());
  return begin < end ? dtype_from(kernel.substr(begin + 1, end - begin - 1)) : DType::unknown;
}

std::vector<Argument> with_list_type(const OperatorCall& call) {
  auto arguments = call.arguments;
  arguments[0].dtype = joined_type(call.kernel, call.half);
  for (auto& tensor : arguments[0].tensors)
    tensor.dtype = arguments[0].dtype;
  return arguments;
}

/// copy_(destination, source).
Work copy_work(const std::vector<Argument>& arguments) {
  const auto inputs = inputs_of(arguments, 0, 2);
  if (inputs.empty() || inputs.front().argument != 0 || !all_known(inputs)) return {};
  std::vector<Operand> operands;
  if (inputs.size() > 1) operands.push_back(read_operand(*inputs[1].tensor, 1, Part::activation));
  operands.push_back(read_operand(*inputs[0].tensor, 0, Part::output));
  return with_rule(std::move(operands));
}

Work pointwise_work(std::string_view op, const std::vector<Argument>& arguments,
                    const Pointwise& rule) {
  const auto inputs = inputs_of(arguments, 0, rule.inputs);
  if (inputs.empty() || !all_known(inputs)) return {};
  // cat's `out` overload is recorded with the result first and no inputs.
  if (rule.form == Form::concatenate && !arguments[0].list) return {};
  std::vector<Operand> operands;
  if (rule.form != Form::fill)
    for (const auto& input : inputs)
      operands.push_back(read_operand(*input.tensor, input.argument, Part::activation));
  if (is_in_place(op)) {
    if (inputs.front().argument != 0) return {};
    const auto part = rule.form == Form::fill ? Part::output : Part::in_place;
    operands.push_back(read_operand(*inputs.front().tensor, 0, part));
    return with_rule(std::move(operands));
  }
  auto shape = result_shape(inputs, arguments, rule.form);
  const auto dtype = result_type(op, inputs, arguments, rule);
  if (!shape || elements_of(*shape) == 0 || stream::bits_of(dtype) == 0) return {};
  operands.push_back(result_operand(std::move(*shape), dtype));
  return with_rule(std::move(operands));
}

} // namespace

bool is_elementwise(std::string_view op) {
  return find(op) != nullptr;
}

bool is_elementwise_kernel(std::string_view kernel) {
  return kernel.find("elementwise") != std::string_view::npos ||
         kernel.find("CatArray") != std::string_view::npos;
}

Work elementwise_work(const OperatorCall& call) {
  const auto* rule = find(call.op);
  if (!rule) return {};
  if (rule->form == Form::copy) return copy_work(call.arguments);
  if (rule->form == Form::concatenate && !call.arguments.empty() && call.arguments[0].list &&
      call.arguments[0].dtype == DType::unknown)
    return pointwise_work(call.op, with_list_type(call), *rule);
  return pointwise_work(call.op, call.arguments, *rule);
}

} // namespace umf::traces::kineto
