#pragma once

#include "model/stream/records.h"
#include "traces/kineto/operands.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace umf::traces::kineto {

/// How the identity of an operand is found.
enum class Part : std::uint8_t {
  activation,
  weight,       ///< a parameter by its place among the arguments
  maybe_weight, ///< mm's second factor: an activation if one of that shape is live
  output,       ///< a tensor written anew
  in_place      ///< the tensor of the named argument, written again
};

/// One tensor a kernel touches.
struct Operand {
  std::int32_t argument = -1; ///< position among the operator's inputs; -1 the result
  Part part = Part::activation;
  stream::DType dtype = stream::DType::unknown;
  Shape shape;
  std::uint64_t bytes = 0;
};

template <class Archive>
void visit(Archive& archive, Operand& operand) {
  archive(operand.argument, operand.part, operand.dtype, operand.shape, operand.bytes);
}

/// What a kernel moves and computes. Rule::unknown: nothing is known.
struct Work {
  stream::Rule rule = stream::Rule::unknown;
  double flops = 0;
  stream::DType flops_dtype = stream::DType::unknown;
  std::vector<Operand> operands; ///< reads, then the write
};

template <class Archive>
void visit(Archive& archive, Work& work) {
  archive(work.rule, work.flops, work.flops_dtype, work.operands);
}

/// True when this kernel could be the one that does the operator's work under a rule.
bool may_work(std::string_view op, std::string_view kernel);
/// True when its name says so (a GEMM kernel of a matrix multiply).
bool named_for_work(std::string_view op, std::string_view kernel);

/// Compulsory bytes and FLOPs from the operator's shapes: the gemm or elementwise rule.
Work work_of(const Op& op);

} // namespace umf::traces::kineto
