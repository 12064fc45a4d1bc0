#pragma once

#include "hw/platform/replay.h"
#include "model/serving/kv_blocks.h"
#include "traces/generate/step.h"

#include <functional>
#include <span>
#include <vector>

namespace umf::app {

/// A paged KV cache: each part of each layer is one tensor of all blocks,
/// [block][token][head][dim]; a sequence has the blocks its batcher gave it. Neighbouring blocks
/// make one access. Whoever fills a step says first whose blocks its sequences have.
class PagedKv : public traces::generate::KvCache {
public:
  /// Throws UserError for models whose cache is not kept token by token.
  PagedKv(const traces::generate::StepOptions& options, std::uint32_t block_tokens,
          traces::generate::Numbers& numbers);

  /// Of one block in all layers.
  Bytes block_bytes() const;
  /// Of a cache of so many blocks, in order of their ids.
  std::vector<stream::Tensor> tensors(std::uint32_t blocks) const;
  /// All of the cache, block by block in all layers: the order in which a server that clears it
  /// at its start gives its pages their places.
  std::vector<hw::InitialStretch> stretches(std::uint32_t blocks) const;
  /// Once they have them: `far` says whether a byte of a tensor lies behind links.
  void find_places(std::uint32_t blocks,
                   const std::function<bool(stream::TensorId, std::uint64_t offset)>& far);
  /// Bytes of an access to the cache, and those of them behind links; nothing of other tensors.
  struct Reach {
    std::uint64_t all = 0, far = 0;
  };
  Reach reach(const stream::Access& access) const;

  /// Blocks of the next step's sequences, in their order; they stay valid for the step.
  void use(std::vector<std::span<const serving::BlockId>>&& blocks) { blocks_ = std::move(blocks); }

  std::uint64_t read(const traces::generate::KvAsk& ask,
                     std::vector<stream::Access>& accesses) override;
  void append(const traces::generate::KvAsk& ask, std::vector<stream::Access>& accesses) override;

private:
  struct Part {
    stream::Tensor tensor;
    std::uint64_t entry = 0; ///< bytes
  };
  const Part& part_of(const traces::generate::KvAsk& ask) const {
    return parts_[first_[ask.layer] + ask.part_index];
  }
  void touch(const Part& part, std::uint32_t sequence, traces::generate::Entries entries,
             bool write, std::vector<stream::Access>& accesses) const;

  std::uint32_t block_tokens_;
  std::vector<Part> parts_;
  std::vector<std::size_t> first_; ///< of a layer in parts_
  std::vector<bool> far_;          ///< by block
  std::vector<std::span<const serving::BlockId>> blocks_;
};

} // namespace umf::app
