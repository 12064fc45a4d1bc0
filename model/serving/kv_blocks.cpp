#include "model/serving/kv_blocks.h"

#include "model/base/error.h"

#include <algorithm>

namespace umf::serving {

KvBlocks::KvBlocks(std::uint32_t blocks) : frames_(blocks), block_(blocks) {}

std::size_t KvBlocks::match(std::span<const std::uint64_t> names, std::size_t most,
                            std::vector<BlockId>& ids) {
  const std::size_t longest = std::min(names.size(), most);
  std::size_t matched = 0;
  for (; matched < longest; ++matched) {
    const auto known = by_name_.find(names[matched]);
    if (known == by_name_.end()) break;
    hold(known->second);
    ids.push_back(known->second);
  }
  return matched;
}

bool KvBlocks::extend(std::uint64_t count, std::vector<BlockId>& ids) {
  if (held_ + count > block_.size()) return false;
  while (frames_.free() < count)
    evict_oldest();
  for (const memory::FrameRun& run : frames_.take(count))
    for (std::uint64_t i = 0; i < run.count; ++i) {
      const auto id = static_cast<BlockId>(run.first + i);
      block_[id].holders = 1;
      ids.push_back(id);
    }
  held_ += count;
  peak_held_ = std::max(peak_held_, held_);
  return true;
}

void KvBlocks::publish(BlockId id, std::uint64_t name) {
  Block& block = block_[id];
  ensure(block.holders > 0, "a block that nobody holds was published");
  if (block.named || !by_name_.try_emplace(name, id).second) return;
  block.name = name;
  block.named = true;
}

void KvBlocks::release(std::vector<BlockId>& ids) {
  for (std::size_t i = ids.size(); i-- > 0;)
    let_go(ids[i]);
  ids.clear();
}

void KvBlocks::hold(BlockId id) {
  Block& block = block_[id];
  if (block.holders++ > 0) return;
  unlink(id);
  --cached_;
  peak_held_ = std::max(peak_held_, ++held_);
}

void KvBlocks::let_go(BlockId id) {
  Block& block = block_[id];
  ensure(block.holders > 0, "a block was let go that nobody holds");
  if (--block.holders > 0) return;
  --held_;
  if (!block.named) {
    frames_.give_back({id, 1});
    return;
  }
  block.older = newest_;
  block.newer = kNone;
  (newest_ == kNone ? oldest_ : block_[newest_].newer) = id;
  newest_ = id;
  ++cached_;
}

void KvBlocks::unlink(BlockId id) {
  const Block& block = block_[id];
  (block.older == kNone ? oldest_ : block_[block.older].newer) = block.newer;
  (block.newer == kNone ? newest_ : block_[block.newer].older) = block.older;
}

void KvBlocks::evict_oldest() {
  const BlockId id = oldest_;
  ensure(id != kNone, "no block to evict");
  unlink(id);
  --cached_;
  ++evicted_;
  by_name_.erase(block_[id].name);
  block_[id].named = false;
  frames_.give_back({id, 1});
}

void KvBlocks::prove() const {
  std::uint64_t held = 0, cached = 0, named = 0;
  for (BlockId id = 0; id < block_.size(); ++id) {
    const Block& block = block_[id];
    held += block.holders > 0;
    cached += block.holders == 0 && block.named;
    if (!block.named) continue;
    ++named;
    const auto known = by_name_.find(block.name);
    ensure(known != by_name_.end() && known->second == id, "a block is not known by its name");
  }
  ensure(named == by_name_.size(), "a name leads to no block");
  ensure(held == held_ && cached == cached_ && held + cached + frames_.free() == block_.size(),
         "blocks held, cached and free are not all blocks");
}

} // namespace umf::serving
