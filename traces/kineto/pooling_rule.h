#pragma once

#include "traces/kineto/work.h"

#include <string_view>

namespace umf::traces::kineto {

/// Maximum and average pooling in two dimensions, forward and backward.
bool is_pooling(std::string_view op);
bool is_pooling_kernel(std::string_view kernel);

/// The input read, the result (and the places of maxima) written; backward the reverse.
Work pooling_work(const OperatorCall& call);

} // namespace umf::traces::kineto
