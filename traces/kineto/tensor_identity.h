#pragma once

#include "model/stream/records.h"
#include "traces/kineto/byte_rules.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace umf::traces::kineto {

/// One tensor touched, before it becomes a stream::Access.
struct Touch {
  stream::TensorId tensor = 0;
  bool write = false;
  std::uint64_t bytes = 0;
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
/// A weight is (operator, ordinal within the step, argument position). An activation is
/// the tensor of that shape and type last written on the stream, else the one of that type
/// and element count (a view), else a new one that came from outside. A result is a new
/// tensor each time. Memory grows with the tensors (4 bytes each), the weights of a step
/// and the distinct shapes.
class TensorIdentity {
public:
  /// Ordinals count from zero again.
  void begin_step() { ordinals_.clear(); }

  /// Names the tensors a kernel of `op` touches as record `ordinal` of the stream. New
  /// tensors are appended to `fresh`.
  std::vector<Touch> touch(const std::string& op, stream::StreamId stream, const Work& work,
                           std::uint32_t ordinal, std::vector<NewTensor>& fresh);

  /// True when record `ordinal` is the last to use an activation.
  bool is_last_use(stream::TensorId tensor, std::uint32_t ordinal) const {
    return last_use_[tensor] == ordinal;
  }

private:
  struct Known {
    stream::TensorId id = 0;
    std::uint64_t bytes = 0;
  };

  Known weight(const std::string& name, const Operand& operand, std::vector<NewTensor>& fresh);
  Known activation(stream::StreamId stream, const Operand& operand, std::uint32_t ordinal,
                   std::vector<NewTensor>& fresh);
  Known create(const Operand& operand, std::string name, stream::Role role,
               std::vector<NewTensor>& fresh);
  const Known* find_live(stream::StreamId stream, const Operand& operand) const;
  void remember(stream::StreamId stream, const Operand& operand, const Known& known);

  std::unordered_map<std::string, std::uint64_t> ordinals_;
  std::unordered_map<std::string, Known> weights_;
  std::unordered_map<std::string, Known> by_shape_;
  std::unordered_map<std::string, Known> by_elements_;
  std::vector<std::uint32_t> last_use_;
};

} // namespace umf::traces::kineto
