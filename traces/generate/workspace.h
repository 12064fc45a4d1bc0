#pragma once

#include "traces/generate/step.h"

#include <array>
#include <vector>

namespace umf::traces::generate {

/// Activations live in a few buffers that every layer uses again, as a caching allocator hands them
/// out: what one kernel wrote the next finds in the L2. Each is as large as its largest use.
enum class Buffer : std::uint8_t {
  residual, ///< what layers add to; all streams of it
  a,        ///< inputs of projections, outputs of attention
  b,        ///< outputs of projections
  c,        ///< activated, absorbed or rotated ones
  d,        ///< what is added to the residual
  scratch,  ///< the experts chosen; what compressors and the indexer make
  expanded, ///< keys and values of all heads (prompts of latent attention)
  partial,  ///< of split attention, in 32 bits
  logits,
  tokens ///< ids
};
inline constexpr std::size_t kBuffers = 10;

class Workspace {
public:
  Workspace(const StepOptions& options, Numbers& numbers);

  stream::TensorId operator[](Buffer buffer) const {
    return tensors_[static_cast<std::size_t>(buffer)].id;
  }
  Bytes bytes(Buffer buffer) const { return tensors_[static_cast<std::size_t>(buffer)].bytes; }
  void declare(std::vector<stream::Record>& records) const;

private:
  std::array<stream::Tensor, kBuffers> tensors_;
};

/// An expert chosen for a token, and its weight.
inline constexpr std::uint64_t kChoice = 8;

/// Where compressors and the indexer put what they make of a token, in bytes × max_tokens.
struct ScratchOf {
  explicit ScratchOf(const shapes::CompressedAttention& attention);
  std::uint64_t compressor = 0, index_compressor = 0, index_q = 0, index_weights = 0, chosen = 0;
  std::uint64_t bytes = 0; ///< all of them
};

/// Decode attention is split so that its blocks fill the device, a split a tile of keys at least.
inline constexpr std::uint64_t kKeyTile = 128, kMostSplits = 32;

} // namespace umf::traces::generate
