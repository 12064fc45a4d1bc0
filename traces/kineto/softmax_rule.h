#pragma once

#include "traces/kineto/work.h"

#include <string_view>

namespace umf::traces::kineto {

/// Softmax and its logarithm, forward and backward.
bool is_softmax(std::string_view op);
bool is_softmax_kernel(std::string_view kernel);

/// Forward: the input read, a result of its shape written (f32 where half_to_float is
/// recorded). Backward: gradient and result read, the gradient of the input written.
Work softmax_work(const OperatorCall& call);

} // namespace umf::traces::kineto
