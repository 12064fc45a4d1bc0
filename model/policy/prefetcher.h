#pragma once

#include "model/memory/extent_cache.h"
#include "model/policy/policy.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>

namespace umf::policy {

/// S4: which pages will be accessed next, by two habits of kernels: they go through a tensor from
/// front to back, and tensors follow each other as they did the last time. Decides nothing but
/// that; whether and where pages come is the policy's.
///
/// Consecutive pages of one tensor that missed the L2 trigger it. The window lies ahead of the
/// access that did and counts rows of the tensor (its first dimension: of a KV cache, tokens);
/// what of it reaches beyond the tensor goes to those that began after it last time and have not
/// begun yet, so many rows of each.
class Prefetcher {
public:
  struct Keys {
    std::uint32_t trigger = 3;  ///< consecutive pages
    std::uint64_t window = 512; ///< rows
    std::uint32_t hops = 64;    ///< tensors that begin next, at most
    std::size_t ranges = 1024;  ///< that wait; beyond, the oldest are overtaken first
  };
  explicit Prefetcher(Keys keys) : keys_(keys) {}

  /// In rows; of each tensor from its next pass on.
  void set_window(std::uint64_t rows) { keys_.window = rows; }

  /// An access to a tensor that is to be followed.
  void touched(const Touch& touch, Bytes page);
  void forget(stream::TensorId tensor);
  /// Pages of a tensor that lives on are gone: a pass begins behind those at its front.
  void released(stream::TensorId tensor, memory::Range pages);

  /// The pages wanted next, at most so many; they are wanted no longer.
  std::optional<memory::Range> next(std::uint64_t pages);

private:
  struct Trail {
    PageNumber first = 0, end = 0;         ///< of the tensor
    PageNumber next = 0;                   ///< after its last access
    PageNumber asked = 0;                  ///< the window was asked for up to here
    std::uint64_t window = 0;              ///< in pages
    std::uint64_t run = 0;                 ///< consecutive pages behind `next`
    std::uint64_t began = 0;               ///< serial of its pass
    bool ahead = false;                    ///< asked for before its pass began
    std::optional<stream::TensorId> after; ///< what began next the last time
  };
  Trail& follow(const Touch& touch, Bytes page);
  void ask(Trail& trail, PageNumber from, PageNumber to);
  void reach_on(const Trail& trail, std::uint64_t pages);
  void drop(memory::Range pages);

  Keys keys_;
  std::unordered_map<stream::TensorId, Trail> trails_;
  std::optional<stream::TensorId> last_; ///< that began
  std::uint64_t passes_ = 0;
  std::deque<memory::Range> wanted_;
};

} // namespace umf::policy
