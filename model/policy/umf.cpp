#include "model/policy/block_order.h"
#include "model/policy/prefetcher.h"
#include "model/policy/registry.h"
#include "model/policy/reuse_table.h"
#include "model/policy/umf_config.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace umf::policy {

namespace {

/// Long-lived data that HBM cannot hold whole is best cut into a steady resident part and a part
/// read in the pool: a cyclic scan longer than HBM defeats least-recently-used altogether. So the
/// victim is the block whose next use is predicted farthest off, and nothing replaces a block but
/// one that is used much more often.
class Umf : public Policy {
public:
  explicit Umf(UmfConfig config)
      : config_(std::move(config)), table_(config_.block),
        prefetcher_({config_.prefetch_trigger, config_.prefetch_window}) {}

  void place(const Need& need, const Ground& ground, std::vector<Grant>& grants) override {
    const double priority = priority_of(need.tensor->tensor.role);
    Need rest = need;
    std::uint64_t kept = 0;
    if (is_short(priority)) {
      const std::uint64_t fast = std::min(need.pages, ground.free_pages(TierClass::sram));
      grant(ground, TierClass::sram, fast, grants);
      rest.pages -= fast;
      rest.first_page += fast;
      short_pages_ += rest.pages;
      short_peak_ = std::max(short_peak_, short_pages_);
    } else {
      const std::uint64_t all = ground.all_pages(TierClass::hbm);
      kept = kept_free(ground);
      if (need.initial) kept = std::max(kept, part_of(all, config_.hbm_reserve_ratio));
    }
    if (rest.pages > 0) {
      const std::uint64_t at_home =
          place_hbm_first(rest, ground, kept, {TierClass::pool, TierClass::host}, grants);
      if (config_.spread && !is_short(priority)) spread(rest.pages - at_home, ground, grants);
    }
    PageNumber at = need.tensor->base / ground.page.count + need.first_page;
    for (Grant& given : grants) {
      // Short-lived pages that found no room look for it once more when first accessed.
      given.blank = is_short(priority) && !need.initial && is_away(given.tier, ground);
      table_.add(at, given.pages, given.tier,
                 {priority, need.tensor->tensor.role, end_of(*need.tensor)}, ground.page, now_);
      if (!is_short(priority)) relist(at, given.pages, ground);
      if (is_away(given.tier, ground) && follows(need.tensor->tensor.role))
        spilled_.insert(need.tensor->tensor.id);
      if (is_short(priority) && ground.is(given.tier, TierClass::hbm)) short_in_hbm_ += given.pages;
      at += given.pages;
    }
  }

  void touched(const Touch& touch, const Ground& ground, std::vector<Order>& orders) override {
    if (touch.pages.state == memory::PageState::blank)
      if (const auto hbm = ground.index(TierClass::hbm))
        orders.push_back({touch.pages.first, touch.pages.count, *hbm, Order::Why::fill});
    now_ = touch.now;
    const bool outside = is_away(touch.pages.tier, ground);
    if (touch.pages.state == memory::PageState::moving) too_late(touch, ground);
    if (outside) fetch(touch, ground, orders);
    count_passes(touch, outside, ground, orders);
    if (outside && recent_blocks() > 0) note_recent(touch, ground);
    if (!touch.write && !spilled_.empty() && touch.tensor != nullptr &&
        spilled_.count(touch.tensor->tensor.id) > 0) {
      prefetcher_.touched(touch, ground.page);
      prefetch(ground, orders);
    }
    if (touch.now - reviewed_ >= config_.review * wait_) review(touch.now, ground, orders);
  }

  /// Sending a block of long-lived data out takes the link as much as writing the same bytes of
  /// short-lived data across it, and those will be read again soon.
  void make_room(TierIndex tier, std::uint64_t pages, const Ground& ground,
                 std::vector<Order>& orders) override {
    const auto send = [&](std::uint64_t number) {
      pages -= std::min(pages, move_out(number, tier, Order::Why::room, ground, orders));
    };
    leaving_order(ground).each_farthest(now_, [&](std::uint64_t number) {
      if (table_.find(number)->ordered == 0) send(number);
      return pages > 0;
    });
  }

  void unmet(const memory::PageRun& run, const Ground& ground) override {
    table_.each_block(run.first, run.count, ground.page,
                      [&](std::uint64_t number, std::uint64_t pages) {
                        ReuseBlock* block = table_.find(number);
                        if (block == nullptr) return;
                        forget_order(*block, pages);
                      });
  }

  std::optional<Femtoseconds> sensor_window() const override {
    const bool wanted =
        recent_blocks() > 0 || (config_.prefetch && config_.prefetch_free_bandwidth > 0);
    return wanted ? std::optional(config_.sensor_window) : std::nullopt;
  }

  void sensed(const Sensors& sensors, const Ground& ground, std::vector<Order>& orders) override {
    sensors_ = sensors;
    const double counted = config_.promotion_counts == Counted::faults ? sensors.faults_per_s
                                                                       : sensors.remote_reads_per_s;
    if (recent_blocks() > 0 && counted > config_.promotion_threshold &&
        sensors.hbm_utilisation < config_.promotion_utilisation)
      promote_recent(ground, orders);
  }

  void settled(const Settled& move, const Ground& ground, std::vector<Order>& orders) override {
    const bool out = ground.is(move.from.tier, TierClass::hbm);
    const bool in = ground.is(move.to, TierClass::hbm);
    now_ = move.now;
    table_.each_block(move.from.first, move.from.count, ground.page,
                      [&](std::uint64_t number, std::uint64_t pages) {
                        ReuseBlock& block = *table_.find(number);
                        const std::uint64_t ours = forget_order(block, pages);
                        if (out) leaving_ -= ours;
                        if (!move.moved || !is_short(block.priority)) return;
                        if (in) short_in_hbm_ += pages;
                        if (out) short_in_hbm_ -= std::min(pages, short_in_hbm_);
                      });
    if (!move.moved) return; // the machine is busy: not again at once
    table_.move(move.from, move.to, ground.page);
    relist(move.from.first, move.from.count, ground);
    if (config_.prefetch) prefetch(ground, orders);
    // What is on its way keeps the links busy until then.
    if ((outstanding_ - carried_) * ground.page.count * 2 <= config_.in_flight.count)
      review(move.now, ground, orders);
  }

  void released(const memory::AddressSpace::Entry& tensor, const memory::PageRun& run,
                const Ground& ground) override {
    table_.each_block(run.first, run.count, ground.page,
                      [&](std::uint64_t number, std::uint64_t pages) {
                        ReuseBlock& block = *table_.find(number);
                        const std::uint64_t left = block.all() - pages;
                        const std::uint64_t gone = block.ordered - std::min(block.ordered, left);
                        forget_order(block, gone); // blank pages, which no order moves
                        unstage(block);
                      });
    table_.remove(run, ground.page, end_of(tensor));
    if (!is_short(priority_of(tensor.tensor.role))) relist(run.first, run.count, ground);
    if (spilled_.erase(tensor.tensor.id) > 0) prefetcher_.forget(tensor.tensor.id);
    if (!is_short(priority_of(tensor.tensor.role))) return;
    if (!ground.is(run.tier, TierClass::sram)) short_pages_ -= run.count;
    if (ground.is(run.tier, TierClass::hbm)) short_in_hbm_ -= std::min(run.count, short_in_hbm_);
  }

private:
  double priority_of(stream::Role role) const {
    const auto it = config_.role_priority.find(std::string(stream::name_of(role)));
    return it == config_.role_priority.end() ? config_.default_priority : it->second;
  }
  bool is_short(double priority) const { return priority >= config_.short_lived_priority; }

  /// Frames of HBM that are, or will again be, wanted by what lives shortly.
  std::uint64_t kept_free(const Ground& ground) const {
    const std::uint64_t all = ground.all_pages(TierClass::hbm);
    const std::uint64_t peak = std::min(short_peak_, all);
    return std::max(part_of(all, config_.demote_watermark), peak - std::min(peak, short_in_hbm_));
  }

  /// Gives the last so many of the pages granted, which lie outside, to all memories there.
  void spread(std::uint64_t pages, const Ground& ground, std::vector<Grant>& grants) {
    for (std::uint64_t left = pages; left > 0;) {
      const std::uint64_t part = std::min(left, grants.back().pages);
      left -= part;
      if ((grants.back().pages -= part) == 0) grants.pop_back();
    }
    std::map<TierIndex, std::uint64_t> taken;
    const std::uint64_t size = table_.block_pages(ground.page);
    while (pages > 0) {
      std::optional<TierIndex> best; // its way is least laden
      double least = 0;
      for (std::size_t t = 0; t < ground.tiers.size(); ++t) {
        const auto tier = static_cast<TierIndex>(t);
        if (!is_away(tier, ground) || ground.free_pages(tier) == taken[tier]) continue;
        const double rate = std::max(ground.tiers[t].rate.value, 1.0);
        const double load = static_cast<double>(laden_[tier] + size) / rate;
        if (best && load >= least) continue;
        best = tier;
        least = load;
      }
      const std::uint64_t part = std::min({pages, size, ground.free_pages(*best) - taken[*best]});
      if (!grants.empty() && grants.back().tier == *best && is_away(*best, ground))
        grants.back().pages += part;
      else
        grants.push_back({*best, part});
      taken[*best] += part;
      laden_[*best] += part;
      pages -= part;
    }
  }

  bool follows(stream::Role role) const {
    const auto& roles = config_.prefetch_roles;
    return config_.prefetch &&
           std::find(roles.begin(), roles.end(), stream::name_of(role)) != roles.end();
  }

  /// Behind its last byte.
  static std::uint64_t end_of(const memory::AddressSpace::Entry& tensor) {
    return tensor.base + tensor.tensor.bytes.count;
  }

  static bool is_away(TierIndex tier, const Ground& ground) {
    return !ground.is(tier, TierClass::hbm) && !ground.is(tier, TierClass::sram);
  }

  /// Pages of a block that lie outside HBM and SRAM.
  std::uint64_t away(std::uint64_t number, const Ground& ground) {
    std::uint64_t pages = 0;
    for (const auto& [tier, count] : table_.find(number)->pages)
      if (is_away(tier, ground)) pages += count;
    return pages;
  }

  /// The order of leaving is brought up to date when it is asked for: where all fits, never.
  void relist(PageNumber first, std::uint64_t pages, const Ground& ground) {
    table_.each_block(first, pages, ground.page,
                      [&](std::uint64_t number, std::uint64_t) { relist(number); });
  }
  void relist(std::uint64_t number) {
    ReuseBlock* block = table_.find(number);
    if (block == nullptr)
      leaving_order_.erase(number);
    else if (!std::exchange(block->stale, true))
      stale_.push_back(number);
  }
  const LeavingOrder& leaving_order(const Ground& ground) {
    for (const std::uint64_t number : stale_)
      bring_up_to_date(number, ground);
    stale_.clear();
    return leaving_order_;
  }
  void bring_up_to_date(std::uint64_t number, const Ground& ground) {
    const auto hbm = ground.index(TierClass::hbm);
    ReuseBlock* block = table_.find(number);
    if (block != nullptr) block->stale = false;
    if (!hbm || block == nullptr || block->in(*hbm) == 0 || is_short(block->priority))
      return leaving_order_.erase(number);
    const bool passed = block->last.count >= 0;
    const Femtoseconds back = !passed                     ? LeavingOrder::kNow
                              : block->interval.count < 0 ? LeavingOrder::kNever
                                                          : block->last + block->interval;
    // Before its first pass a block is late once it is known when its like come back.
    const bool idles = passed || typical_.count(block->role) > 0;
    leaving_order_.set(number, {block->priority, block->used(), back, idles});
  }

  void count_passes(const Touch& touch, bool outside, const Ground& ground,
                    std::vector<Order>& orders) {
    passed_.clear();
    table_.touch(touch, config_.window, ground.page, passed_);
    for (const std::uint64_t number : passed_) {
      ReuseBlock& block = *table_.find(number);
      if (block.interval.count > 0 && touch.tensor != nullptr)
        learn(touch.tensor->tensor.role, static_cast<double>(block.interval.count));
      relist(number);
      if (outside && promotes(Promotion::reuse) && block.recent >= config_.promote_touches)
        candidates_.set(number, {block.priority, block.interval, block.last + block.interval});
      if (block.staged > 0) give_back(number, ground, orders);
    }
  }

  bool promotes(Promotion what) const {
    return config_.promotion == what || config_.promotion == Promotion::both;
  }

  /// The running median of a role's intervals: blocks of a scan have all the same one; what is
  /// drawn anew each time, but seldom changes, is mostly wanted again at once.
  void learn(stream::Role role, double interval) {
    constexpr double kStep = 1.1; // of the median, up or down: half of them lie on either side
    const auto [median, first] = typical_.try_emplace(role, interval);
    if (interval != median->second) median->second *= interval > median->second ? kStep : 1 / kStep;
    if (!first) return;
    for (const auto& [number, block] : table_.blocks()) // those never used are late from now on
      if (block.role == role && block.last.count < 0) relist(number);
  }

  /// Frames that orders not yet taken will take of a tier.
  static std::uint64_t promised(TierIndex tier, const std::vector<Order>& orders) {
    std::uint64_t pages = 0;
    for (const Order& order : orders)
      if (order.to == tier) pages += order.pages;
    return pages;
  }
  /// Frames of HBM that long-lived pages may take at once.
  std::uint64_t spare(TierIndex hbm, const Ground& ground, const std::vector<Order>& orders) const {
    const std::uint64_t peak = std::min(short_peak_, ground.all_pages(TierClass::hbm));
    const std::uint64_t kept = peak - std::min(peak, short_in_hbm_) + promised(hbm, orders);
    const std::uint64_t free = ground.free_pages(hbm);
    return free - std::min(free, kept);
  }

  /// Pages outside that an access reads whole come in with it: into frames to spare, or where the
  /// idlest blocks make way.
  void fetch(const Touch& touch, const Ground& ground, std::vector<Order>& orders) {
    const auto hbm = ground.index(TierClass::hbm);
    if (!config_.fetch_on_touch || touch.write || !hbm || touch.tensor == nullptr) return;
    const auto usual = typical_.find(touch.tensor->tensor.role);
    if (touch.pages.state != memory::PageState::resident || usual == typical_.end()) return;
    const std::uint64_t page = ground.page.count;
    PageNumber at = (touch.begin + page - 1) / page;
    const PageNumber end = (touch.begin + touch.bytes.count) / page;
    if (at >= end) return;
    // Frames to spare are for what is not yet known; else it would be read where it is.
    const std::uint64_t margin =
        part_of(ground.all_pages(TierClass::hbm), config_.promote_margin) + kept_free(ground);
    table_.each_block(at, end - at, ground.page, [&](std::uint64_t number, std::uint64_t pages) {
      const PageNumber first = std::exchange(at, at + pages);
      ReuseBlock* block = table_.find(number);
      if (block == nullptr || block->ordered > block->carried || is_short(block->priority)) return;
      const std::uint64_t taken = margin + promised(*hbm, orders) + pages;
      const bool roomy = ground.free_pages(*hbm) >= taken;
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

  /// Sends out the idlest blocks, of so many pages, for one that is expected back much sooner.
  bool make_way(std::uint64_t pages, const ReuseBlock& wanted, double usual, TierIndex hbm,
                const Ground& ground, std::vector<Order>& orders) {
    const double own = static_cast<double>(wanted.interval.count);
    const double limit = config_.swap_ratio * (own > 0 ? std::min(own, usual) : usual);
    std::uint64_t made = 0;
    leaving_order(ground).each_idle([&](std::uint64_t number, const LeavingOrder::Entry& entry) {
      if (entry.priority > wanted.priority ||
          static_cast<double>((now_ - entry.used).count) <= limit)
        return false;
      if (table_.find(number)->ordered == 0)
        made += move_out(number, hbm, Order::Why::background, ground, orders);
      return made < pages;
    });
    return made >= pages;
  }

  /// Orders a block's pages outside to HBM.
  void bring(std::uint64_t number, Order::Why why, const Ground& ground,
             std::vector<Order>& orders) {
    const TierIndex hbm = *ground.index(TierClass::hbm);
    candidates_.erase(number);
    const auto pages = table_.find(number)->pages;
    for (const auto& [tier, count] : pages)
      if (is_away(tier, ground)) order(number, tier, hbm, count, why, ground, orders);
  }

  /// S4, as far as moves under way, frames and HBM's bandwidth allow.
  void prefetch(const Ground& ground, std::vector<Order>& orders) {
    const auto hbm = ground.index(TierClass::hbm);
    if (!hbm || 1 - sensors_.hbm_utilisation < config_.prefetch_free_bandwidth) return;
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
                          if (away(number, ground) == 0) return;
                          block->staged = away(number, ground);
                          staged_ += block->staged;
                          bring(number, Order::Why::prefetch, ground, orders);
                        });
    }
  }

  void unstage(ReuseBlock& block) { staged_ -= std::exchange(block.staged, 0); }

  /// Blocks that are accessed while they come have been fetched twice. The link has no time for
  /// both, so the next ones are let go, twice as many each time.
  void too_late(const Touch& touch, const Ground& ground) {
    table_.each_block(touch.pages.first, touch.pages.count, ground.page,
                      [&](std::uint64_t number, std::uint64_t) {
                        ReuseBlock* block = table_.find(number);
                        if (block == nullptr || block->staged == 0) return;
                        if (std::exchange(block->overtaken, true)) return;
                        backoff_ = std::min(std::max(2 * backoff_, 1u), config_.prefetch_backoff);
                        skip_ = backoff_;
                      });
  }

  /// What came before it was asked for has been used: it leaves, unless HBM has room to spare.
  void give_back(std::uint64_t number, const Ground& ground, std::vector<Order>& orders) {
    const auto hbm = ground.index(TierClass::hbm);
    ReuseBlock& block = *table_.find(number);
    if (block.ordered > 0 || block.in(*hbm) == 0) return;
    unstage(block);
    if (!std::exchange(block.overtaken, false)) backoff_ /= 2;
    const std::uint64_t all = ground.all_pages(TierClass::hbm);
    if (ground.free_pages(*hbm) >= kept_free(ground) + part_of(all, config_.promote_margin)) return;
    move_out(number, *hbm, Order::Why::background, ground, orders);
  }

  /// How many blocks are the promotion_block; 0: no promotion by recency.
  std::size_t recent_blocks() const {
    if (!promotes(Promotion::recent)) return 0;
    return std::max<std::size_t>(config_.promotion_block.count / config_.block.count, 1);
  }
  void note_recent(const Touch& touch, const Ground& ground) {
    table_.each_block(touch.pages.first, touch.pages.count, ground.page,
                      [&](std::uint64_t number, std::uint64_t) {
                        if (recent_.empty() || recent_.back() != number) recent_.push_back(number);
                      });
    while (recent_.size() > 4 * recent_blocks()) // some may be listed twice
      recent_.pop_front();
  }

  /// S6: the blocks used last come in, for the idlest where frames lack.
  void promote_recent(const Ground& ground, std::vector<Order>& orders) {
    const auto hbm = ground.index(TierClass::hbm);
    if (!hbm) return;
    std::set<std::uint64_t> wanted;
    for (auto it = recent_.rbegin(); it != recent_.rend() && wanted.size() < recent_blocks(); ++it)
      if (const ReuseBlock* block = table_.find(*it);
          block != nullptr && block->ordered == 0 && away(*it, ground) > 0)
        wanted.insert(*it);
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

  void review(Femtoseconds now, const Ground& ground, std::vector<Order>& orders) {
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

  /// So many pages of a block are on their way no longer; returns how many of them had been
  /// ordered.
  std::uint64_t forget_order(ReuseBlock& block, std::uint64_t pages) {
    const std::uint64_t ours = std::min(pages, block.ordered); // no fill
    const std::uint64_t carried = std::min(ours, block.carried);
    block.ordered -= ours;
    block.carried -= carried;
    outstanding_ -= ours;
    carried_ -= carried;
    return ours;
  }

  /// Pages that come with an access keep nobody else waiting.
  bool busy(const Ground& ground) const {
    return (outstanding_ - carried_) * ground.page.count >= config_.in_flight.count;
  }

  void demote(std::uint64_t pages, TierIndex hbm, Femtoseconds now, const Ground& ground,
              std::vector<Order>& orders) {
    if (busy(ground)) return;
    leaving_order(ground).each_farthest(now, [&](std::uint64_t number) {
      if (table_.find(number)->ordered == 0)
        pages -= std::min(pages, move_out(number, hbm, Order::Why::background, ground, orders));
      return pages > 0 && !busy(ground);
    });
  }

  /// Orders a block's pages in HBM to the first memory behind it that has the frames; returns
  /// how many pages.
  std::uint64_t move_out(std::uint64_t number, TierIndex hbm, Order::Why why, const Ground& ground,
                         std::vector<Order>& orders) {
    const std::uint64_t count = table_.find(number)->in(hbm);
    for (const TierClass kind : {TierClass::pool, TierClass::host})
      for (std::size_t t = 0; t < ground.tiers.size(); ++t) {
        const auto to = static_cast<TierIndex>(t);
        if (!ground.is(to, kind) || ground.free_pages(to) < promised(to, orders) + count) continue;
        leaving_ += count;
        order(number, hbm, to, count, why, ground, orders);
        return count;
      }
    return 0;
  }

  void order(std::uint64_t number, TierIndex from, TierIndex to, std::uint64_t count,
             Order::Why why, const Ground& ground, std::vector<Order>& orders) {
    const std::uint64_t size = table_.block_pages(ground.page);
    orders.push_back({.first = number * size,
                      .pages = size,
                      .to = to,
                      .why = why,
                      .from = from,
                      .keep = config_.keep_copies && is_away(from, ground)});
    table_.find(number)->ordered += count;
    outstanding_ += count;
  }

  /// Candidates into free frames, the most used first; where there are none the best of them
  /// may send one block out, and comes in when that is gone.
  void promote(TierIndex hbm, Femtoseconds now, const Ground& ground, std::vector<Order>& orders) {
    if (busy(ground)) return;
    const std::uint64_t all = ground.all_pages(TierClass::hbm);
    const std::uint64_t kept = kept_free(ground) + part_of(all, config_.promote_margin);
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

  /// Sends out the idlest block if it is used more seldom by enough. Where the candidate is in its
  /// cycle does not matter: of two blocks read in turn one is always wanted sooner, and exchanging
  /// them saves no read.
  void swap(const ReuseBlock& candidate, TierIndex hbm, Femtoseconds now, const Ground& ground,
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

  UmfConfig config_;
  ReuseTable table_;
  LeavingOrder leaving_order_; ///< long-lived blocks with pages in HBM
  Prefetcher prefetcher_;
  std::unordered_set<stream::TensorId> spilled_; ///< followed; had pages outside when placed
  std::map<TierIndex, std::uint64_t> laden_;     ///< pages that were ever spread to it
  std::map<stream::Role, double> typical_;       ///< interval, fs
  std::deque<std::uint64_t> recent_;             ///< blocks used outside HBM, the last one behind
  Sensors sensors_;
  ComingOrder candidates_;           ///< blocks with pages outside that have recurred
  std::vector<std::uint64_t> stale_; ///< blocks whose place in the order of leaving is an old one
  std::vector<std::uint64_t> passed_;
  std::uint64_t short_pages_ = 0, short_peak_ = 0; ///< live outside SRAM; the most there were
  std::uint64_t short_in_hbm_ = 0;
  std::uint64_t outstanding_ = 0, carried_ = 0, leaving_ = 0; ///< pages ordered: all; with an
                                                              ///< access; out of HBM
  Femtoseconds now_{0}, reviewed_{0};
  std::uint32_t wait_ = 1;               ///< reviews' time to the next, in `review`
  std::uint64_t staged_ = 0;             ///< pages of blocks
  std::uint32_t backoff_ = 0, skip_ = 0; ///< blocks not prefetched after one that came too late
};

} // namespace

Kind umf() {
  return {&umf_component().info(),
          "HBM for what lives shortly and a steady part of the rest; the other part is read in the "
          "pool and comes in when it is reused.",
          [](const JsonValue& object, KeyContext& context) -> std::unique_ptr<Policy> {
            UmfConfig config = umf_component().read(object, context, kNameKey);
            check_roles(object, "role_priority", context);
            check_role_list(config.prefetch_roles, "/policy/prefetch_roles", context);
            return std::make_unique<Umf>(std::move(config));
          },
          true,
          true,
          {{"S3", "spreading", {{"spread", "false"}}},
           {"S4", "prefetch", {{"prefetch", "false"}}},
           {"S5", "copies kept in the pool", {{"keep_copies", "false"}}},
           {"S6", "promotion", {{"promotion", "\"off\""}, {"fetch_on_touch", "false"}}}}};
}

} // namespace umf::policy
