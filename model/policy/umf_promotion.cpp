#include "model/policy/umf.h"

#include <algorithm>
#include <set>
#include <utility>

/// S6: what comes to HBM and what leaves it for that.
namespace umf::policy {

bool Umf::promotes(Promotion what) const {
  return config_.promotion == what || config_.promotion == Promotion::both;
}

void Umf::fetch(const Touch& touch, const Ground& ground, std::vector<Order>& orders) {
  const auto hbm = ground.index(TierClass::hbm);
  if (!config_.fetch_on_touch || touch.write || !hbm || touch.tensor == nullptr) return;
  const auto usual = typical_.find(touch.tensor->tensor.role);
  if (touch.pages.state != memory::PageState::resident || usual == typical_.end()) return;
  const std::uint64_t page = ground.page.count;
  PageNumber at = (touch.begin + page - 1) / page;
  const PageNumber end = (touch.begin + touch.bytes.count) / page;
  if (at >= end) return;
  table_.each_block(at, end - at, ground.page, [&](std::uint64_t number, std::uint64_t pages) {
    const PageNumber first = std::exchange(at, at + pages);
    ReuseBlock* block = table_.find(number);
    if (block == nullptr || block->ordered > block->carried || is_short(block->priority)) return;
    const bool roomy = ground.free_pages(*hbm) >= margin(ground) + promised(*hbm, orders) + pages;
    if (!roomy && !make_way(pages, *block, usual->second, *hbm, ground, orders)) return;
    if (spare(*hbm, ground, orders) < pages) return; // those have yet to leave
    block->ordered += pages;
    block->carried += pages;
    outstanding_ += pages;
    carried_ += pages;
    orders.push_back({.first = first,
                      .pages = pages,
                      .to = *hbm,
                      .from = touch.pages.tier,
                      .keep = config_.keep_copies,
                      .carried = true});
  });
}

bool Umf::make_way(std::uint64_t pages, const ReuseBlock& wanted, double usual, TierIndex hbm,
                   const Ground& ground, std::vector<Order>& orders) {
  const double own = static_cast<double>(wanted.interval.count);
  const double limit = config_.swap_ratio * (own > 0 ? std::min(own, usual) : usual);
  std::uint64_t made = 0;
  leaving_order(ground).each_idle([&](std::uint64_t number, const LeavingOrder::Entry& entry) {
    if (entry.priority > wanted.priority || static_cast<double>((now_ - entry.used).count) <= limit)
      return false;
    if (table_.find(number)->ordered == 0)
      made += move_out(number, hbm, Order::Why::background, ground, orders);
    return made < pages;
  });
  return made >= pages;
}

std::size_t Umf::recent_blocks() const {
  if (!promotes(Promotion::recent)) return 0;
  return std::max<std::size_t>(config_.promotion_block.count / config_.block.count, 1);
}

void Umf::note_recent(const Touch& touch, const Ground& ground) {
  table_.each_block(touch.pages.first, touch.pages.count, ground.page,
                    [&](std::uint64_t number, std::uint64_t) { recent_.use(number); });
  recent_.keep(recent_blocks());
}

void Umf::promote_recent(const Ground& ground, std::vector<Order>& orders) {
  const auto hbm = ground.index(TierClass::hbm);
  if (!hbm) return;
  std::set<std::uint64_t> wanted;
  recent_.each([&](std::uint64_t number) {
    const ReuseBlock* block = table_.find(number);
    if (block != nullptr && block->ordered == 0 && away(number, ground) > 0) wanted.insert(number);
  });
  std::uint64_t lacking = 0;
  for (const std::uint64_t number : wanted) {
    const std::uint64_t pages = away(number, ground);
    if (spare(*hbm, ground, orders) >= pages)
      bring(number, Order::Why::background, ground, orders);
    else
      lacking += pages;
  }
  leaving_order(ground).each_idle([&](std::uint64_t number, const LeavingOrder::Entry&) {
    if (lacking > 0 && table_.find(number)->ordered == 0)
      lacking -= std::min(lacking, move_out(number, *hbm, Order::Why::background, ground,
                                            orders)); // they come in at the next window
    return lacking > 0;
  });
}

void Umf::review(Femtoseconds now, const Ground& ground, std::vector<Order>& orders) {
  reviewed_ = now;
  const auto hbm = ground.index(TierClass::hbm);
  if (!hbm) return;
  const std::uint64_t kept = kept_free(ground);
  const std::uint64_t coming_free = ground.free_pages(*hbm) + leaving_;
  const std::size_t ordered = orders.size();
  if (coming_free < kept)
    demote(kept - coming_free, *hbm, now, ground, orders);
  else if (!candidates_.empty())
    promote(*hbm, now, ground, orders);
  else
    return;
  wait_ = orders.size() > ordered ? 1 : std::min(wait_ * 2, config_.patience);
}

void Umf::demote(std::uint64_t pages, TierIndex hbm, Femtoseconds now, const Ground& ground,
                 std::vector<Order>& orders) {
  if (busy(ground)) return;
  leaving_order(ground).each_farthest(now, [&](std::uint64_t number) {
    if (table_.find(number)->ordered == 0)
      pages -= std::min(pages, move_out(number, hbm, Order::Why::background, ground, orders));
    return pages > 0 && !busy(ground);
  });
}

void Umf::promote(TierIndex hbm, Femtoseconds now, const Ground& ground,
                  std::vector<Order>& orders) {
  if (busy(ground)) return;
  const std::uint64_t kept = margin(ground);
  std::uint64_t free = ground.free_pages(hbm), coming = 0;
  std::vector<std::uint64_t> gone, come;
  candidates_.each([&](std::uint64_t number) {
    const ReuseBlock* block = table_.find(number);
    const std::uint64_t pages = block == nullptr ? 0 : away(number, ground);
    if (pages == 0 || now - block->last > config_.window) {
      gone.push_back(number);
      return true;
    }
    if (block->ordered > 0) return true;
    const std::uint64_t keep = is_short(block->priority) ? 0 : kept;
    if (free < keep + pages) {
      if (free + leaving_ < keep + pages) swap(*block, hbm, now, ground, orders);
      return false;
    }
    free -= pages;
    coming += pages;
    come.push_back(number);
    return (outstanding_ - carried_ + coming) * ground.page.count < config_.in_flight.count;
  });
  for (const std::uint64_t number : gone)
    candidates_.erase(number);
  for (const std::uint64_t number : come)
    bring(number, Order::Why::background, ground, orders);
}

void Umf::swap(const ReuseBlock& candidate, TierIndex hbm, Femtoseconds now, const Ground& ground,
               std::vector<Order>& orders) {
  const double limit = config_.swap_ratio * static_cast<double>(candidate.gap(now).count);
  leaving_order(ground).each_idle([&](std::uint64_t number, const LeavingOrder::Entry& entry) {
    const ReuseBlock& block = *table_.find(number);
    if (block.ordered > 0 || block.last.count < 0) return true;
    const bool below = entry.priority < candidate.priority;
    const bool rarer =
        entry.priority == candidate.priority && static_cast<double>(block.gap(now).count) > limit;
    if (below || rarer) move_out(number, hbm, Order::Why::background, ground, orders);
    return false;
  });
}

} // namespace umf::policy
