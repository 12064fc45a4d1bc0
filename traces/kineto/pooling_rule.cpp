#include "traces/kineto/pooling_rule.h"

#include "traces/kineto/windows.h"

#include <algorithm>
#include <iterator>

namespace umf::traces::kineto {

namespace {

enum class Form : std::uint8_t {
  windows,  ///< (input, kernel, stride, padding, ...)
  adaptive, ///< (input, result size)
  backward  ///< (grad, input, ...)
};

struct Pooling {
  std::string_view op;
  Form form;
  bool places = false;      ///< writes, or backward reads, the places of maxima
  std::size_t dilation = 0; ///< its argument; 0: has none
  std::size_t ceiling = 0;  ///< the flag that rounds sizes up
};

constexpr Pooling kPoolings[] = {{"max_pool2d_with_indices", Form::windows, true, 4, 5},
                                 {"avg_pool2d", Form::windows, false, 0, 4},
                                 {"_adaptive_avg_pool2d", Form::adaptive},
                                 {"adaptive_avg_pool2d", Form::adaptive},
                                 {"adaptive_max_pool2d", Form::adaptive, true},
                                 {"max_pool2d_with_indices_backward", Form::backward, true},
                                 {"avg_pool2d_backward", Form::backward},
                                 {"_adaptive_avg_pool2d_backward", Form::backward}};

const Pooling* find(std::string_view op) {
  const auto* found = std::find_if(std::begin(kPoolings), std::end(kPoolings),
                                   [&](const Pooling& p) { return p.op == op; });
  return found == std::end(kPoolings) ? nullptr : found;
}

std::optional<Shape> result_shape(const Pooling& pooling, const OperatorCall& call) {
  if (call.learned) return *call.learned;
  const auto* input = tensor_at(call.arguments, 0);
  const auto size = list_at(call.arguments, 1);
  if (!input || !size) return std::nullopt;
  if (pooling.form == Form::adaptive) {
    if (size->size() >= input->shape.size()) return std::nullopt;
    Shape shape = input->shape;
    std::copy(size->rbegin(), size->rend(), shape.rbegin());
    return shape;
  }
  Windows windows;
  windows.kernel = *size;
  if (const auto stride = list_at(call.arguments, 2)) windows.stride = *stride;
  if (windows.stride.empty()) windows.stride = *size; // PyTorch's default
  if (const auto padding = list_at(call.arguments, 3)) windows.padding = *padding;
  if (pooling.dilation != 0)
    if (const auto dilation = list_at(call.arguments, pooling.dilation))
      windows.dilation = *dilation;
  windows.round_up = flag_at(call.arguments, pooling.ceiling).value_or(false);
  return slid(input->shape, windows);
}

} // namespace

bool is_pooling(std::string_view op) {
  return find(op) != nullptr;
}

bool is_pooling_kernel(std::string_view kernel) {
  return kernel.find("ool") != std::string_view::npos ||
         kernel.find("adaptive_average") != std::string_view::npos;
}

Work pooling_work(const OperatorCall& call) {
  const auto* pooling = find(call.op);
  const auto* input = tensor_at(call.arguments, 0);
  if (!pooling || !input) return {};
  WorkBuilder work(stream::Rule::pooling, call.arguments);
  if (pooling->form == Form::backward) {
    constexpr std::size_t places = 7; // (grad, input, kernel, stride, padding, dilation, ceil, ...)
    work.read(0);
    // The gradient's place is recorded where maxima lay; averages need only the input's shape.
    if (pooling->places) work.read(places);
    return work.write_like(1).build();
  }
  const auto result = result_shape(*pooling, call);
  if (!result) return {};
  work.read(0).write(*result, input->dtype);
  if (pooling->places) work.write(*result, stream::DType::i64);
  return work.build();
}

} // namespace umf::traces::kineto
