#pragma once

#include "traces/kineto/work.h"

#include <string_view>

namespace umf::traces::kineto {

/// Layer, batch, group and RMS normalisation, forward and backward.
bool is_norm(std::string_view op);
bool is_norm_kernel(std::string_view kernel);

/// The tensor normalised is read once (a batch norm too large for one pass reads it twice;
/// that is not compulsory), its parameters once; result and saved statistics are written.
Work norm_work(const OperatorCall& call);

} // namespace umf::traces::kineto
