#include "traces/kineto/learned_shapes.h"

#include "traces/kineto/convolution_rule.h"
#include "traces/kineto/pooling_rule.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace umf::traces::kineto {

namespace {

constexpr int kPatience = 6; ///< operators after a forward one that may be the first to read it
constexpr auto kDisputed = std::numeric_limits<std::uint32_t>::max();

/// Batch and channels in front, and nothing larger than the input behind.
bool may_be_result(const Shape& shape, const Shape& input, std::int64_t channels) {
  if (shape.size() != input.size() || shape.size() < 3) return false;
  if (shape[0] != input[0] || shape[1] != channels) return false;
  return std::equal(shape.begin() + 2, shape.end(), input.begin() + 2, std::less_equal<>());
}

} // namespace

bool LearnedShapes::covers(std::string_view op) {
  return is_convolution(op) || op == "max_pool2d_with_indices";
}

bool LearnedShapes::is_missing(const OperatorCall& call) {
  if (is_convolution(call.op)) return !tells_convolution(call);
  return call.op == "max_pool2d_with_indices" && pooling_work(call).rule == stream::Rule::unknown;
}

void LearnedShapes::observe(const OperatorCall& call, std::uint64_t number) {
  if (last_ == number) return;
  last_ = number;
  if (waiting_) find_result(call);
  if (is_missing(call)) {
    calls_.push_back(watch(call));
  } else if (convolution_part(call.op) != ConvolutionPart::none) {
    waiting_.reset();
    before_.reset();
  }
}

/// What is known of this call, which is not among calls_ yet.
LearnedShapes::Id LearnedShapes::watch(const OperatorCall& call) {
  const auto places = convolution_places(call.op);
  const auto* first = tensor_at(call.arguments, places.first);
  const auto* second = tensor_at(call.arguments, places.second);
  const auto part = convolution_part(call.op);
  const auto before = std::exchange(before_, std::nullopt);
  if (!first || (part != ConvolutionPart::none && !second)) return kUnknown;
  switch (part) {
  case ConvolutionPart::none: // a pooling keeps its channels
    if (first->shape.size() > 1)
      waiting_ = {calls_.size(), first->shape, first->shape[1], std::nullopt, kPatience};
    break;
  case ConvolutionPart::result:
    if (!second->shape.empty())
      waiting_ = {calls_.size(), first->shape, second->shape[0], second->shape, kPatience};
    break;
  case ConvolutionPart::input_gradient:
    before_ = {calls_.size(), first->shape, second->shape};
    break;
  case ConvolutionPart::weight_gradient:
    if (!before || before->gradient != first->shape) break;
    calls_[before->call] = id_of(second->shape);
    learn(second->shape, before->weight, first->shape);
    return id_of(before->weight);
  case ConvolutionPart::both:
    break;
  }
  return kUnknown;
}

void LearnedShapes::find_result(const OperatorCall& call) {
  auto& waiting = *waiting_;
  const auto* first = tensor_at(call.arguments, 0);
  if (first && may_be_result(first->shape, waiting.input, waiting.channels)) {
    calls_[waiting.call] = id_of(first->shape);
    if (waiting.weight) learn(waiting.input, *waiting.weight, first->shape);
    waiting_.reset();
  } else if (--waiting.patience == 0) {
    waiting_.reset();
  }
}

const Shape* LearnedShapes::learned(const OperatorCall& call, std::uint64_t number) {
  if (last_ == number) return current_;
  last_ = number;
  current_ = nullptr;
  if (!is_missing(call)) return nullptr;
  Id id = next_ < calls_.size() ? calls_[next_] : kUnknown;
  ++next_;
  if (id == kUnknown) id = agreed(call);
  if (id != kUnknown) current_ = shapes_[id];
  return current_;
}

LearnedShapes::Id LearnedShapes::id_of(const Shape& shape) {
  const auto [entry, is_new] = ids_.emplace(shape, static_cast<Id>(shapes_.size()));
  if (is_new) shapes_.push_back(&entry->first);
  return entry->second;
}

LearnedShapes::Id LearnedShapes::known_id(const Shape& shape) const {
  const auto found = ids_.find(shape);
  return found == ids_.end() ? kUnknown : found->second;
}

void LearnedShapes::learn(const Shape& input, const Shape& weight, const Shape& result) {
  const auto i = id_of(input);
  const auto w = id_of(weight);
  const auto r = id_of(result);
  agree(results_, {i, w}, r);
  agree(inputs_, {r, w}, i);
  agree(weights_, {r, i}, w);
}

void LearnedShapes::agree(std::map<Pair, Id>& known, Pair pair, Id third) {
  const auto [entry, is_new] = known.emplace(pair, third);
  if (!is_new && entry->second != third) entry->second = kDisputed;
}

LearnedShapes::Id LearnedShapes::agreed(const OperatorCall& call) const {
  const auto part = convolution_part(call.op);
  if (part == ConvolutionPart::none || part == ConvolutionPart::both) return kUnknown;
  const auto places = convolution_places(call.op);
  const auto* first = tensor_at(call.arguments, places.first);
  const auto* second = tensor_at(call.arguments, places.second);
  if (!first || !second) return kUnknown;
  const auto& known = part == ConvolutionPart::result           ? results_
                      : part == ConvolutionPart::input_gradient ? inputs_
                                                                : weights_;
  const auto found = known.find({known_id(first->shape), known_id(second->shape)});
  return found == known.end() || found->second == kDisputed ? kUnknown : found->second;
}

} // namespace umf::traces::kineto
