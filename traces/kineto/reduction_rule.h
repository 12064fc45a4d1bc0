#pragma once

#include "traces/kineto/work.h"

#include <string_view>

namespace umf::traces::kineto {

/// Sums, means, extrema, norms, scans and sorts.
bool is_reduction(std::string_view op);
bool is_reduction_kernel(std::string_view kernel);

/// The input read once. The result is written where its shape is known: from an `out`
/// tensor, from the dimensions recorded, or because the operator keeps the shape.
Work reduction_work(const OperatorCall& call);

} // namespace umf::traces::kineto
