#include "traces/kineto/tensor_identity.h"

#include "model/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace umf::traces::kineto {

namespace {

constexpr auto kNeverFreed = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t kMostForward = 4096; ///< weights alike that wait for a backward pass

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

/// A matrix and its transpose are alike.
std::string weight_key(stream::Rule rule, const Operand& operand) {
  auto shape = operand.shape;
  if (rule == stream::Rule::gemm && shape.size() == 2 && shape[0] > shape[1])
    std::swap(shape[0], shape[1]);
  return fmt::format("{}/{}/{}/{}", static_cast<int>(rule), static_cast<int>(operand.slot),
                     static_cast<int>(operand.dtype), fmt::join(shape, ","));
}

/// Results after the first are numbered.
std::string result_name(const std::string& op, std::uint64_t place, std::int32_t argument) {
  return argument < -1 ? fmt::format("{}#{}.out{}", op, place, -1 - argument)
                       : fmt::format("{}#{}.out", op, place);
}

} // namespace

void TensorIdentity::begin_step() {
  ordinals_.clear();
  forward_.clear();
}

std::vector<Touch> TensorIdentity::touch(const Toucher& toucher, const Work& work,
                                         std::vector<NewTensor>& fresh) {
  const auto place = ordinals_[toucher.op]++;
  std::vector<Touch> touches;
  touches.reserve(work.operands.size());
  for (const auto& operand : work.operands) {
    const bool write =
        operand.part == Part::output || operand.part == Part::in_place || operand.updated;
    const auto as_weight = weight_of(toucher, place, work.rule, operand, fresh);
    Known known;
    if (as_weight)
      known = *as_weight;
    else if (operand.part == Part::output)
      known = create(operand, result_name(toucher.op, place, operand.argument),
                     stream::Role::activation, fresh);
    else
      known = activation(toucher.stream, operand, toucher.ordinal, fresh);
    if (write && !as_weight) remember(toucher.stream, operand, known);
    if (!as_weight) last_use_[known.id] = toucher.ordinal;
    const auto bytes = std::min(operand.bytes, known.bytes);
    touches.push_back({known.id, write, operand.gather && bytes < known.bytes, bytes, known.bytes});
  }
  return touches;
}

/// Nothing when the operand is no weight.
std::optional<TensorIdentity::Known>
TensorIdentity::weight_of(const Toucher& toucher, std::uint64_t place, stream::Rule rule,
                          const Operand& operand, std::vector<NewTensor>& fresh) {
  if (operand.part != Part::weight && operand.part != Part::maybe_weight) return std::nullopt;
  if (operand.backward || operand.part == Part::maybe_weight)
    if (const auto known = forward_weight(toucher, rule, operand)) return known;
  if (operand.part == Part::maybe_weight && find_live(toucher.stream, operand)) return std::nullopt;
  const auto known =
      weight(fmt::format("{}#{}.arg{}", toucher.op, place, operand.argument), operand, fresh);
  if (operand.backward || operand.updated) return known;
  auto& used = forward_[weight_key(rule, operand)];
  if (used.size() == kMostForward) used.pop_front();
  used.push_back({known, toucher.thread});
  return known;
}

/// Takes the last weight alike off the forward pass's. An operator that does not say that it
/// is of a backward pass (mm) is of one if it runs on another thread than the forward pass.
std::optional<TensorIdentity::Known>
TensorIdentity::forward_weight(const Toucher& toucher, stream::Rule rule, const Operand& operand) {
  const auto found = forward_.find(weight_key(rule, operand));
  if (found == forward_.end() || found->second.empty()) return std::nullopt;
  const auto& last = found->second.back();
  if (!operand.backward && last.thread == toucher.thread) return std::nullopt;
  const auto known = last.known;
  found->second.pop_back();
  return known;
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
