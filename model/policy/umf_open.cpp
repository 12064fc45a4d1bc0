#include "model/policy/umf.h"

#include <algorithm>

/// S5: the page being appended to.
namespace umf::policy {

bool Umf::is_kv(stream::Role role) const {
  const bool is = role == stream::Role::kv_key || role == stream::Role::kv_value;
  return is && !is_short(priority_of(role));
}

std::optional<PageNumber> Umf::open_page(const memory::AddressSpace::Entry& tensor,
                                         std::uint64_t end, const Ground& ground) const {
  if (!config_.open_page_home || !is_kv(tensor.tensor.role)) return std::nullopt;
  if (end % ground.page.count == 0 || end >= end_of(tensor)) return std::nullopt;
  return end / ground.page.count;
}

void Umf::grant_open(const Need& need, const Ground& ground, std::vector<Grant>& grants) {
  const PageNumber first = need.tensor->base / ground.page.count + need.first_page;
  const PageNumber last = first + need.pages - 1;
  close({first - (need.first_page > 0 ? 1 : 0), last}, ground); // it goes on behind those
  if (open_page(*need.tensor, need.until, ground) != last) return;
  const auto hbm = ground.index(TierClass::hbm);
  if (hbm && is_away(grants.back().tier, ground)) {
    std::uint64_t taken = 0;
    for (const Grant& grant : grants)
      if (grant.tier == *hbm) taken += grant.pages;
    if (ground.free_pages(*hbm) > taken) {
      take_last(1, grants);
      grants.push_back({*hbm, 1});
    }
  }
  open(last, grants.back().tier, ground);
}

void Umf::append(const Touch& touch, const Ground& ground, std::vector<Order>& orders) {
  if (touch.tensor == nullptr) return;
  const std::uint64_t end = touch.begin + touch.bytes.count;
  const auto page = open_page(*touch.tensor, end, ground);
  close({touch.pages.first, page.value_or(touch.pages.first + touch.pages.count)}, ground);
  if (!page) return;
  open(*page, touch.pages.tier, ground);
  const auto hbm = ground.index(TierClass::hbm);
  const bool still = touch.pages.state == memory::PageState::resident;
  if (!hbm || !still || !is_away(touch.pages.tier, ground)) return;
  const std::uint64_t number = *page / table_.block_pages(ground.page);
  const ReuseBlock* block = table_.find(number);
  if (block == nullptr || block->ordered > 0) return;
  if (ground.free_pages(*hbm) <= promised(*hbm, orders)) return;
  // The write waits for it either way, and would for long behind demand on a busy link.
  order(number, {*page, *page + 1}, touch.pages.tier, *hbm, 1, Order::Why::fill, ground, orders);
  orders.back().keep = false; // what comes next is written at home
}

void Umf::open(PageNumber page, TierIndex tier, const Ground& ground) {
  open_[page] = tier;
  relist(page / table_.block_pages(ground.page));
}

void Umf::close(memory::Range pages, const Ground& ground) {
  for (auto it = open_.lower_bound(pages.begin); it != open_.end() && it->first < pages.end;) {
    relist(it->first / table_.block_pages(ground.page));
    it = open_.erase(it);
  }
}

std::vector<PageNumber> Umf::open_in(std::uint64_t number, TierIndex tier,
                                     const Ground& ground) const {
  std::vector<PageNumber> pages;
  const memory::Range block = pages_of(number, ground);
  for (auto it = open_.lower_bound(block.begin); it != open_.end() && it->first < block.end; ++it)
    if (it->second == tier) pages.push_back(it->first);
  return pages;
}

} // namespace umf::policy
