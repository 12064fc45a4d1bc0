#include "traces/kineto/tensor_identity.h"

#include "model/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace umf::traces::kineto {

namespace {

constexpr auto kNeverFreed = std::numeric_limits<std::uint32_t>::max();

std::string shape_key(const Operand& operand) {
  return fmt::format("{}[{}]", stream::name_of(operand.dtype), fmt::join(operand.shape, ","));
}

std::string live_shape(stream::StreamId stream, const Operand& operand) {
  return fmt::format("{}/{}/{}", stream.device, stream.stream, shape_key(operand));
}

std::string live_elements(stream::StreamId stream, const Operand& operand) {
  return fmt::format("{}/{}/{}/{}", stream.device, stream.stream, stream::name_of(operand.dtype),
                     elements_of(operand.shape));
}

} // namespace

std::vector<Touch> TensorIdentity::touch(const std::string& op, stream::StreamId stream,
                                         const Work& work, std::uint32_t ordinal,
                                         std::vector<NewTensor>& fresh) {
  const auto place = ordinals_[op]++;
  std::vector<Touch> touches;
  for (const auto& operand : work.operands) {
    const bool write = operand.part == Part::output || operand.part == Part::in_place;
    const bool is_weight = operand.part == Part::weight ||
                           (operand.part == Part::maybe_weight && !find_live(stream, operand));
    Known known;
    if (is_weight) {
      known = weight(fmt::format("{}#{}.arg{}", op, place, operand.argument), operand, fresh);
    } else if (operand.part == Part::output) {
      known = create(operand, fmt::format("{}#{}.out", op, place), stream::Role::activation, fresh);
    } else {
      known = activation(stream, operand, ordinal, fresh);
    }
    if (write) remember(stream, operand, known);
    if (!is_weight) last_use_[known.id] = ordinal;
    touches.push_back({known.id, write, std::min(operand.bytes, known.bytes)});
  }
  return touches;
}

/// One position may see several shapes (prefill and decode of one step number): each is a
/// tensor of its own.
TensorIdentity::Known TensorIdentity::weight(const std::string& name, const Operand& operand,
                                             std::vector<NewTensor>& fresh) {
  const auto key = name + shape_key(operand);
  const auto found = weights_.find(key);
  if (found != weights_.end()) return found->second;
  const auto known = create(operand, name, stream::Role::weight, fresh);
  last_use_[known.id] = kNeverFreed;
  weights_.emplace(key, known);
  return known;
}

TensorIdentity::Known TensorIdentity::activation(stream::StreamId stream, const Operand& operand,
                                                 std::uint32_t ordinal,
                                                 std::vector<NewTensor>& fresh) {
  if (const auto* live = find_live(stream, operand)) return *live;
  auto known = create(operand, fmt::format("input@{}", ordinal), stream::Role::activation, fresh);
  remember(stream, operand, known);
  return known;
}

TensorIdentity::Known TensorIdentity::create(const Operand& operand, std::string name,
                                             stream::Role role, std::vector<NewTensor>& fresh) {
  ensure(last_use_.size() < std::numeric_limits<stream::TensorId>::max(), "too many tensors");
  stream::Tensor tensor;
  tensor.id = static_cast<stream::TensorId>(last_use_.size());
  tensor.name = std::move(name);
  tensor.role = role;
  tensor.dtype = operand.dtype;
  tensor.shape = operand.shape;
  tensor.bytes = stream::storage_of(operand.dtype, elements_of(operand.shape));
  last_use_.push_back(0);
  fresh.push_back({tensor});
  return {tensor.id, tensor.bytes.count};
}

const TensorIdentity::Known* TensorIdentity::find_live(stream::StreamId stream,
                                                       const Operand& operand) const {
  const auto same_shape = by_shape_.find(live_shape(stream, operand));
  if (same_shape != by_shape_.end()) return &same_shape->second;
  const auto view = by_elements_.find(live_elements(stream, operand));
  return view != by_elements_.end() ? &view->second : nullptr;
}

void TensorIdentity::remember(stream::StreamId stream, const Operand& operand, const Known& known) {
  by_shape_[live_shape(stream, operand)] = known;
  by_elements_[live_elements(stream, operand)] = known;
}

} // namespace umf::traces::kineto
