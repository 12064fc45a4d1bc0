#include "model/policy/reuse_table.h"

#include "model/base/error.h"

#include <algorithm>

namespace umf::policy {

std::uint64_t ReuseBlock::in(TierIndex tier) const {
  const auto it = pages.find(tier);
  return it == pages.end() ? 0 : it->second;
}

std::uint64_t ReuseBlock::all() const {
  std::uint64_t sum = 0;
  for (const auto& [tier, count] : pages)
    sum += count;
  return sum;
}

Femtoseconds ReuseBlock::distance(Femtoseconds now) const {
  if (last.count < 0) return {0};
  if (interval.count < 0) return kNever;
  const Femtoseconds expected = last + interval;
  return expected < now ? now - last : expected - now;
}

Femtoseconds ReuseBlock::gap(Femtoseconds now) const {
  return last.count < 0 ? Femtoseconds{0} : std::max(interval, now - last);
}

ReuseBlock& ReuseTable::at(std::uint64_t number) {
  ReuseBlock* block = find(number);
  ensure(block != nullptr, "reuse table: pages of a block that holds none");
  return *block;
}

ReuseBlock& ReuseTable::make(std::uint64_t number, Bytes page, Femtoseconds now) {
  if (origins_.back() == 0)
    for (std::size_t part = 1; part < kParts; ++part)
      origins_[part] = memory::origin_of(static_cast<memory::Region>(part - 1)) /
                       (block_pages(page) * page.count);
  if (ReuseBlock* known = find(number)) return *known;
  const std::size_t part = part_of(number);
  auto& places = places_[part];
  const std::uint64_t at = number - origins_[part];
  if (at >= places.size()) places.resize(at + 1);
  if (unused_.empty()) unused_.push_back(&blocks_.emplace_back());
  places[at] = unused_.back();
  unused_.pop_back();
  *places[at] = ReuseBlock{};
  places[at]->born = now;
  return *places[at];
}

std::uint64_t ReuseTable::block_pages(Bytes page) const {
  return std::max<std::uint64_t>(block_.count / page.count, 1);
}

namespace {

/// Bytes of a tensor that ends at `end` in pages from `at` on.
std::uint64_t bytes_in(PageNumber at, std::uint64_t pages, Bytes page, std::uint64_t end) {
  const std::uint64_t begin = at * page.count;
  return std::min(begin + pages * page.count, std::max(end, begin)) - begin;
}

} // namespace

void ReuseTable::add(PageNumber first, std::uint64_t pages, TierIndex tier, const Tenant& tenant,
                     Bytes page, Femtoseconds now) {
  PageNumber at = first;
  each_block(first, pages, page, [&](std::uint64_t number, std::uint64_t count) {
    ReuseBlock& block = make(number, page, now);
    block.role = tenant.role;
    block.pages[tier] += count;
    block.priority = tenant.priority;
    block.held += bytes_in(at, count, page, tenant.end);
    at += count;
  });
}

void ReuseTable::move(const memory::PageRun& from, TierIndex to, Bytes page) {
  each_block(from.first, from.count, page, [&](std::uint64_t number, std::uint64_t count) {
    ReuseBlock& block = this->at(number);
    ensure(block.in(from.tier) >= count, "reuse table: pages moved that were not there");
    if ((block.pages[from.tier] -= count) == 0) block.pages.erase(from.tier);
    block.pages[to] += count;
  });
}

void ReuseTable::remove(const memory::PageRun& run, Bytes page, std::uint64_t end) {
  PageNumber at = run.first;
  each_block(run.first, run.count, page, [&](std::uint64_t number, std::uint64_t count) {
    ReuseBlock& block = this->at(number);
    block.held -= std::min(block.held, bytes_in(at, count, page, end));
    at += count;
    ensure(block.in(run.tier) >= count, "reuse table: pages released that were not there");
    if ((block.pages[run.tier] -= count) == 0) block.pages.erase(run.tier);
    if (!block.pages.empty()) return;
    unused_.push_back(&block); // what follows here is another tensor
    const std::size_t part = part_of(number);
    places_[part][number - origins_[part]] = nullptr;
  });
}

void ReuseTable::touch(const Touch& touch, Femtoseconds window, Bytes page,
                       std::vector<std::uint64_t>& passed) {
  PageNumber at = touch.pages.first;
  const std::uint64_t end = touch.begin + touch.bytes.count;
  each_block(touch.pages.first, touch.pages.count, page,
             [&](std::uint64_t number, std::uint64_t count) {
               const std::uint64_t from = std::max(touch.begin, at * page.count);
               at += count;
               const std::uint64_t to = std::min(end, at * page.count);
               ReuseBlock* known = find(number);
               if (known == nullptr || from >= to) return;
               ReuseBlock& block = *known;
               block.bytes += to - from;
               if (block.bytes < block.held) return;
               block.bytes -= block.held;
               const bool again = block.last.count >= 0;
               const Femtoseconds since = again ? touch.now - block.last : Femtoseconds{0};
               block.recent = again && since <= window ? block.recent + 1 : 1;
               if (again) block.interval = since;
               block.last = touch.now;
               passed.push_back(number);
             });
}

} // namespace umf::policy
