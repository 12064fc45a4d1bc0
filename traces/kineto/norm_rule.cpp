#include "traces/kineto/norm_rule.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>

namespace umf::traces::kineto {

namespace {

using stream::DType;

enum class Form : std::uint8_t {
  layer,          ///< (input, normalized_shape, weight, bias, ...): mean and rstd of each row
  layer_backward, ///< (grad, input, normalized_shape, mean, rstd, weight, bias, ...)
  rms,            ///< (input, normalized_shape, weight, eps): rstd of each row
  rms_backward,   ///< (grad, input, normalized_shape, rstd, weight, ...)
  batch,          ///< (input, weight, bias, running mean, running variance, training, ...)
  batch_backward, ///< (grad, input, weight, running..., save mean, save rstd, ...)
  cudnn_backward, ///< (input, grad, weight, running..., save mean, save variance, ...)
  group,          ///< (input, weight, bias, N, C, HxW, groups, eps)
  group_backward, ///< (grad, input, mean, rstd, weight, ...)
  into,           ///< (result, input, weight, ...)
  add_in_place,   ///< (input, residual, weight, ...): both are read and written
  add_into        ///< (result, input, residual in, residual out, weight, ...)
};

struct Norm {
  std::string_view op;
  Form form;
};

constexpr Norm kNorms[] = {{"native_layer_norm", Form::layer},
                           {"layer_norm", Form::layer},
                           {"native_layer_norm_backward", Form::layer_backward},
                           {"rms_norm", Form::rms},
                           {"_fused_rms_norm", Form::rms},
                           {"_fused_rms_norm_backward", Form::rms_backward},
                           {"native_batch_norm", Form::batch},
                           {"_native_batch_norm_legit", Form::batch},
                           {"_batch_norm_with_update", Form::batch},
                           {"batch_norm", Form::batch},
                           {"cudnn_batch_norm", Form::batch},
                           {"miopen_batch_norm", Form::batch},
                           {"native_batch_norm_backward", Form::batch_backward},
                           {"batch_norm_backward", Form::batch_backward},
                           {"cudnn_batch_norm_backward", Form::cudnn_backward},
                           {"miopen_batch_norm_backward", Form::cudnn_backward},
                           {"native_group_norm", Form::group},
                           {"native_group_norm_backward", Form::group_backward},
                           {"_C::rms_norm", Form::into},
                           {"sgl_kernel::rmsnorm", Form::into},
                           {"aiter::rmsnorm", Form::into},
                           {"_C::fused_add_rms_norm", Form::add_in_place},
                           {"sgl_kernel::fused_add_rmsnorm", Form::add_in_place},
                           {"aiter::add_rmsnorm", Form::add_into}};

const Norm* find(std::string_view op) {
  const auto* found =
      std::find_if(std::begin(kNorms), std::end(kNorms), [&](const Norm& n) { return n.op == op; });
  return found == std::end(kNorms) ? nullptr : found;
}

/// Statistics of 16-bit inputs are kept as f32 (acc_type in ATen's CUDA kernels).
DType statistics_type(DType input) {
  return stream::bits_of(input) < 32 ? DType::f32 : input;
}

/// Rows that are normalised each on its own: the elements over those of the parameters, or
/// over the recorded normalized_shape.
Shape rows_of(const Arguments& arguments, std::size_t input, std::size_t shape,
              std::size_t weight) {
  const auto* tensor = tensor_at(arguments, input);
  if (!tensor) return {};
  std::size_t inner = 0;
  if (const auto list = list_at(arguments, shape))
    inner = list->size();
  else if (const auto* parameter = tensor_at(arguments, weight))
    inner = parameter->shape.size();
  if (inner == 0 || inner > tensor->shape.size()) return {};
  const auto end = tensor->shape.end() - static_cast<std::ptrdiff_t>(inner);
  return {std::accumulate(tensor->shape.begin(), end, std::int64_t{1}, std::multiplies<>())};
}

Work layer_work(const Arguments& arguments, bool rms) {
  const auto* input = tensor_at(arguments, 0);
  const auto rows = rows_of(arguments, 0, 1, 2);
  if (!input || rows.empty()) return {};
  WorkBuilder work(stream::Rule::norm, arguments);
  work.read(0).may_read_weight(2, Slot::weight);
  if (!rms) work.may_read_weight(3, Slot::bias);
  work.write_like(0).write(rows, statistics_type(input->dtype));
  if (!rms) work.write(rows, statistics_type(input->dtype));
  return work.build();
}

/// The gradients of the parameters are shaped like them.
Work layer_backward_work(const Arguments& arguments, bool rms) {
  const std::size_t weight = rms ? 4 : 5;
  WorkBuilder work(stream::Rule::norm, arguments);
  work.read(0).read(1).read(3);
  if (!rms) work.read(4);
  work.may_read_weight(weight, Slot::weight, true).write_like(1);
  if (tensor_at(arguments, weight)) work.write_like(weight);
  if (!rms && tensor_at(arguments, weight + 1)) work.write_like(weight + 1);
  return work.build();
}

/// Training unless recorded otherwise: running statistics are then updated and those of the
/// batch are saved; else the running ones are read.
Work batch_work(const Arguments& arguments) {
  const auto* input = tensor_at(arguments, 0);
  if (!input || input->shape.size() < 2) return {};
  const bool training = flag_at(arguments, 5).value_or(true);
  WorkBuilder work(stream::Rule::norm, arguments);
  work.read(0).may_read_weight(1, Slot::weight).may_read_weight(2, Slot::bias);
  work.may_read_weight(3, Slot::mean).may_read_weight(4, Slot::variance).write_like(0);
  if (!training) return work.build();
  work.may_update_weight(3, Slot::mean).may_update_weight(4, Slot::variance);
  const Shape channels{input->shape[1]};
  const auto type = statistics_type(input->dtype);
  return work.write(channels, type).write(channels, type).build();
}

Work batch_backward_work(const Arguments& arguments) {
  WorkBuilder work(stream::Rule::norm, arguments);
  work.read(0).read(1).may_read_weight(2, Slot::weight, true).may_read(5).may_read(6);
  work.write_like(0);
  if (tensor_at(arguments, 2)) work.write_like(2).write_like(2);
  return work.build();
}

Work group_work(const Arguments& arguments) {
  const auto* input = tensor_at(arguments, 0);
  const auto groups = number_at(arguments, 6);
  if (!input || input->shape.empty()) return {};
  WorkBuilder work(stream::Rule::norm, arguments);
  work.read(0).may_read_weight(1, Slot::weight).may_read_weight(2, Slot::bias).write_like(0);
  if (!groups) return work.build();
  const Shape statistics{input->shape[0], *groups};
  return work.write(statistics, input->dtype).write(statistics, input->dtype).build();
}

Work group_backward_work(const Arguments& arguments) {
  WorkBuilder work(stream::Rule::norm, arguments);
  work.read(0).read(1).read(2).read(3).may_read_weight(4, Slot::weight, true).write_like(1);
  if (tensor_at(arguments, 4)) work.write_like(4).write_like(4);
  return work.build();
}

} // namespace

bool is_norm(std::string_view op) {
  return find(op) != nullptr;
}

bool is_norm_kernel(std::string_view kernel) {
  constexpr std::array<std::string_view, 5> words{"norm", "Norm", "NORM", "bn_", "Rowwise"};
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return kernel.find(word) != std::string_view::npos;
  });
}

Work norm_work(const OperatorCall& call) {
  const auto* norm = find(call.op);
  if (!norm) return {};
  const auto& arguments = call.arguments;
  WorkBuilder work(stream::Rule::norm, arguments);
  switch (norm->form) {
  case Form::layer:
  case Form::rms:
    return layer_work(arguments, norm->form == Form::rms);
  case Form::layer_backward:
  case Form::rms_backward:
    return layer_backward_work(arguments, norm->form == Form::rms_backward);
  case Form::batch:
    return batch_work(arguments);
  case Form::batch_backward:
  case Form::cudnn_backward:
    return batch_backward_work(arguments);
  case Form::group:
    return group_work(arguments);
  case Form::group_backward:
    return group_backward_work(arguments);
  case Form::into:
    return work.read(1).read_weight(2, Slot::weight).overwrite(0).build();
  case Form::add_in_place:
    return work.read(0).read(1).read_weight(2, Slot::weight).update(0).update(1).build();
  case Form::add_into:
    return work.read(1).read(2).read_weight(4, Slot::weight).overwrite(0).overwrite(3).build();
  }
  return {};
}

} // namespace umf::traces::kineto
