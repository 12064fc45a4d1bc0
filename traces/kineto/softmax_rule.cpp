#include "traces/kineto/softmax_rule.h"

#include <algorithm>
#include <array>

namespace umf::traces::kineto {

namespace {

constexpr std::array<std::string_view, 5> kForward{"_softmax", "_log_softmax", "softmax",
                                                   "log_softmax", "_safe_softmax"};
constexpr std::array<std::string_view, 2> kBackward{"_softmax_backward_data",
                                                    "_log_softmax_backward_data"};

template <std::size_t N>
bool holds(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

} // namespace

bool is_softmax(std::string_view op) {
  return holds(kForward, op) || holds(kBackward, op);
}

bool is_softmax_kernel(std::string_view kernel) {
  return kernel.find("oftmax") != std::string_view::npos ||
         kernel.find("oftMax") != std::string_view::npos;
}

Work softmax_work(const OperatorCall& call) {
  const auto* input = tensor_at(call.arguments, 0);
  if (!input) return {};
  WorkBuilder work(stream::Rule::softmax, call.arguments);
  if (holds(kBackward, call.op)) return work.read(0).read(1).write_like(1).build();
  constexpr std::size_t half_to_float = 2;
  const bool widens = call.op.front() == '_' && stream::bits_of(input->dtype) < 32 &&
                      flag_at(call.arguments, half_to_float).value_or(false);
  return work.read(0).write(input->shape, widens ? stream::DType::f32 : input->dtype).build();
}

} // namespace umf::traces::kineto
