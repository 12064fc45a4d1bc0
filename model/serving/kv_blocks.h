#pragma once

#include "model/memory/frame_allocator.h"

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace umf::serving {

using BlockId = std::uint32_t;

/// Blocks of KV cache: which are free, which sequences hold, and which hold a computed prefix
/// that the next request may share. A block nobody holds keeps its contents until its room is
/// wanted; the one let go longest ago leaves first, the end of a prefix before its begin. What
/// left is no hit any more.
class KvBlocks {
public:
  explicit KvBlocks(std::uint32_t blocks);

  /// Takes hold of cached blocks: the longest beginning of `names`, at most `most` of them.
  /// Appends their ids and returns how many.
  std::size_t match(std::span<const std::uint64_t> names, std::size_t most,
                    std::vector<BlockId>& ids);
  /// Takes `count` blocks, neighbours where it can, and evicts for them. False, and nothing
  /// changed, when blocks that are held leave too few.
  bool extend(std::uint64_t count, std::vector<BlockId>& ids);
  /// The block, which its caller holds, is computed and known by this name from now on. Where
  /// another block has the name already that one keeps it.
  void publish(BlockId id, std::uint64_t name);
  /// Lets go of the blocks, the last first, and empties the list.
  void release(std::vector<BlockId>& ids);

  std::uint32_t blocks() const { return static_cast<std::uint32_t>(block_.size()); }
  std::uint64_t held() const { return held_; }     ///< by at least one sequence
  std::uint64_t cached() const { return cached_; } ///< by nobody, but known by name
  std::uint64_t peak_held() const { return peak_held_; }
  std::uint64_t evicted() const { return evicted_; }
  /// Held + cached + free = all, every name leads to its block; throws InvariantError.
  void prove() const;

private:
  static constexpr BlockId kNone = UINT32_MAX;
  struct Block {
    std::uint64_t name = 0;
    std::uint32_t holders = 0;
    BlockId older = kNone, newer = kNone; ///< in the list of cached ones
    bool named = false;
  };

  void hold(BlockId id);
  void let_go(BlockId id);
  void unlink(BlockId id);
  void evict_oldest();

  memory::FrameAllocator frames_;
  std::vector<Block> block_;
  std::unordered_map<std::uint64_t, BlockId> by_name_; ///< looked up only
  BlockId oldest_ = kNone, newest_ = kNone;
  std::uint64_t held_ = 0, cached_ = 0, peak_held_ = 0, evicted_ = 0;
};

} // namespace umf::serving
