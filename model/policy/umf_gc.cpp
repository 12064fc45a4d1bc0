#include "model/policy/umf.h"

#include <algorithm>

/// S8: what leaves the pool when it runs full, and what of it comes back.
namespace umf::policy {

void Umf::watch(const Need& need, PageNumber first, const Grant& given, const Ground& ground) {
  const stream::Role role = need.tensor->tensor.role;
  if (!is_kv(role)) return;
  if (!collector_)
    collector_.emplace(Collector::Keys{config_.gc_window, config_.gc_pause,
                                       table_.block_pages(ground.page),
                                       memory::origin_of(memory::Region::kv) / ground.page.count});
  collector_->placed({first, first + given.pages},
                     ground.is(given.tier, TierClass::pool) ? std::optional(given.tier)
                                                            : std::nullopt,
                     config_.gc == Collects::kv || role == stream::Role::kv_value, now_);
}

/// Accesses begin scans: while there are none nothing is wanted of the pool.
void Umf::watch(const Touch& touch, const Ground& ground, std::vector<Order>& orders) {
  collector_->touched({touch.pages.first, touch.pages.first + touch.pages.count}, touch.now);
  const Bytes free{unused_in_pool(ground) * ground.page.count};
  if (free < config_.gc_threshold && collector_->may_scan(now_)) {
    orders.emplace_back();
    orders.back().scan = collector_->scan(now_);
  }
  collect(ground, orders);
}

/// Whether anything may be put there or not.
std::uint64_t Umf::unused_in_pool(const Ground& ground) {
  std::uint64_t pages = 0;
  for (const Tier& tier : ground.tiers)
    if (tier.kind == TierClass::pool) pages += tier.frames->free();
  return pages;
}

void Umf::collect(const Ground& ground, std::vector<Order>& orders) {
  const std::uint64_t page = ground.page.count;
  const auto host = ground.index(TierClass::host);
  // Half of the slots that moves of blocks may have.
  const std::uint64_t most =
      std::max<std::uint64_t>(config_.in_flight.count / config_.block.count / 2, 1);
  while (now_ >= collect_from_ && collector_->moves() < most && !busy(ground)) {
    const auto victims = collector_->next();
    if (!victims) return;
    const Bytes soon{(unused_in_pool(ground) + collector_->leaving()) * page};
    const bool enough = !config_.gc_full && soon >= config_.gc_threshold;
    const std::uint64_t pages = victims->pages.size();
    if (enough || !host || ground.free_pages(*host) < promised(*host, orders) + pages)
      return collector_->stop();
    const std::uint64_t number = victims->pages.begin / table_.block_pages(ground.page);
    if (table_.find(number)->ordered > 0) continue; // its pages are on their way elsewhere
    order(number, victims->pages, victims->pool, *host, pages, Order::Why::background, ground,
          orders);
    orders.back().keep = false; // what is kept is not free for long
    collector_->leave(victims->pages);
  }
}

void Umf::scanned(std::uint64_t entries, Femtoseconds now, const Ground& ground,
                  std::vector<Order>& orders) {
  now_ = now;
  collector_->scanned(entries, now);
  collect(ground, orders);
}

std::uint64_t Umf::alike(const memory::PageRun& run) const {
  return collector_ ? collector_->alike(run.first, run.count) : run.count;
}

/// From now on the pages count as ordered: nobody else may order them.
bool Umf::faults(const Touch& touch, const Ground& ground) {
  if (!collector_ || !collector_->unmapped(touch.pages.first)) return false;
  now_ = touch.now;
  const memory::PageRun& run = touch.pages;
  collector_->faulted({run.first, run.first + run.count}, touch.now);
  table_.each_block(run.first, run.count, ground.page,
                    [&](std::uint64_t number, std::uint64_t pages) {
                      table_.find(number)->ordered += pages;
                      outstanding_ += pages;
                    });
  return true;
}

void Umf::resolve(const Touch& touch, const Ground& ground, std::vector<Order>& orders) {
  now_ = touch.now;
  PageNumber at = touch.pages.first;
  table_.each_block(
      at, touch.pages.count, ground.page, [&](std::uint64_t number, std::uint64_t pages) {
        const memory::Range part{at, at + pages};
        at += pages;
        const auto to = home_for(pages, ground, orders);
        if (!to) return; // unmet()
        forget_order(*table_.find(number), pages);
        order(number, part, touch.pages.tier, *to, pages, Order::Why::fill, ground, orders);
        collector_->coming(part);
      });
  count_passes(touch, true, ground, orders);
}

std::optional<TierIndex> Umf::home_for(std::uint64_t pages, const Ground& ground,
                                       const std::vector<Order>& orders) const {
  const auto hbm = ground.index(TierClass::hbm);
  if (hbm && spare(*hbm, ground, orders) >= pages) return hbm;
  for (std::size_t t = 0; t < ground.tiers.size(); ++t) {
    const auto to = static_cast<TierIndex>(t);
    if (ground.is(to, TierClass::pool) && ground.free_pages(to) >= promised(to, orders) + pages)
      return to;
  }
  return std::nullopt;
}

const Collections* Umf::collections() const {
  static const Collections none;
  return collector_ ? &collector_->counters() : unmaps() ? &none : nullptr;
}

} // namespace umf::policy
