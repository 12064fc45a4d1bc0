#pragma once

#include "traces/kineto/work.h"

#include <string_view>

namespace umf::traces::kineto {

/// mm, addmm, bmm, baddbmm, matmul, linear and their kin.
bool is_gemm(std::string_view op);
bool is_gemm_kernel(std::string_view kernel);

/// Operands and 2·b·m·n·k FLOPs; Rule::unknown when the shapes do not agree.
Work gemm_work(const OperatorCall& call);

} // namespace umf::traces::kineto
