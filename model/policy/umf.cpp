#include "model/policy/registry.h"
#include "model/policy/reuse_table.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace umf::policy {

namespace {

struct Config {
  double hbm_reserve_ratio = 0.15;
  std::map<std::string, double> role_priority = {
      {"activation", 2.0}, {"workspace", 2.0}, {"unknown", 2.0}};
  double default_priority = 1.0;
  double short_lived_priority = 2.0;
  Bytes block = 2_MiB;
  std::uint32_t promote_touches = 2;
  Femtoseconds window = 1000000000_ns;
  double demote_watermark = 0.02;
  double promote_margin = 0.02;
  double swap_ratio = 2.0;
  Bytes in_flight = 32_MiB;
  Femtoseconds review = 100000_ns;
  std::uint32_t patience = 128;
};

const Component<Config>& component() {
  static const auto keys =
      Component<Config>("policy.umf", "By role and reuse: room in HBM for what lives shortly, a "
                                      "steady rest of the others, background moves by reuse.")
          .key("hbm_reserve_ratio", &Config::hbm_reserve_ratio, hbm_reserve_key())
          .key("role_priority", &Config::role_priority,
               {.help = "Who stays in HBM first, by role (weight, kv-key, kv-value, activation, "
                        "expert, lora, workspace, unknown).",
                .min = 0.0,
                .max = 1000.0,
                .from = Provenance::derived,
                .source = "traffic for a byte held: what lives for a layer is written and read "
                          "within it, weights and KV are read once a step"})
          .key("default_priority", &Config::default_priority,
               {.help = "The priority of roles that role_priority does not name.",
                .min = 0.0,
                .max = 1000.0,
                .from = Provenance::derived,
                .source = "below the roles named by default"})
          .key("short_lived_priority", &Config::short_lived_priority,
               {.help = "Roles of at least this priority count as short-lived: they may use SRAM, "
                        "their peak is kept free in HBM, and they are never moved out of it.",
                .min = 0.0,
                .max = 1000.0,
                .from = Provenance::derived,
                .source = "the priority of activations and workspaces"})
          .key("block", &Config::block,
               {.help = "What reuse is counted for and what moves at once: an aligned stretch of "
                        "unified addresses; at least a page.",
                .min = 4_KiB,
                .max = 1_GiB,
                .from = Provenance::derived,
                .source = "long enough for the link's full rate, short against HBM; as lru's"})
          .key("promote_touches", &Config::promote_touches,
               {.help = "Passes over a block outside HBM, each within the window of the one "
                        "before, that make it a candidate for promotion.",
                .min = 1,
                .max = 1'000'000,
                .from = Provenance::derived,
                .source = "umfsim tables --suite break-even: two reads across a Gen5 x16 link cost "
                          "more than one copy; a block read twice has recurred"})
          .key("window", &Config::window,
               {.help = "The longest time between two passes that still counts as reuse; a "
                        "candidate not used for so long is forgotten.",
                .min = 1_ns,
                .from = Provenance::derived,
                .source = "longer than a step of a large model"})
          .key("demote_watermark", &Config::demote_watermark,
               {.help = "Share of HBM kept free by demotion, if the peak of what lives shortly "
                        "asks for no more.",
                .min = 0.0,
                .max = 1.0,
                .from = Provenance::derived,
                .source = "room for a first touch; assumed"})
          .key("promote_margin", &Config::promote_margin,
               {.help = "Share of HBM that must be free beyond what is kept free before anything "
                        "long-lived is promoted: hysteresis against demoting it again.",
                .min = 0.0,
                .max = 1.0,
                .from = Provenance::derived,
                .source = "as demote_watermark"})
          .key("swap_ratio", &Config::swap_ratio,
               {.help = "In a full HBM a candidate replaces a block only if that one is used at "
                        "intervals of more than so many times its own.",
                .min = 1.0,
                .max = 1e6,
                .from = Provenance::derived,
                .source = "a swap moves two blocks, so it should save two reads for one"})
          .key("in_flight", &Config::in_flight,
               {.help = "Background moves ordered and not done.",
                .min = 4_KiB,
                .max = 64_GiB,
                .from = Provenance::derived,
                .source = "scheduler.command_queue × block, both by default"})
          .key("review", &Config::review,
               {.help = "Moves are decided at most so often, and whenever one is done.",
                .min = Femtoseconds{0},
                .from = Provenance::derived,
                .source = "a few moves of a block over a Gen5 x16 link"})
          .key("patience", &Config::patience,
               {.help = "A review that orders nothing doubles the time to the next one, up to so "
                        "many times `review`.",
                .min = 1,
                .max = 1'000'000,
                .from = Provenance::derived,
                .source = "some 10 ms, short against a step that does not fit HBM"});
  return keys;
}

/// Long-lived data that HBM cannot hold whole is best cut into a steady resident part and a part
/// read in the pool: a cyclic scan longer than HBM defeats least-recently-used altogether. So the
/// victim is the block whose next use is predicted farthest off, and nothing replaces a block but
/// one that is used much more often.
class Umf : public Policy {
public:
  explicit Umf(Config config) : config_(std::move(config)), table_(config_.block) {}

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
    if (rest.pages > 0)
      place_hbm_first(rest, ground, kept, {TierClass::pool, TierClass::host}, grants);
    PageNumber at = need.tensor->base / ground.page.count + need.first_page;
    for (Grant& given : grants) {
      // Short-lived pages that found no room look for it once more when first accessed.
      given.blank = is_short(priority) && !need.initial && is_away(given.tier, ground);
      table_.add(at, given.pages, given.tier, priority, ground.page);
      if (is_short(priority) && ground.is(given.tier, TierClass::hbm)) short_in_hbm_ += given.pages;
      at += given.pages;
    }
  }

  void touched(const Touch& touch, const Ground& ground, std::vector<Order>& orders) override {
    if (touch.pages.state == memory::PageState::blank)
      if (const auto hbm = ground.index(TierClass::hbm))
        orders.push_back({touch.pages.first, touch.pages.count, *hbm, Order::Why::fill});
    passed_.clear();
    table_.touch(touch, config_.window, ground.page, passed_);
    for (const std::uint64_t number : passed_)
      if (table_.find(number)->recent >= config_.promote_touches && away(number, ground) > 0)
        candidates_.insert(number);
    now_ = touch.now;
    if (touch.now - reviewed_ >= config_.review * wait_) review(touch.now, ground, orders);
  }

  /// Sending a block of long-lived data out takes the link as much as writing the same bytes of
  /// short-lived data across it, and those will be read again soon.
  void make_room(TierIndex tier, std::uint64_t pages, const Ground& ground,
                 std::vector<Order>& orders) override {
    std::map<TierIndex, std::uint64_t> taken;
    for (auto left = victims(tier, now_); pages > 0 && !left.empty(); left.pop())
      pages -= std::min(pages,
                        move_out(left.top().number, tier, Order::Why::room, ground, taken, orders));
  }

  void settled(const Settled& move, const Ground& ground, std::vector<Order>& orders) override {
    const bool out = ground.is(move.from.tier, TierClass::hbm);
    const bool in = ground.is(move.to, TierClass::hbm);
    now_ = move.now;
    table_.each_block(move.from.first, move.from.count, ground.page,
                      [&](std::uint64_t number, std::uint64_t pages) {
                        ReuseBlock& block = *table_.find(number);
                        const std::uint64_t ours = std::min(pages, block.ordered); // no fill
                        block.ordered -= ours;
                        outstanding_ -= ours;
                        if (out) leaving_ -= ours;
                        if (!move.moved || !is_short(block.priority)) return;
                        if (in) short_in_hbm_ += pages;
                        if (out) short_in_hbm_ -= std::min(pages, short_in_hbm_);
                      });
    if (!move.moved) return; // the machine is busy: not again at once
    table_.move(move.from, move.to, ground.page);
    // What is on its way keeps the links busy until then.
    if (outstanding_ * ground.page.count * 2 <= config_.in_flight.count)
      review(move.now, ground, orders);
  }

  void released(const memory::AddressSpace::Entry& tensor, const memory::PageRun& run,
                const Ground& ground) override {
    table_.each_block(run.first, run.count, ground.page,
                      [&](std::uint64_t number, std::uint64_t pages) {
                        ReuseBlock& block = *table_.find(number);
                        const std::uint64_t left = block.all() - pages;
                        const std::uint64_t gone = block.ordered - std::min(block.ordered, left);
                        block.ordered -= gone; // blank pages, which no order moves
                        outstanding_ -= gone;
                      });
    table_.remove(run, ground.page);
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

  bool busy(const Ground& ground) const {
    return outstanding_ * ground.page.count >= config_.in_flight.count;
  }

  /// Blocks of HBM that may leave, the one to leave first in front.
  struct Victim {
    double priority;
    Femtoseconds distance, last;
    std::uint64_t number;
    bool operator>(const Victim& other) const {
      return std::tie(priority, other.distance, other.last, other.number) >
             std::tie(other.priority, distance, last, number);
    }
  };
  /// Blocks outside that may come in, the one that is worth most in front.
  struct Candidate {
    double priority;
    Femtoseconds gap, distance;
    std::uint64_t number;
    bool operator>(const Candidate& other) const {
      return std::tie(other.priority, gap, distance, number) >
             std::tie(priority, other.gap, other.distance, other.number);
    }
  };
  /// Of many only the first few are wanted in order.
  template <class T>
  using Queue = std::priority_queue<T, std::vector<T>, std::greater<>>;

  template <class Visit>
  void each_victim(TierIndex hbm, Femtoseconds now, Visit visit) const {
    for (const auto& [number, block] : table_.blocks())
      if (block.in(hbm) > 0 && block.ordered == 0 && !is_short(block.priority))
        visit(Victim{block.priority, block.distance(now), block.last, number}, block);
  }
  Queue<Victim> victims(TierIndex hbm, Femtoseconds now) const {
    std::vector<Victim> all;
    each_victim(hbm, now, [&](const Victim& victim, const ReuseBlock&) { all.push_back(victim); });
    return Queue<Victim>(std::greater<>{}, std::move(all));
  }

  void demote(std::uint64_t pages, TierIndex hbm, Femtoseconds now, const Ground& ground,
              std::vector<Order>& orders) {
    if (busy(ground)) return;
    std::map<TierIndex, std::uint64_t> taken;
    for (auto left = victims(hbm, now); pages > 0 && !busy(ground) && !left.empty(); left.pop())
      pages -= std::min(
          pages, move_out(left.top().number, hbm, Order::Why::background, ground, taken, orders));
  }

  /// Orders a block's pages in HBM to the first memory behind it that has the frames; returns
  /// how many pages.
  std::uint64_t move_out(std::uint64_t number, TierIndex hbm, Order::Why why, const Ground& ground,
                         std::map<TierIndex, std::uint64_t>& taken, std::vector<Order>& orders) {
    const std::uint64_t count = table_.find(number)->in(hbm);
    for (const TierClass kind : {TierClass::pool, TierClass::host})
      for (std::size_t t = 0; t < ground.tiers.size(); ++t) {
        const auto to = static_cast<TierIndex>(t);
        if (!ground.is(to, kind) || ground.free_pages(to) - taken[to] < count) continue;
        taken[to] += count;
        leaving_ += count;
        order(number, hbm, to, count, why, ground, orders);
        return count;
      }
    return 0;
  }

  void order(std::uint64_t number, TierIndex from, TierIndex to, std::uint64_t count,
             Order::Why why, const Ground& ground, std::vector<Order>& orders) {
    const std::uint64_t size = table_.block_pages(ground.page);
    orders.push_back({number * size, size, to, why, from});
    table_.find(number)->ordered += count;
    outstanding_ += count;
  }

  /// Candidates into free frames, the most used first; where there are none the best of them
  /// may send one block out, and comes in when that is gone.
  void promote(TierIndex hbm, Femtoseconds now, const Ground& ground, std::vector<Order>& orders) {
    if (busy(ground)) return;
    std::vector<Candidate> all_wanted;
    for (auto it = candidates_.begin(); it != candidates_.end();) {
      const ReuseBlock* block = table_.find(*it);
      if (block == nullptr || away(*it, ground) == 0 || now - block->last > config_.window) {
        it = candidates_.erase(it);
        continue;
      }
      if (block->ordered == 0)
        all_wanted.push_back({block->priority, block->gap(now), block->distance(now), *it});
      ++it;
    }
    Queue<Candidate> wanted{std::greater<>{}, std::move(all_wanted)};
    const std::uint64_t all = ground.all_pages(TierClass::hbm);
    const std::uint64_t kept = kept_free(ground) + part_of(all, config_.promote_margin);
    std::uint64_t free = ground.free_pages(hbm);
    for (; !wanted.empty() && !busy(ground); wanted.pop()) {
      const Candidate& candidate = wanted.top();
      const std::uint64_t keep = is_short(candidate.priority) ? 0 : kept;
      const std::uint64_t pages = away(candidate.number, ground);
      if (free < keep + pages) {
        if (free + leaving_ < keep + pages) swap(candidate, hbm, now, ground, orders);
        return;
      }
      free -= pages;
      move_in(candidate.number, hbm, ground, orders);
    }
  }

  void move_in(std::uint64_t number, TierIndex hbm, const Ground& ground,
               std::vector<Order>& orders) {
    candidates_.erase(number);
    const auto pages = table_.find(number)->pages;
    for (const auto& [tier, count] : pages)
      if (is_away(tier, ground))
        order(number, tier, hbm, count, Order::Why::background, ground, orders);
  }

  /// Sends out a block that is used more seldom by enough, the one wanted last among equals. Where
  /// the candidate is in its cycle does not matter: of two blocks read in turn one is always
  /// wanted sooner, and exchanging them saves no read.
  void swap(const Candidate& candidate, TierIndex hbm, Femtoseconds now, const Ground& ground,
            std::vector<Order>& orders) {
    std::optional<Victim> victim; // of the lowest priority, and of those of the longest gap
    Femtoseconds gap{};
    each_victim(hbm, now, [&](const Victim& other, const ReuseBlock& block) {
      const Femtoseconds its = block.gap(now);
      if (victim && (other.priority != victim->priority ? other.priority > victim->priority
                     : its != gap                       ? its < gap
                                                        : other > *victim))
        return;
      victim = other;
      gap = its;
    });
    if (!victim || victim->priority > candidate.priority) return;
    const double limit = config_.swap_ratio * static_cast<double>(candidate.gap.count);
    if (victim->priority == candidate.priority && static_cast<double>(gap.count) <= limit) return;
    std::map<TierIndex, std::uint64_t> taken;
    move_out(victim->number, hbm, Order::Why::background, ground, taken, orders);
  }

  Config config_;
  ReuseTable table_;
  std::set<std::uint64_t> candidates_; ///< blocks with pages outside that have recurred
  std::vector<std::uint64_t> passed_;
  std::uint64_t short_pages_ = 0, short_peak_ = 0; ///< live outside SRAM; the most there were
  std::uint64_t short_in_hbm_ = 0;
  std::uint64_t outstanding_ = 0, leaving_ = 0; ///< pages ordered: all; out of HBM
  Femtoseconds now_{0}, reviewed_{0};
  std::uint32_t wait_ = 1; ///< reviews' time to the next, in `review`
};

} // namespace

Kind umf() {
  return {&component().info(),
          "HBM for what lives shortly and a steady part of the rest; the other part is read in the "
          "pool and comes in when it is reused.",
          [](const JsonValue& object, KeyContext& context) -> std::unique_ptr<Policy> {
            Config config = component().read(object, context, kNameKey);
            check_roles(object, "role_priority", context);
            return std::make_unique<Umf>(std::move(config));
          }};
}

} // namespace umf::policy
