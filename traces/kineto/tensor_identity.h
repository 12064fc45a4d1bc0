#pragma once

#include "model/stream/records.h"
#include "traces/kineto/event.h"
#include "traces/kineto/work.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace umf::traces::kineto {

/// One tensor touched, before it becomes a stream::Access.
struct Touch {
  stream::TensorId tensor = 0;
  bool write = false;
  bool scattered = false; ///< the bytes lie all over the tensor
  std::uint64_t bytes = 0;
  std::uint64_t whole = 0; ///< bytes of the tensor
};

/// A tensor at its first use.
struct NewTensor {
  stream::Tensor tensor;
};

template <class Archive>
void visit(Archive& archive, NewTensor& fresh) {
  auto& tensor = fresh.tensor;
  archive(tensor.id, tensor.name, tensor.role, tensor.dtype, tensor.shape, tensor.bytes);
}

/// Tells which tensor each operand is, since profilers record shapes and no addresses.
/// A weight is (operator, ordinal within the step, argument position). Autograd runs the
/// operators of a backward pass in the reverse order of the forward pass, so that a weight
/// read backward is the one of its rule, type and shape (or the transposed shape) that was
/// read last in the step and not yet again. An activation is
/// the tensor of that shape and type last written on the stream, else the one of that type
/// and element count (a view), else a new one that came from outside. A result is a new
/// tensor each time. Memory grows with the tensors (4 bytes each), the weights of a step
/// and the distinct shapes.
class TensorIdentity {
public:
  /// Ordinals count from zero again.
  void begin_step();

  /// Who touches tensors.
  struct Toucher {
    const std::string& op;
    stream::StreamId stream{};
    Thread thread{};           ///< on which the operator ran; autograd has one of its own
    std::uint32_t ordinal = 0; ///< of the record in the stream
  };
  /// Names the tensors a kernel touches. New tensors are appended to `fresh`.
  std::vector<Touch> touch(const Toucher& toucher, const Work& work, std::vector<NewTensor>& fresh);

  /// True when record `ordinal` is the last to use an activation.
  bool is_last_use(stream::TensorId tensor, std::uint32_t ordinal) const {
    return last_use_[tensor] == ordinal;
  }

private:
  struct Known {
    stream::TensorId id = 0;
    std::uint64_t bytes = 0;
  };

  /// A weight that a backward pass may read again.
  struct Forward {
    Known known{};
    Thread thread{};
  };

  std::optional<Known> weight_of(const Toucher& toucher, std::uint64_t place, stream::Rule rule,
                                 const Operand& operand, std::vector<NewTensor>& fresh);
  std::optional<Known> forward_weight(const Toucher& toucher, stream::Rule rule,
                                      const Operand& operand);
  Known weight(const std::string& name, const Operand& operand, std::vector<NewTensor>& fresh);
  Known activation(stream::StreamId stream, const Operand& operand, std::uint32_t ordinal,
                   std::vector<NewTensor>& fresh);
  Known create(const Operand& operand, std::string name, stream::Role role,
               std::vector<NewTensor>& fresh);
  const Known* find_live(stream::StreamId stream, const Operand& operand) const;
  void remember(stream::StreamId stream, const Operand& operand, const Known& known);

  std::unordered_map<std::string, std::uint64_t> ordinals_;
  std::unordered_map<std::string, Known> weights_;
  std::unordered_map<std::string, std::deque<Forward>> forward_;
  std::unordered_map<std::string, Known> by_shape_;
  std::unordered_map<std::string, Known> by_elements_;
  std::vector<std::uint32_t> last_use_;
};

} // namespace umf::traces::kineto
