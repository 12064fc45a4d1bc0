#pragma once

#include "model/memory/extent_cache.h"
#include "model/memory/range_set.h"

#include <cstdint>
#include <vector>

namespace umf::hw {

/// What a trace frees of one tensor before the tensor dies (S1). Bytes are offsets into it. A free
/// takes effect when the operations that use the tensor and were issued before it are done, and
/// the frees before it have taken effect.
class PartialFrees {
public:
  /// `users`: operations issued and not done that use the tensor. All operations numbered below
  /// `next` were issued before. False: some of the bytes have been freed before.
  bool add(memory::Range bytes, std::uint64_t users, std::uint64_t next) {
    if (freed_.covered(bytes) > 0) return false;
    freed_.insert(bytes);
    waiting_.push_back({bytes, next, users});
    return true;
  }
  /// An operation that uses the tensor is done.
  void done(std::uint64_t operation) {
    for (Free& free : waiting_)
      if (operation < free.next) --free.users;
  }
  /// The next one, once its turn has come.
  const memory::Range* due() const {
    return waiting_.empty() || waiting_.front().users > 0 ? nullptr : &waiting_.front().bytes;
  }
  void take_effect() { waiting_.erase(waiting_.begin()); }

  /// Whether some of the bytes were freed, as the trace has it.
  bool meets(memory::Range bytes) const { return freed_.covered(bytes) > 0; }
  bool none() const { return freed_.empty(); }

private:
  struct Free {
    memory::Range bytes;
    std::uint64_t next = 0, users = 0;
  };
  memory::RangeSet freed_;
  std::vector<Free> waiting_;
};

} // namespace umf::hw
