#include "model/policy/umf.h"

#include <algorithm>

/// S3: the rows of a KV cache written last, in SRAM.
namespace umf::policy {

std::uint64_t Umf::window_of(const memory::AddressSpace::Entry& tensor, std::uint64_t end) const {
  const auto& shape = tensor.tensor.shape;
  const bool shaped = !shape.empty() && shape.front() > 0;
  const double rows = shaped ? static_cast<double>(shape.front()) : 1.0;
  const double share = std::min(static_cast<double>(config_.sram_window) / rows, 1.0);
  const auto bytes =
      static_cast<std::uint64_t>(share * static_cast<double>(tensor.tensor.bytes.count));
  return end - std::min(end - tensor.base, bytes);
}

std::uint64_t Umf::window_room(const Ground& ground) const {
  const std::uint64_t all = ground.all_pages(TierClass::sram);
  return all - std::min(all, short_most_);
}

void Umf::grant_window(const Need& need, const Ground& ground, std::vector<Grant>& grants) {
  const auto sram = ground.index(TierClass::sram);
  if (config_.sram_window == 0 || !sram || !is_kv(need.tensor->tensor.role)) return;
  const PageNumber first = need.tensor->base / ground.page.count + need.first_page;
  const PageNumber begin = window_of(*need.tensor, need.until) / ground.page.count;
  const PageNumber end = first + need.pages;
  if (begin >= end) return;
  const std::uint64_t room = window_room(ground);
  const std::uint64_t pages = std::min({end - std::max(begin, first), ground.free_pages(*sram),
                                        room - std::min(room, window_pages_)});
  if (pages == 0) return;
  take_last(pages, grants);
  grants.push_back({*sram, pages});
  window_pages_ += window_.insert({end - pages, end});
  written_[need.tensor->tensor.id] = need.until;
}

void Umf::slide(const Touch& touch, const Ground& ground, std::vector<Order>& orders) {
  const auto it = touch.tensor == nullptr ? written_.end() : written_.find(touch.tensor->tensor.id);
  if (it == written_.end()) return;
  if (touch.write) it->second = std::max(it->second, touch.begin + touch.bytes.count);
  const PageNumber first = touch.tensor->base / ground.page.count;
  const bool fits = window_pages_ <= window_room(ground);
  const PageNumber begin = window_of(*touch.tensor, it->second) / ground.page.count;
  leave_window({first, fits ? begin : first + touch.tensor->pages}, ground, orders);
}

void Umf::leave_window(memory::Range pages, const Ground& ground, std::vector<Order>& orders) {
  if (pages.empty() || window_.covered(pages) == 0) return;
  const auto hbm = ground.index(TierClass::hbm);
  PageNumber at = pages.begin;
  table_.each_block(at, pages.size(), ground.page, [&](std::uint64_t number, std::uint64_t count) {
    const memory::Range part{at, at + count};
    at += count;
    const std::uint64_t there = window_.covered(part);
    const ReuseBlock* block = table_.find(number);
    if (there == 0 || block == nullptr || block->ordered > 0) return;
    const bool home =
        hbm && ground.free_pages(*hbm) >= kept_free(ground) + promised(*hbm, orders) + there;
    const auto to = home ? hbm : outside_for(there, ground, orders);
    if (!to) return;
    window_pages_ -= window_.erase(part, [&](memory::Range run) {
      order(number, run, *ground.index(TierClass::sram), *to, run.size(), Order::Why::background,
            ground, orders);
    });
  });
}

} // namespace umf::policy
