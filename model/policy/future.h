#pragma once

#include "model/policy/policy.h"

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace umf::policy {

/// What one GPU's memory will be asked for, in order of issue: for yardsticks, which know what
/// comes. 16 B a use; a use is a stretch of pages of one tensor in one operation.
class Future {
public:
  struct Use {
    StepNumber step = 0;
    std::uint32_t first = 0, pages = 0; ///< within the tensor
    std::uint32_t sectors = 0;          ///< of 32 B that move, rounded up
    std::uint32_t past() const { return first + pages; }
    Bytes bytes() const { return {std::uint64_t{sectors} * 32}; }
  };
  struct Tensor {
    std::vector<Use> uses; ///< by step
    std::uint64_t pages = 0;
    StepNumber born = 0, dead = kNoStep; ///< first step of its life; first after it
    bool initial = false;
  };
  /// How fast a tier is for this GPU when nothing else uses it.
  struct Speed {
    BytesPerSecond rate{};  ///< of reads, the slowest of the way there
    Femtoseconds latency{}; ///< of a read beyond what all tiers share
  };

  /// The number of a tenant's n-th operation, from 0: tenants are taken to advance one operation
  /// each in turn.
  static StepNumber step_of(std::uint64_t n, std::uint32_t tenant, std::uint32_t tenants) {
    return static_cast<StepNumber>(n * tenants + tenant);
  }

  /// Operations of one queue run one after the other.
  void issue(StepNumber step, std::uint32_t queue);
  Tensor& tensor(stream::TensorId id) { return tensors_[id]; }
  /// A use not before the last one; joined to it where it belongs to the same step and meets it.
  void use(stream::TensorId id, StepNumber step, std::uint64_t first_page, std::uint64_t pages,
           Bytes bytes);
  std::vector<Speed> speeds; ///< by tier, as in Ground; empty: not known

  const Tensor* find(stream::TensorId id) const;
  const std::unordered_map<stream::TensorId, Tensor>& tensors() const { return tensors_; }
  StepNumber steps() const { return static_cast<StepNumber>(queues_.size()); }
  std::uint32_t queue_of(StepNumber step) const { return queues_[step]; }
  std::uint32_t queues() const { return queue_count_; }

private:
  std::unordered_map<stream::TensorId, Tensor> tensors_;
  std::vector<std::uint32_t> queues_; ///< by step
  std::uint32_t queue_count_ = 0;
};

/// How far a run has come, by the steps that were seen.
class Progress {
public:
  explicit Progress(const Future& future) : future_(future), seen_(future.queues()) {}
  void see(StepNumber step);
  /// Whether an operation is over: a later one of its queue runs. What only seems late, since
  /// another queue is ahead, is still to come.
  bool over(StepNumber step) const;

private:
  const Future& future_;
  std::vector<StepNumber> seen_; ///< by queue: the latest step + 1
};

} // namespace umf::policy
