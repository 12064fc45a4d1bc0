#pragma once

#include "traces/kineto/byte_rules.h"

#include <string_view>
#include <vector>

namespace umf::traces::kineto {

/// mm, addmm, bmm, baddbmm, matmul and linear, without "aten::" and "_out".
bool is_gemm(std::string_view op);
bool is_gemm_kernel(std::string_view kernel);

/// Operands and 2·b·m·n·k FLOPs; Rule::unknown when the shapes do not agree.
Work gemm_work(std::string_view op, const std::vector<Argument>& arguments);

/// The operand for an input tensor.
Operand read_operand(const InputTensor& tensor, std::size_t argument, Part part);
/// The operand for a dense result.
Operand result_operand(Shape shape, stream::DType dtype);

} // namespace umf::traces::kineto
