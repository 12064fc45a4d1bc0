#include "model/policy/umf.h"

#include "model/policy/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

/// Places, and what is known of blocks. Orders are in umf_moves.cpp, what comes and goes in
/// umf_promotion.cpp, S4 in umf_prefetch.cpp, S5 in umf_open.cpp.
namespace umf::policy {

Umf::Umf(UmfConfig config)
    : config_(std::move(config)), table_(config_.block),
      prefetcher_({config_.prefetch_trigger, config_.prefetch_window, config_.prefetch_hops,
                   config_.prefetch_ranges}) {
  if (config_.tuner)
    tuner_.emplace(Tuner::Keys{config_.tuner_period, config_.tuner_in_a_row,
                               config_.tuner_utilisation, config_.tuner_idle,
                               config_.tuner_reserve_step, config_.tuner_reserve_min,
                               config_.tuner_reserve_max, config_.tuner_faults, config_.tuner_calm,
                               config_.prefetch_window, config_.tuner_calm_window},
                   config_.hbm_reserve_ratio);
}

void Umf::place(const Need& need, const Ground& ground, std::vector<Grant>& grants) {
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
    short_live_ += need.pages;
    short_most_ = std::max(short_most_, short_live_);
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
  if (need.write) {
    grant_window(need, ground, grants);
    grant_open(need, ground, grants);
  }
  PageNumber at = need.tensor->base / ground.page.count + need.first_page;
  for (Grant& given : grants) {
    // Short-lived pages that found no room look for it once more when first accessed.
    given.blank = is_short(priority) && !need.initial && is_away(given.tier, ground);
    given.packed = is_away(given.tier, ground) && packs(Pack::away, need.tensor->tensor.role);
    table_.add(at, given.pages, given.tier,
               {priority, need.tensor->tensor.role, end_of(*need.tensor)}, ground.page, now_);
    if (!is_short(priority)) relist(at, given.pages, ground);
    if (is_away(given.tier, ground) && follows(need.tensor->tensor.role))
      spilled_.insert(need.tensor->tensor.id);
    if (is_short(priority) && ground.is(given.tier, TierClass::hbm)) short_in_hbm_ += given.pages;
    if (unmaps()) watch(need, at, given, ground);
    at += given.pages;
  }
}

void Umf::touched(const Touch& touch, const Ground& ground, std::vector<Order>& orders) {
  if (touch.pages.state == memory::PageState::blank)
    if (const auto hbm = ground.index(TierClass::hbm))
      orders.push_back({touch.pages.first, touch.pages.count, *hbm, Order::Why::fill});
  now_ = touch.now;
  if (touch.write) forget_copies({touch.pages.first, touch.pages.first + touch.pages.count});
  if (touch.write) append(touch, ground, orders);
  if (window_pages_ > 0) slide(touch, ground, orders);
  if (collector_) watch(touch, ground, orders);
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

void Umf::make_room(TierIndex tier, std::uint64_t pages, const Ground& ground,
                    std::vector<Order>& orders) {
  if (!ground.is(tier, TierClass::hbm)) return;
  const auto send = [&](std::uint64_t number) {
    pages -= std::min(pages, move_out(number, tier, Order::Why::room, ground, orders));
  };
  leaving_order(ground).each_farthest(now_, [&](std::uint64_t number) {
    if (table_.find(number)->ordered == 0) send(number);
    return pages > 0;
  });
}

void Umf::unmet(const memory::PageRun& run, const Ground& ground) {
  if (collector_) collector_->mapped_in_place({run.first, run.first + run.count});
  table_.each_block(run.first, run.count, ground.page,
                    [&](std::uint64_t number, std::uint64_t pages) {
                      ReuseBlock* block = table_.find(number);
                      if (block == nullptr) return;
                      forget_order(*block, pages);
                    });
}

std::optional<Femtoseconds> Umf::sensor_window() const {
  const bool wanted =
      tuner_ || recent_blocks() > 0 || (config_.prefetch && config_.prefetch_free_bandwidth > 0);
  return wanted ? std::optional(config_.sensor_window) : std::nullopt;
}

void Umf::sensed(const Sensors& sensors, const Ground& ground, std::vector<Order>& orders) {
  sensors_ = sensors;
  const double counted = config_.promotion_counts == Counted::faults ? sensors.faults_per_s
                                                                     : sensors.remote_reads_per_s;
  if (tuner_) tune(ground, orders);
  if (recent_blocks() > 0 && counted > config_.promotion_threshold &&
      sensors.hbm_utilisation < config_.promotion_utilisation)
    promote_recent(ground, orders);
}

void Umf::settled(const Settled& move, const Ground& ground, std::vector<Order>& orders) {
  const bool out = ground.is(move.from.tier, TierClass::hbm);
  const bool in = ground.is(move.to, TierClass::hbm);
  now_ = move.now;
  const std::uint64_t leaving = collector_ ? collector_->leaving() : 0;
  if (collector_)
    collector_->settled({move.from.first, move.from.first + move.from.count}, move.moved,
                        ground.is(move.to, TierClass::pool) ? std::optional(move.to) : std::nullopt,
                        move.now);
  table_.each_block(move.from.first, move.from.count, ground.page,
                    [&](std::uint64_t number, std::uint64_t pages) {
                      ReuseBlock& block = *table_.find(number);
                      const std::uint64_t ours = forget_order(block, pages);
                      if (out) leaving_ -= ours;
                      if (!move.moved || !is_short(block.priority)) return;
                      if (in) short_in_hbm_ += pages;
                      if (out) short_in_hbm_ -= std::min(pages, short_in_hbm_);
                    });
  const memory::Range pages{move.from.first, move.from.first + move.from.count};
  if (!move.moved) { // the machine is busy: not again at once
    if (collector_ && collector_->leaving() < leaving) collect_from_ = now_ + config_.review;
    if (out && move.from.copy) copies_[move.from.copy.tier].insert(pages);
    if (written_.size() > 0 && ground.is(move.from.tier, TierClass::sram))
      window_pages_ += window_.insert(pages);
    if (ground.is(move.from.tier, TierClass::sram)) window_pages_ += window_.insert(pages);
    return;
  }
  forget_copies(pages);
  if (in && config_.keep_copies && is_away(move.from.tier, ground) && move.from.packed == 0)
    copies_[move.from.tier].insert(pages);
  for (auto it = open_.lower_bound(pages.begin); it != open_.end() && it->first < pages.end; ++it) {
    it->second = move.to;
    forget_copies({it->first, it->first + 1}); // it will be written, and stays
  }
  table_.move(move.from, move.to, ground.page);
  relist(move.from.first, move.from.count, ground);
  if (config_.prefetch) prefetch(ground, orders);
  if (collector_) collect(ground, orders);
  // What is on its way keeps the links busy until then.
  if ((outstanding_ - carried_) * ground.page.count * 2 <= config_.in_flight.count)
    review(move.now, ground, orders);
}

void Umf::released(const memory::AddressSpace::Entry& tensor, const memory::PageRun& run,
                   const Ground& ground) {
  table_.each_block(run.first, run.count, ground.page,
                    [&](std::uint64_t number, std::uint64_t pages) {
                      ReuseBlock& block = *table_.find(number);
                      const std::uint64_t left = block.all() - pages;
                      const std::uint64_t gone = block.ordered - std::min(block.ordered, left);
                      forget_order(block, gone); // blank pages, which no order moves
                      const std::uint64_t staged = std::min(block.staged, left);
                      staged_ -= std::exchange(block.staged, staged) - staged;
                    });
  forget_copies({run.first, run.first + run.count});
  close({run.first, run.first + run.count}, ground);
  window_pages_ -= window_.erase({run.first, run.first + run.count});
  if (collector_) collector_->removed({run.first, run.first + run.count});
  table_.remove(run, ground.page, end_of(tensor));
  if (!is_short(priority_of(tensor.tensor.role))) relist(run.first, run.count, ground);
  prefetcher_.released(tensor.tensor.id, {run.first, run.first + run.count});
  if (!is_short(priority_of(tensor.tensor.role))) return;
  short_live_ -= run.count;
  if (!ground.is(run.tier, TierClass::sram)) short_pages_ -= run.count;
  if (ground.is(run.tier, TierClass::hbm)) short_in_hbm_ -= std::min(run.count, short_in_hbm_);
}

void Umf::died(const memory::AddressSpace::Entry& tensor) {
  written_.erase(tensor.tensor.id);
  if (spilled_.erase(tensor.tensor.id) > 0) prefetcher_.forget(tensor.tensor.id);
}

double Umf::priority_of(stream::Role role) const {
  const auto it = config_.role_priority.find(std::string(stream::name_of(role)));
  return it == config_.role_priority.end() ? config_.default_priority : it->second;
}

std::uint64_t Umf::wanted_shortly(const Ground& ground) const {
  const std::uint64_t peak = std::min(short_peak_, ground.all_pages(TierClass::hbm));
  return peak - std::min(peak, short_in_hbm_);
}

std::uint64_t Umf::kept_free(const Ground& ground) const {
  const std::uint64_t all = ground.all_pages(TierClass::hbm);
  const std::uint64_t kept =
      std::max(part_of(all, config_.demote_watermark), wanted_shortly(ground));
  if (!tuner_) return kept;
  const std::uint64_t reserve = part_of(all, tuner_->reserve()); // what lives shortly is in it
  return std::max(kept, reserve - std::min(reserve, short_in_hbm_));
}

void Umf::tune(const Ground& ground, std::vector<Order>& orders) {
  const double counted =
      config_.tuner_counts == Counted::faults ? sensors_.faults_per_s : sensors_.remote_reads_per_s;
  now_ = sensors_.now;
  if (!tuner_->sample(sensors_.window, sensors_.hbm_utilisation, counted)) return;
  prefetcher_.set_window(tuner_->prefetch_window());
  wait_ = 1;
  review(now_, ground, orders);
}

std::uint64_t Umf::margin(const Ground& ground) const {
  return kept_free(ground) + part_of(ground.all_pages(TierClass::hbm), config_.promote_margin);
}

std::uint64_t Umf::stripe(std::uint64_t pages, const Ground& ground) const {
  const std::uint64_t least =
      std::max<std::uint64_t>(config_.spread_least.count / ground.page.count, 1);
  const std::uint64_t share = (pages + config_.spread_stripes - 1) / config_.spread_stripes;
  return std::min(table_.block_pages(ground.page), std::max(share, least));
}

void Umf::take_last(std::uint64_t pages, std::vector<Grant>& grants) {
  while (pages > 0) {
    const std::uint64_t part = std::min(pages, grants.back().pages);
    pages -= part;
    if ((grants.back().pages -= part) == 0) grants.pop_back();
  }
}

void Umf::spread(std::uint64_t pages, const Ground& ground, std::vector<Grant>& grants) {
  take_last(pages, grants);
  std::map<TierIndex, std::uint64_t> taken;
  const std::uint64_t size = stripe(pages, ground);
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

std::uint64_t Umf::end_of(const memory::AddressSpace::Entry& tensor) {
  return tensor.base + tensor.tensor.bytes.count;
}

bool Umf::is_away(TierIndex tier, const Ground& ground) {
  return !ground.is(tier, TierClass::hbm) && !ground.is(tier, TierClass::sram);
}

std::uint64_t Umf::away(std::uint64_t number, const Ground& ground) {
  std::uint64_t pages = 0;
  for (const auto& [tier, count] : table_.find(number)->pages)
    if (is_away(tier, ground)) pages += count;
  return pages;
}

void Umf::relist(PageNumber first, std::uint64_t pages, const Ground& ground) {
  table_.each_block(first, pages, ground.page,
                    [&](std::uint64_t number, std::uint64_t) { relist(number); });
}

void Umf::relist(std::uint64_t number) {
  ReuseBlock* block = table_.find(number);
  if (block == nullptr)
    leaving_order_.erase(number);
  else if (!std::exchange(block->stale, true))
    stale_.push_back(number);
}

const LeavingOrder& Umf::leaving_order(const Ground& ground) {
  for (const std::uint64_t number : stale_)
    bring_up_to_date(number, ground);
  stale_.clear();
  return leaving_order_;
}

void Umf::bring_up_to_date(std::uint64_t number, const Ground& ground) {
  const auto hbm = ground.index(TierClass::hbm);
  ReuseBlock* block = table_.find(number);
  if (block != nullptr) block->stale = false;
  if (!hbm || block == nullptr || block->in(*hbm) == open_in(number, *hbm, ground).size() ||
      is_short(block->priority))
    return leaving_order_.erase(number);
  const bool passed = block->last.count >= 0;
  const Femtoseconds back = !passed                     ? LeavingOrder::kNow
                            : block->interval.count < 0 ? LeavingOrder::kNever
                                                        : block->last + block->interval;
  // Before its first pass a block is late once it is known when its like come back.
  const bool idles = passed || typical_.count(block->role) > 0;
  leaving_order_.set(number, {block->priority, block->used(), back, idles});
}

void Umf::count_passes(const Touch& touch, bool outside, const Ground& ground,
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

void Umf::learn(stream::Role role, double interval) {
  const double step = config_.usual_step;
  const auto [median, first] = typical_.try_emplace(role, interval);
  if (interval != median->second) median->second *= interval > median->second ? step : 1 / step;
  if (!first) return;
  table_.each([&](std::uint64_t number, const ReuseBlock& block) {
    if (block.role == role && block.last.count < 0) relist(number); // late from now on
  });
}

namespace {

void check_loops(const UmfConfig& config, KeyContext& context) {
  if (config.tuner_reserve_min > config.tuner_reserve_max)
    context.fault(context.place_of("/policy/tuner_reserve_min"),
                  fmt::format("{} is above tuner_reserve_max of {}, expected at most that",
                              config.tuner_reserve_min, config.tuner_reserve_max));
}

} // namespace

Kind umf() {
  return {&umf_component().info(),
          "HBM for what lives shortly and a steady part of the rest; the other part is read in the "
          "pool and comes in when it is reused.",
          [](const JsonValue& object, KeyContext& context) -> std::unique_ptr<Policy> {
            UmfConfig config = umf_component().read(object, context, kNameKey);
            check_roles(object, "role_priority", context);
            check_role_list(config.prefetch_roles, "/policy/prefetch_roles", context);
            check_loops(config, context);
            return std::make_unique<Umf>(std::move(config));
          },
          true,
          true,
          {{"S3", "spreading", {{"spread", "false"}}},
           {"S4", "prefetch", {{"prefetch", "false"}}},
           {"S5", "copies and open pages", {{"keep_copies", "false"}, {"open_page_home", "false"}}},
           {"S6", "promotion", {{"promotion", "\"off\""}, {"fetch_on_touch", "false"}}},
           {"S8", "collection of the pool", {{"gc", "\"off\""}}},
           {"S9", "tuner", {{"tuner", "false"}}}}};
}

} // namespace umf::policy
