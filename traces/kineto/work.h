#pragma once

#include "model/stream/records.h"
#include "traces/kineto/operands.h"

#include <cstdint>
#include <optional>
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

/// What a weight is to its operator. A backward pass finds the forward pass's weights by
/// this, the rule, the type and the shape.
enum class Slot : std::uint8_t { weight, bias, mean, variance };

/// One tensor a kernel touches.
struct Operand {
  std::int32_t argument = -1; ///< position among the operator's inputs; -1 -2 ... the results
  Part part = Part::activation;
  Slot slot = Slot::weight;
  bool backward = false; ///< a weight its forward pass has read before
  bool updated = false;  ///< a weight that is written (running statistics)
  bool gather = false;   ///< `bytes` lie scattered over the whole of `shape`
  stream::DType dtype = stream::DType::unknown;
  Shape shape;
  std::uint64_t bytes = 0;
  bool operator==(const Operand&) const = default;
};

/// What a kernel moves and computes. Rule::unknown: nothing is known.
struct Work {
  stream::Rule rule = stream::Rule::unknown;
  double flops = 0;
  stream::DType flops_dtype = stream::DType::unknown;
  std::vector<Operand> operands; ///< reads, then the writes
  bool operator==(const Work&) const = default;
};

using Arguments = std::vector<Argument>;

/// What a rule judges by: an operator without "aten::" and "_out", and its arguments.
struct OperatorCall {
  std::string_view op;
  const Arguments& arguments;
  std::string_view kernel;                 ///< the name of the kernel that does the work
  stream::DType half = stream::DType::f16; ///< the 16-bit type this trace uses
  const Shape* learned = nullptr;          ///< a shape the arguments leave out (LearnedShapes)
};

/// The operand for an input tensor.
Operand read_operand(const InputTensor& tensor, std::size_t argument, Part part);
/// The operand for a dense result.
Operand result_operand(Shape shape, stream::DType dtype);

/// Collects the operands of one kernel. What is missing or has no size makes the whole
/// work unknown, unless it is optional.
class WorkBuilder {
public:
  WorkBuilder(stream::Rule rule, const Arguments& arguments);

  WorkBuilder& read(std::size_t argument, Part part = Part::activation);
  /// Reads an argument if it is a tensor.
  WorkBuilder& may_read(std::size_t argument, Part part = Part::activation);
  WorkBuilder& read_weight(std::size_t argument, Slot slot, bool backward = false);
  WorkBuilder& may_read_weight(std::size_t argument, Slot slot, bool backward = false);
  /// Reads `rows` rows of an argument along `dimension`, and no more than it has.
  WorkBuilder& gather(std::size_t argument, std::size_t dimension, std::uint64_t rows, Part part);
  /// A result of its own.
  WorkBuilder& write(Shape shape, stream::DType dtype);
  /// A result shaped like an argument and of its type.
  WorkBuilder& write_like(std::size_t argument);
  /// A tensor among the arguments that is written and not read.
  WorkBuilder& overwrite(std::size_t argument);
  /// A tensor among the arguments that was read before and is written now.
  WorkBuilder& update(std::size_t argument);
  /// Writes a weight that was read before, if the argument is a tensor.
  WorkBuilder& may_update_weight(std::size_t argument, Slot slot);
  WorkBuilder& flops(double count, stream::DType dtype);

  Work build();

private:
  const InputTensor* find(std::size_t argument);
  void add(Operand operand);

  const Arguments& arguments_;
  Work work_;
  std::int32_t results_ = 0;
  bool failed_ = false;
};

} // namespace umf::traces::kineto
