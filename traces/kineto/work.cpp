#include "traces/kineto/work.h"

#include <algorithm>
#include <utility>

namespace umf::traces::kineto {

Operand read_operand(const InputTensor& tensor, std::size_t argument, Part part) {
  Operand operand;
  operand.argument = static_cast<std::int32_t>(argument);
  operand.part = part;
  operand.dtype = tensor.dtype;
  operand.shape = stored_shape(tensor);
  operand.bytes = stream::storage_of(tensor.dtype, stored_elements(tensor)).count;
  return operand;
}

Operand result_operand(Shape shape, stream::DType dtype) {
  Operand operand;
  operand.part = Part::output;
  operand.dtype = dtype;
  operand.bytes = stream::storage_of(dtype, elements_of(shape)).count;
  operand.shape = std::move(shape);
  return operand;
}

WorkBuilder::WorkBuilder(stream::Rule rule, const Arguments& arguments) : arguments_(arguments) {
  work_.rule = rule;
}

const InputTensor* WorkBuilder::find(std::size_t argument) {
  const auto* tensor = tensor_at(arguments_, argument);
  if (!tensor) failed_ = true;
  return tensor;
}

void WorkBuilder::add(Operand operand) {
  if (operand.bytes == 0) failed_ = true;
  work_.operands.push_back(std::move(operand));
}

WorkBuilder& WorkBuilder::read(std::size_t argument, Part part) {
  if (const auto* tensor = find(argument)) add(read_operand(*tensor, argument, part));
  return *this;
}

WorkBuilder& WorkBuilder::may_read(std::size_t argument, Part part) {
  return tensor_at(arguments_, argument) ? read(argument, part) : *this;
}

WorkBuilder& WorkBuilder::read_weight(std::size_t argument, Slot slot, bool backward) {
  const auto* tensor = find(argument);
  if (!tensor) return *this;
  auto operand = read_operand(*tensor, argument, Part::weight);
  operand.slot = slot;
  operand.backward = backward;
  add(std::move(operand));
  return *this;
}

WorkBuilder& WorkBuilder::may_read_weight(std::size_t argument, Slot slot, bool backward) {
  return tensor_at(arguments_, argument) ? read_weight(argument, slot, backward) : *this;
}

WorkBuilder& WorkBuilder::gather(std::size_t argument, std::size_t dimension, std::uint64_t rows,
                                 Part part) {
  const auto* tensor = find(argument);
  if (!tensor) return *this;
  auto operand = read_operand(*tensor, argument, part);
  if (dimension >= operand.shape.size() || rows == 0) {
    failed_ = true;
    return *this;
  }
  const auto all = static_cast<std::uint64_t>(operand.shape[dimension]);
  if (rows < all) {
    const auto elements = elements_of(operand.shape);
    operand.bytes = stream::storage_of(operand.dtype, elements / all * rows).count;
    operand.gather = true;
  }
  add(std::move(operand));
  return *this;
}

WorkBuilder& WorkBuilder::write(Shape shape, stream::DType dtype) {
  auto operand = result_operand(std::move(shape), dtype);
  operand.argument = -1 - results_++;
  add(std::move(operand));
  return *this;
}

WorkBuilder& WorkBuilder::write_like(std::size_t argument) {
  if (const auto* tensor = find(argument)) write(tensor->shape, tensor->dtype);
  return *this;
}

WorkBuilder& WorkBuilder::overwrite(std::size_t argument) {
  return read(argument, Part::output);
}

WorkBuilder& WorkBuilder::update(std::size_t argument) {
  return read(argument, Part::in_place);
}

WorkBuilder& WorkBuilder::may_update_weight(std::size_t argument, Slot slot) {
  const auto* tensor = tensor_at(arguments_, argument);
  if (!tensor) return *this;
  auto operand = read_operand(*tensor, argument, Part::weight);
  operand.slot = slot;
  operand.updated = true;
  add(std::move(operand));
  return *this;
}

WorkBuilder& WorkBuilder::flops(double count, stream::DType dtype) {
  work_.flops = count;
  work_.flops_dtype = dtype;
  return *this;
}

Work WorkBuilder::build() {
  if (failed_ || work_.operands.empty()) return {};
  return std::move(work_);
}

} // namespace umf::traces::kineto
