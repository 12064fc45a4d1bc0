#include "model/policy/umf.h"

#include <algorithm>
#include <utility>

/// Orders, and what of them is under way.
namespace umf::policy {

std::uint64_t Umf::promised(TierIndex tier, const std::vector<Order>& orders) {
  std::uint64_t pages = 0;
  for (const Order& order : orders)
    if (order.to == tier) pages += order.pages;
  return pages;
}

std::uint64_t Umf::spare(TierIndex hbm, const Ground& ground,
                         const std::vector<Order>& orders) const {
  const std::uint64_t kept = wanted_shortly(ground) + promised(hbm, orders);
  const std::uint64_t free = ground.free_pages(hbm);
  return free - std::min(free, kept);
}

void Umf::bring(std::uint64_t number, Order::Why why, const Ground& ground,
                std::vector<Order>& orders, bool packed) {
  const TierIndex hbm = *ground.index(TierClass::hbm);
  candidates_.erase(number);
  const auto pages = table_.find(number)->pages;
  for (const auto& [tier, count] : pages)
    if (is_away(tier, ground)) {
      order(number, pages_of(number, ground), tier, hbm, count, why, ground, orders);
      orders.back().packed = packed;
    }
}

std::uint64_t Umf::forget_order(ReuseBlock& block, std::uint64_t pages) {
  const std::uint64_t ours = std::min(pages, block.ordered); // no fill
  const std::uint64_t carried = std::min(ours, block.carried);
  block.ordered -= ours;
  block.carried -= carried;
  outstanding_ -= ours;
  carried_ -= carried;
  return ours;
}

bool Umf::busy(const Ground& ground) const {
  return (outstanding_ - carried_) * ground.page.count >= config_.in_flight.count;
}

std::uint64_t Umf::move_out(std::uint64_t number, TierIndex hbm, Order::Why why,
                            const Ground& ground, std::vector<Order>& orders) {
  const std::uint64_t back = send_back(number, why, ground, orders);
  const std::vector<PageNumber> stay = open_in(number, hbm, ground);
  std::uint64_t count = table_.find(number)->in(hbm);
  count -= back + stay.size();
  if (count == 0) return back;
  const auto to = outside_for(count, ground, orders);
  if (!to) return back;
  std::uint64_t left = count; // all of it counts with the first order
  memory::Range part = pages_of(number, ground);
  for (const PageNumber page : stay) {
    order(number, {part.begin, page}, hbm, *to, std::exchange(left, 0), why, ground, orders);
    part.begin = page + 1;
  }
  order(number, part, hbm, *to, left, why, ground, orders);
  return back + count;
}

std::optional<TierIndex> Umf::outside_for(std::uint64_t pages, const Ground& ground,
                                          const std::vector<Order>& orders) const {
  for (const TierClass kind : {TierClass::pool, TierClass::host})
    for (std::size_t t = 0; t < ground.tiers.size(); ++t) {
      const auto to = static_cast<TierIndex>(t);
      if (ground.is(to, kind) && ground.free_pages(to) >= promised(to, orders) + pages) return to;
    }
  return std::nullopt;
}

std::uint64_t Umf::send_back(std::uint64_t number, Order::Why why, const Ground& ground,
                             std::vector<Order>& orders) {
  std::uint64_t pages = 0;
  const memory::Range block = pages_of(number, ground);
  for (auto& [tier, left] : copies_) {
    const TierIndex to = tier; // what goes back to a copy may go to a tier that is read only, too
    if (ground.tiers[to].frames->free() < promised(to, orders) + left.covered(block)) continue;
    left.erase(block, [&](memory::Range part) {
      order(number, part, *ground.index(TierClass::hbm), to, part.size(), why, ground, orders);
      pages += part.size();
    });
  }
  return pages;
}

void Umf::forget_copies(memory::Range pages) {
  for (auto& of_tier : copies_)
    of_tier.second.erase(pages);
}

memory::Range Umf::pages_of(std::uint64_t number, const Ground& ground) const {
  const std::uint64_t size = table_.block_pages(ground.page);
  return {number * size, (number + 1) * size};
}

void Umf::order(std::uint64_t number, memory::Range pages, TierIndex from, TierIndex to,
                std::uint64_t count, Order::Why why, const Ground& ground,
                std::vector<Order>& orders) {
  if (pages.empty() && count == 0) return;
  orders.push_back({.first = pages.begin,
                    .pages = pages.size(),
                    .to = to,
                    .why = why,
                    .from = from,
                    .keep = config_.keep_copies && is_away(from, ground),
                    .packed = is_away(to, ground) && packs(Pack::away, table_.find(number)->role)});
  table_.find(number)->ordered += count;
  outstanding_ += count;
  if (ground.is(from, TierClass::hbm)) leaving_ += count;
}

} // namespace umf::policy
