#pragma once

#include "model/stream/records.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace umf::hw {

/// The numbers that one tenant's tensors have on a machine: no other tenant and no earlier life of
/// the name shares them. They follow from the order of its records alone, so that whoever goes
/// through the same trace finds the same numbers, whatever the time and the other tenants.
class TensorNumbers {
public:
  using TensorId = stream::TensorId;
  TensorNumbers(std::uint32_t tenant, std::uint32_t tenants);

  /// A tensor record: a new number, or none where the trace names what is alive. Throws UserError
  /// when there are no more numbers.
  std::optional<TensorId> declare(const stream::Tensor& tensor);
  std::optional<TensorId> find(TensorId in_trace) const;
  /// Its number until now.
  std::optional<TensorId> free(TensorId in_trace);
  /// The trace has freed bytes of it: it dies between repetitions, whatever it is, and is made
  /// anew.
  void freed_in_part(TensorId in_trace) { alive_.at(in_trace).stays = false; }
  /// What dies between repetitions: all but whole weights and KV cache, lowest number first; where
  /// the cache is cleared, the buffers of copies as well.
  std::vector<TensorId> end_repetition(bool clear_cache);
  /// A number for a tensor that the trace does not know.
  TensorId another() { return take(); }

  /// The buffer of a copy's unnamed side: one a stream, side and size class; with the tensor, as
  /// it was not numbered before.
  std::pair<TensorId, std::optional<stream::Tensor>> scratch(const stream::StreamId& stream,
                                                             std::uint32_t side, Bytes bytes);

private:
  struct Life {
    TensorId id = 0;
    bool stays = false; ///< between repetitions
  };
  TensorId take();

  std::uint64_t next_, past_;
  std::unordered_map<TensorId, Life> alive_; ///< by the trace's number
  std::map<std::tuple<stream::StreamId, std::uint32_t, unsigned>, TensorId> scratch_;
};

/// Which memories a copy reads and writes; a memset writes one.
struct CopySides {
  bool from_host = false, from_device = false, to_host = false, to_device = false;
};
CopySides sides_of(stream::CopyKind kind);

/// Calls act(offset, length) for each stretch of its tensor that an access moves: the range, or
/// blocks with neighbours joined; a fraction shortens each.
template <class Act>
void each_range(const stream::Access& access, Act act) {
  const std::uint64_t moved = stream::moved_bytes(access).count;
  if (access.indices.empty()) return act(access.offset, moved);
  const std::uint64_t block = access.block_bytes.count;
  std::vector<std::uint64_t> blocks = access.indices;
  std::sort(blocks.begin(), blocks.end());
  for (std::size_t i = 0; i < blocks.size();) {
    std::size_t end = i + 1;
    while (end < blocks.size() && blocks[end] <= blocks[end - 1] + 1 && access.fraction >= 1.0)
      ++end;
    const std::uint64_t length = access.fraction >= 1.0
                                     ? (blocks[end - 1] - blocks[i] + 1) * block
                                     : (moved + blocks.size() - 1) / blocks.size();
    act(access.offset + blocks[i] * block, length);
    i = end;
  }
}

} // namespace umf::hw
