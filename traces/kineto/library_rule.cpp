#include "traces/kineto/library_rule.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace umf::traces::kineto {

namespace {

enum class Form : std::uint8_t {
  into,     ///< (result, input, further inputs ...)
  quantise, ///< (result, input, scale): the scale is an input
  measure,  ///< (result, input, scale): the scale is a result
  rotary    ///< (positions, query, key, head size, table of cosines and sines, ...)
};

struct Pointwise {
  std::string_view op;
  Form form;
};

constexpr Pointwise kOps[] = {{"_C::silu_and_mul", Form::into},
                              {"_C::gelu_and_mul", Form::into},
                              {"_C::gelu_tanh_and_mul", Form::into},
                              {"sgl_kernel::silu_and_mul", Form::into},
                              {"sgl_kernel::gelu_and_mul", Form::into},
                              {"sgl_kernel::gelu_tanh_and_mul", Form::into},
                              {"aiter::silu_and_mul", Form::into},
                              {"_C::static_scaled_fp8_quant", Form::quantise},
                              {"_C::dynamic_scaled_fp8_quant", Form::measure},
                              {"_C::dynamic_per_token_scaled_fp8_quant", Form::measure},
                              {"_C::rotary_embedding", Form::rotary},
                              {"sgl_kernel::rotary_embedding", Form::rotary}};

const Pointwise* find(std::string_view op) {
  const auto* found = std::find_if(std::begin(kOps), std::end(kOps),
                                   [&](const Pointwise& p) { return p.op == op; });
  return found == std::end(kOps) ? nullptr : found;
}

/// Queries and keys are turned in place, each token by its row of the table.
Work rotary_work(const Arguments& arguments) {
  const auto* positions = tensor_at(arguments, 0);
  if (!positions) return {};
  WorkBuilder work(stream::Rule::elementwise, arguments);
  work.read(0).read(1).may_read(2);
  work.gather(4, 0, elements_of(positions->shape), Part::activation).update(1);
  if (tensor_at(arguments, 2)) work.update(2);
  return work.build();
}

} // namespace

bool is_library_pointwise(std::string_view op) {
  return find(op) != nullptr;
}

bool is_library_kernel(std::string_view kernel) {
  constexpr std::array<std::string_view, 3> words{"act_and_mul", "quant", "rotary"};
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return kernel.find(word) != std::string_view::npos;
  });
}

Work library_pointwise_work(const OperatorCall& call) {
  const auto* pointwise = find(call.op);
  if (!pointwise) return {};
  WorkBuilder work(stream::Rule::elementwise, call.arguments);
  switch (pointwise->form) {
  case Form::into:
    return work.read(1).overwrite(0).build();
  case Form::quantise:
    return work.read(1).may_read(2).overwrite(0).build();
  case Form::measure:
    return work.read(1).overwrite(0).overwrite(2).build();
  case Form::rotary:
    return rotary_work(call.arguments);
  }
  return {};
}

} // namespace umf::traces::kineto
