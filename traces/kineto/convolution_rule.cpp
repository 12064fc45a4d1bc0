#include "traces/kineto/convolution_rule.h"

#include "traces/kineto/windows.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

namespace umf::traces::kineto {

namespace {

constexpr std::size_t kNone = 99; ///< no operator has so many arguments

/// Where an operator has its arguments (native_functions.yaml).
struct Form {
  std::string_view op;
  ConvolutionPart part;
  ConvolutionPlaces places;
  std::size_t bias = kNone;
  std::size_t stride = kNone;
  std::size_t padding = kNone;
  std::size_t dilation = kNone;
  std::size_t transposed = kNone;
};

constexpr Form kForms[] = {
    {"cudnn_convolution", ConvolutionPart::result, {0, 1}, kNone, 3, 2, 4},
    {"cudnn_convolution_relu", ConvolutionPart::result, {0, 1}, 2, 3, 4, 5},
    {"miopen_convolution", ConvolutionPart::result, {0, 1}, 2, 4, 3, 5},
    {"convolution", ConvolutionPart::result, {0, 1}, 2, 3, 4, 5, 6},
    {"_convolution", ConvolutionPart::result, {0, 1}, 2, 3, 4, 5, 6},
    {"conv1d", ConvolutionPart::result, {0, 1}, 2, 3, 4, 5},
    {"conv2d", ConvolutionPart::result, {0, 1}, 2, 3, 4, 5},
    {"conv3d", ConvolutionPart::result, {0, 1}, 2, 3, 4, 5},
    {"thnn_conv2d", ConvolutionPart::result, {0, 1}, 3, 4, 5},
    {"_slow_conv2d_forward", ConvolutionPart::result, {0, 1}, 3, 4, 5},
    {"_conv_depthwise2d", ConvolutionPart::result, {0, 1}, 3, 4, 5, 6},
    {"conv_depthwise3d", ConvolutionPart::result, {0, 1}, 3, 4, 5, 6},
    {"cudnn_convolution_backward_input", ConvolutionPart::input_gradient, {1, 2}},
    {"miopen_convolution_backward_input", ConvolutionPart::input_gradient, {1, 2}},
    {"cudnn_convolution_backward_weight", ConvolutionPart::weight_gradient, {1, 2}},
    {"miopen_convolution_backward_weight", ConvolutionPart::weight_gradient, {1, 2}},
    {"convolution_backward", ConvolutionPart::both, {0, 1}}};

const Form* find(std::string_view op) {
  const auto* found =
      std::find_if(std::begin(kForms), std::end(kForms), [&](const Form& f) { return f.op == op; });
  return found == std::end(kForms) ? nullptr : found;
}

std::optional<Shape> forward_result(const Form& form, const OperatorCall& call) {
  const auto* input = tensor_at(call.arguments, form.places.first);
  const auto* weight = tensor_at(call.arguments, form.places.second);
  if (!input || !weight || input->shape.size() != weight->shape.size()) return std::nullopt;
  if (input->shape.size() < 3) return std::nullopt;
  if (flag_at(call.arguments, form.transposed).value_or(false)) return std::nullopt;
  if (call.learned) return *call.learned;
  auto stride = list_at(call.arguments, form.stride);
  auto padding = list_at(call.arguments, form.padding);
  if (!stride || !padding) return std::nullopt;
  Windows windows;
  windows.kernel.assign(weight->shape.begin() + 2, weight->shape.end());
  windows.stride = std::move(*stride);
  windows.padding = std::move(*padding);
  if (const auto dilation = list_at(call.arguments, form.dilation)) windows.dilation = *dilation;
  auto shape = slid(input->shape, windows);
  if (shape) (*shape)[1] = weight->shape[0];
  return shape;
}

/// The gradient's shape: recorded as the first argument, or learned.
std::optional<Shape> gradient_shape(const OperatorCall& call) {
  if (auto recorded = list_at(call.arguments, 0)) return recorded;
  if (call.learned) return *call.learned;
  return std::nullopt;
}

/// `weight` is (filters, channels of a group, window): what one element of a result takes.
double flops_of(const Shape& result, const Shape& weight) {
  if (weight.empty() || weight[0] <= 0) return 0;
  return 2.0 * static_cast<double>(elements_of(result)) * static_cast<double>(elements_of(weight)) /
         static_cast<double>(weight[0]);
}

Work forward_work(const Form& form, const OperatorCall& call) {
  auto result = forward_result(form, call);
  if (!result) return {};
  const auto* input = tensor_at(call.arguments, form.places.first);
  const auto* weight = tensor_at(call.arguments, form.places.second);
  WorkBuilder work(stream::Rule::convolution, call.arguments);
  work.read(form.places.first).read_weight(form.places.second, Slot::weight);
  work.may_read_weight(form.bias, Slot::bias);
  work.flops(flops_of(*result, weight->shape), input->dtype);
  return work.write(std::move(*result), input->dtype).build();
}

Work input_gradient_work(const Form& form, const OperatorCall& call) {
  const auto* gradient = tensor_at(call.arguments, form.places.first);
  const auto* weight = tensor_at(call.arguments, form.places.second);
  auto shape = gradient_shape(call);
  if (!gradient || !weight || !shape) return {};
  return WorkBuilder(stream::Rule::convolution, call.arguments)
      .read(form.places.first)
      .read_weight(form.places.second, Slot::weight, true)
      .flops(flops_of(gradient->shape, weight->shape), gradient->dtype)
      .write(std::move(*shape), gradient->dtype)
      .build();
}

Work weight_gradient_work(const Form& form, const OperatorCall& call) {
  const auto* gradient = tensor_at(call.arguments, form.places.first);
  auto shape = gradient_shape(call);
  if (!gradient || !shape) return {};
  const auto flops = flops_of(gradient->shape, *shape);
  return WorkBuilder(stream::Rule::convolution, call.arguments)
      .read(form.places.first)
      .read(form.places.second)
      .flops(flops, gradient->dtype)
      .write(std::move(*shape), gradient->dtype)
      .build();
}

/// output_mask "[True, True, False]" says which of the gradients of input, weight and bias
/// are computed; all of input and weight where it is not recorded.
std::array<bool, 3> wanted_gradients(const Arguments& arguments) {
  constexpr std::size_t mask = 10;
  if (arguments.size() <= mask) return {true, true, false};
  const std::string_view text = arguments[mask].concrete;
  std::array<bool, 3> wanted{};
  std::size_t at = 0;
  for (auto& want : wanted) {
    at = text.find_first_of("TF", at);
    if (at == std::string_view::npos) return {true, true, false};
    want = text[at++] == 'T';
  }
  return wanted;
}

/// (grad, input, weight, ...): both gradients by one operator.
Work both_work(const OperatorCall& call) {
  const auto* gradient = tensor_at(call.arguments, 0);
  const auto* input = tensor_at(call.arguments, 1);
  const auto* weight = tensor_at(call.arguments, 2);
  if (!gradient || !input || !weight || weight->shape.empty()) return {};
  const auto wanted = wanted_gradients(call.arguments);
  const double each = flops_of(gradient->shape, weight->shape);
  WorkBuilder work(stream::Rule::convolution, call.arguments);
  work.read(0);
  if (wanted[1]) work.read(1);
  if (wanted[0]) work.read_weight(2, Slot::weight, true).write_like(1);
  if (wanted[1]) work.write_like(2);
  if (wanted[2]) work.write({weight->shape[0]}, weight->dtype);
  return work.flops((wanted[0] ? each : 0) + (wanted[1] ? each : 0), gradient->dtype).build();
}

} // namespace

bool is_convolution(std::string_view op) {
  return find(op) != nullptr;
}

bool is_convolution_kernel(std::string_view kernel) {
  // Changes of layout and tables of offsets go before the kernel that works.
  for (const std::string_view other : {"nchwToNhwc", "nhwcToNchw", "computeOffsets", "scalePacked",
                                       "computeBOffsets", "elementwise"})
    if (kernel.find(other) != std::string_view::npos) return false;
  constexpr std::array<std::string_view, 11> words{"conv",  "Conv",     "gemm",     "xmma",
                                                   "wgrad", "dgrad",    "fprop",    "cutlass",
                                                   "Cijk",  "winograd", "miopenSp3"};
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return kernel.find(word) != std::string_view::npos;
  });
}

ConvolutionPart convolution_part(std::string_view op) {
  const auto* form = find(op);
  return form ? form->part : ConvolutionPart::none;
}

ConvolutionPlaces convolution_places(std::string_view op) {
  const auto* form = find(op);
  return form ? form->places : ConvolutionPlaces{};
}

bool tells_convolution(const OperatorCall& call) {
  const auto* form = find(call.op);
  if (!form || form->part == ConvolutionPart::both) return true;
  if (form->part == ConvolutionPart::result) return forward_result(*form, call).has_value();
  return gradient_shape(call).has_value();
}

Work convolution_work(const OperatorCall& call) {
  const auto* form = find(call.op);
  if (!form) return {};
  switch (form->part) {
  case ConvolutionPart::result:
    return forward_work(*form, call);
  case ConvolutionPart::input_gradient:
    return input_gradient_work(*form, call);
  case ConvolutionPart::weight_gradient:
    return weight_gradient_work(*form, call);
  case ConvolutionPart::both:
    return both_work(call);
  case ConvolutionPart::none:
    break;
  }
  return {};
}

} // namespace umf::traces::kineto
