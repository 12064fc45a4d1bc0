#pragma once

#include "traces/kineto/work.h"

#include <string_view>

namespace umf::traces::kineto {

/// "aten::addmm_out" is "addmm" to the rules; operators of other libraries keep their names.
std::string_view bare_name(std::string_view op);

/// True when this kernel could be the one that does the operator's work under a rule.
bool may_work(std::string_view op, std::string_view kernel);
/// True when its name says so (a GEMM kernel of a matrix multiply).
bool named_for_work(std::string_view op, std::string_view kernel);

/// Compulsory bytes and FLOPs by the one rule that covers the operator.
Work work_of(const OperatorCall& call);

} // namespace umf::traces::kineto
