#pragma once

#include "traces/kineto/work.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace umf::traces::kineto {

/// Shapes that the arguments of convolutions and poolings leave out when their lists (stride,
/// padding, sizes) were not recorded, as before 2022, found from the operators around them:
///  - a forward result is the first tensor of its rank, batch and channels that one of the
///    next few operators reads as its first argument;
///  - backward, the gradient of the input and that of the weight are computed one after the
///    other from the same gradient, and each names what the other leaves out;
///  - else what other calls with the same two shapes agree on.
/// Two passes over the same operators in the same order: observe() all, then learned() for
/// each. Memory: 4 bytes a call with a missing shape, and the distinct shapes.
class LearnedShapes {
public:
  /// True for operators that may leave out a shape.
  static bool covers(std::string_view op);
  /// True when some call leaves out a shape.
  bool any() const { return !calls_.empty(); }
  /// True for the call that was seen last.
  bool is_last(std::uint64_t number) const { return last_ == number; }
  /// What learned() said last.
  const Shape* last_learned() const { return current_; }
  /// True while a forward operator's result is looked for: any operator is of interest.
  bool waits() const { return waiting_.has_value(); }
  /// First pass; `number` tells calls apart (an operator may launch several kernels).
  void observe(const OperatorCall& call, std::uint64_t number);
  /// Ends the first pass.
  void rewind() { last_.reset(); }
  /// Second pass: the missing shape of the call, or null.
  const Shape* learned(const OperatorCall& call, std::uint64_t number);

private:
  using Id = std::uint32_t;
  using Pair = std::pair<Id, Id>;
  static constexpr Id kUnknown = 0;

  /// A forward operator whose result is not known yet.
  struct Waiting {
    std::size_t call = 0; ///< among calls_
    Shape input;
    std::int64_t channels = 0;
    std::optional<Shape> weight; ///< of a convolution
    int patience = 0;
  };
  /// A gradient of the input that was just computed.
  struct Before {
    std::size_t call = 0;
    Shape gradient;
    Shape weight;
  };

  static bool is_missing(const OperatorCall& call);
  Id id_of(const Shape& shape);
  Id watch(const OperatorCall& call);
  void find_result(const OperatorCall& call);
  void learn(const Shape& input, const Shape& weight, const Shape& result);
  void agree(std::map<Pair, Id>& known, Pair pair, Id third);
  Id agreed(const OperatorCall& call) const;
  Id known_id(const Shape& shape) const;

  std::map<Shape, Id> ids_;
  std::vector<const Shape*> shapes_{nullptr};
  std::vector<Id> calls_;      ///< what each call with a missing shape leaves out
  std::map<Pair, Id> results_; ///< by input and weight
  std::map<Pair, Id> inputs_;  ///< by gradient and weight
  std::map<Pair, Id> weights_; ///< by gradient and input
  std::optional<Waiting> waiting_;
  std::optional<Before> before_;
  std::optional<std::uint64_t> last_;
  std::size_t next_ = 0;
  const Shape* current_ = nullptr;
};

} // namespace umf::traces::kineto
