#include "model/policy/umf.h"

#include <algorithm>
#include <utility>

/// S4: what comes before it is asked for.
namespace umf::policy {

bool Umf::follows(stream::Role role) const {
  const auto& roles = config_.prefetch_roles;
  return config_.prefetch &&
         std::find(roles.begin(), roles.end(), stream::name_of(role)) != roles.end();
}

void Umf::prefetch(const Ground& ground, std::vector<Order>& orders) {
  const auto hbm = ground.index(TierClass::hbm);
  const bool scarce = 1 - sensors_.hbm_utilisation < config_.prefetch_free_bandwidth;
  if (!hbm || (scarce && !packs(Pack::prefetch, stream::Role::kv_key))) return;
  const std::uint64_t size = table_.block_pages(ground.page);
  // Moves that a busy link starves keep their frames: no more of them than are kept free.
  const std::uint64_t most =
      std::max(size, part_of(ground.all_pages(TierClass::hbm), config_.demote_watermark));
  while (!busy(ground) && staged_ + size <= most && spare(*hbm, ground, orders) >= size) {
    const auto range = prefetcher_.next(size);
    if (!range) return;
    if (skip_ > 0) {
      --skip_;
      continue;
    }
    table_.each_block(range->begin, range->size(), ground.page,
                      [&](std::uint64_t number, std::uint64_t) {
                        ReuseBlock* block = table_.find(number);
                        if (block == nullptr || block->ordered > 0) return;
                        const std::uint64_t pages = away(number, ground);
                        if (pages == 0 || (scarce && !packs(Pack::prefetch, block->role))) return;
                        block->staged = pages;
                        staged_ += pages;
                        bring(number, Order::Why::prefetch, ground, orders, scarce);
                      });
  }
}

bool Umf::packs(Pack what, stream::Role role) const {
  return memory::region_of(role) == memory::Region::kv &&
         (config_.pack == what || config_.pack == Pack::both);
}

void Umf::too_late(const Touch& touch, const Ground& ground) {
  table_.each_block(touch.pages.first, touch.pages.count, ground.page,
                    [&](std::uint64_t number, std::uint64_t) {
                      ReuseBlock* block = table_.find(number);
                      if (block == nullptr || block->staged == 0) return;
                      if (std::exchange(block->overtaken, true)) return;
                      backoff_ = std::min(std::max(2 * backoff_, 1u), config_.prefetch_backoff);
                      skip_ = backoff_;
                    });
}

void Umf::give_back(std::uint64_t number, const Ground& ground, std::vector<Order>& orders) {
  const auto hbm = ground.index(TierClass::hbm);
  ReuseBlock& block = *table_.find(number);
  if (block.ordered > 0 || block.in(*hbm) == 0) return;
  unstage(block);
  if (!std::exchange(block.overtaken, false)) backoff_ /= 2;
  if (ground.free_pages(*hbm) >= margin(ground)) return;
  move_out(number, *hbm, Order::Why::background, ground, orders);
}

} // namespace umf::policy
