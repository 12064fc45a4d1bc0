#include "model/policy/paging.h"

#include <algorithm>

namespace umf::policy {

void Paging::place(const Need& need, const Ground& ground, std::vector<Grant>& grants) {
  const std::uint64_t all = ground.all_pages(TierClass::hbm);
  const std::uint64_t kept = need.initial ? part_of(all, keys_.hbm_reserve_ratio) : 0;
  const std::uint64_t in_hbm = place_hbm_first(need, ground, kept, backing(), grants);
  const PageNumber base = need.tensor->base / ground.page.count + need.first_page;
  each_block(base, in_hbm, ground,
             [&](std::uint64_t block, PageNumber, std::uint64_t pages) { add(block, pages); });
  // Their first access faults as any other, and finds nothing worth copying.
  for (Grant& given : grants)
    given.blank = !need.initial && !ground.is(given.tier, TierClass::hbm);
}

void Paging::touched(const Touch& touch, const Ground& ground, std::vector<Order>&) {
  each_block(touch.pages.first, touch.pages.count, ground,
             [&](std::uint64_t block, PageNumber, std::uint64_t) { renew(block); });
}

bool Paging::faults(const Touch& touch, const Ground& ground) {
  return !ground.is(touch.pages.tier, TierClass::hbm) && ground.index(TierClass::hbm) &&
         in_place_.count(touch.pages.first / block_pages(ground)) == 0;
}

void Paging::resolve(const Touch& fault, const Ground& ground, std::vector<Order>& orders) {
  const TierIndex hbm = *ground.index(TierClass::hbm);
  const std::uint64_t size = block_pages(ground);
  each_block(fault.pages.first, fault.pages.count, ground,
             [&](std::uint64_t block, PageNumber, std::uint64_t) {
               orders.push_back({block * size, size, hbm, Order::Why::fill});
             });
}

void Paging::make_room(TierIndex tier, std::uint64_t pages, const Ground& ground,
                       std::vector<Order>& orders) {
  const std::uint64_t size = block_pages(ground);
  std::map<TierIndex, std::uint64_t> taken; // of free frames, by the orders below
  for (auto it = order_.begin(); it != order_.end() && pages > 0; ++it) {
    const std::uint64_t block = it->second;
    Entry& victim = blocks_.at(block);
    if (victim.leaving || victim.pages == 0) continue;
    for (const TierClass kind : backing())
      for (std::size_t t = 0; t < ground.tiers.size(); ++t) {
        const auto to = static_cast<TierIndex>(t);
        if (victim.leaving || ground.tiers[t].kind != kind ||
            ground.free_pages(to) - taken[to] < victim.pages)
          continue;
        taken[to] += victim.pages;
        victim.leaving = true;
        orders.push_back({block * size, size, to, Order::Why::room, tier});
      }
    if (victim.leaving) pages -= std::min(pages, victim.pages);
  }
}

void Paging::unmet(const memory::PageRun& run, const Ground& ground) {
  each_block(run.first, run.count, ground,
             [&](std::uint64_t block, PageNumber, std::uint64_t) { in_place_.insert(block); });
}

void Paging::settled(const Settled& move, const Ground& ground, std::vector<Order>&) {
  const bool in = ground.is(move.to, TierClass::hbm);
  const bool out = ground.is(move.from.tier, TierClass::hbm);
  if (!move.moved || in == out) return;
  each_block(move.from.first, move.from.count, ground,
             [&](std::uint64_t block, PageNumber, std::uint64_t pages) {
               if (out) return remove(block, pages);
               add(block, pages);
             });
  if (out) in_place_.clear(); // there is room again
}

void Paging::released(const memory::AddressSpace::Entry&, const memory::PageRun& run,
                      const Ground& ground) {
  in_place_.clear();
  if (!ground.is(run.tier, TierClass::hbm)) return;
  each_block(run.first, run.count, ground,
             [&](std::uint64_t block, PageNumber, std::uint64_t pages) { remove(block, pages); });
}

std::uint64_t Paging::pages_in_hbm(std::uint64_t block) const {
  const auto it = blocks_.find(block);
  return it == blocks_.end() ? 0 : it->second.pages;
}

std::vector<TierClass> Paging::backing() const {
  if (keys_.backing == Backing::pool) return {TierClass::pool, TierClass::host};
  return {TierClass::host, TierClass::pool};
}

std::uint64_t Paging::block_pages(const Ground& ground) const {
  return std::max<std::uint64_t>(keys_.block.count / ground.page.count, 1);
}

void Paging::add(std::uint64_t block, std::uint64_t pages) {
  const auto [it, fresh] = blocks_.try_emplace(block);
  if (fresh) order_.insert({it->second.rank, block});
  it->second.pages += pages;
  it->second.leaving = false;
  renew(block);
}

void Paging::renew(std::uint64_t block) {
  const auto it = blocks_.find(block);
  if (it == blocks_.end()) return;
  const std::uint64_t now = rank(block);
  if (now == it->second.rank) return;
  auto node = order_.extract({it->second.rank, block});
  it->second.rank = now;
  node.value() = {now, block};
  order_.insert(std::move(node));
}

void Paging::remove(std::uint64_t block, std::uint64_t pages) {
  const auto it = blocks_.find(block);
  it->second.pages -= pages;
  if (it->second.pages > 0) return;
  order_.erase({it->second.rank, block});
  blocks_.erase(it);
}

} // namespace umf::policy
