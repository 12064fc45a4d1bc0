#pragma once

#include "traces/kineto/work.h"

#include <string_view>

namespace umf::traces::kineto {

/// Pointwise operators, copies, fills and concatenation, without "aten::".
bool is_elementwise(std::string_view op);
bool is_elementwise_kernel(std::string_view kernel);

/// Inputs read once and the broadcast result written once; Rule::unknown when a shape or
/// type is missing.
Work elementwise_work(const OperatorCall& call);

} // namespace umf::traces::kineto
