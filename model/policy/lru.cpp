#include "model/policy/registry.h"

#include <algorithm>
#include <list>
#include <map>
#include <set>

namespace umf::policy {

namespace {

enum class Backing : std::uint8_t { pool, host };

struct Config {
  double hbm_reserve_ratio = 0.15;
  Bytes block = 2_MiB;
  Backing backing = Backing::pool;
};

} // namespace

} // namespace umf::policy

template <>
struct umf::EnumNames<umf::policy::Backing> {
  static constexpr std::pair<std::string_view, umf::policy::Backing> list[] = {
      {"pool", umf::policy::Backing::pool}, {"host", umf::policy::Backing::host}};
};

namespace umf::policy {

namespace {

const Component<Config>& component() {
  static const auto keys =
      Component<Config>("policy.lru", "Demand paging: an access to a page outside HBM faults and "
                                      "waits until it is there; the least recently used leave.")
          .key("hbm_reserve_ratio", &Config::hbm_reserve_ratio, hbm_reserve_key())
          .key("block", &Config::block,
               {.help = "What one fault brings in and what leaves at once: an aligned stretch of "
                        "unified addresses; at least a page.",
                .min = 4_KiB,
                .max = 1_GiB,
                .from = Provenance::claimed,
                .source = "CUDA unified memory: blocks of 2 MiB, which its prefetcher fills from "
                          "64 KiB up and which leave whole"})
          .key("backing", &Config::backing,
               {.help = "Where pages outside HBM live first; the other one takes what it cannot.",
                .from = Provenance::derived,
                .source = "the pool, to compare policies on one machine; CUDA's is the host"});
  return keys;
}

/// Moves are exclusive: a page has one home, and leaving HBM copies it out (NVIDIA's GPUs keep
/// no dirty bit that says it need not be). Exact LRU over blocks, by what reaches the scheduler;
/// CUDA's driver sees faults only, so this is the better half of what it does.
class Lru : public Policy {
public:
  explicit Lru(const Config& config) : config_(config) {}

  void place(const Need& need, const Ground& ground, std::vector<Grant>& grants) override {
    const std::uint64_t all = ground.all_pages(TierClass::hbm);
    const std::uint64_t kept = need.initial ? part_of(all, config_.hbm_reserve_ratio) : 0;
    const std::uint64_t in_hbm = place_hbm_first(need, ground, kept, backing(), grants);
    const PageNumber base = need.tensor->base / ground.page.count + need.first_page;
    each_block(base, in_hbm, ground,
               [&](std::uint64_t block, std::uint64_t pages) { add(block, pages); });
    // Their first access faults as any other, and finds nothing worth copying.
    for (Grant& given : grants)
      given.blank = !need.initial && !ground.is(given.tier, TierClass::hbm);
  }

  void touched(const Touch& touch, const Ground& ground, std::vector<Order>&) override {
    each_block(touch.pages.first, touch.pages.count, ground,
               [&](std::uint64_t block, std::uint64_t) { renew(block); });
  }

  bool faults(const Touch& touch, const Ground& ground) override {
    return !ground.is(touch.pages.tier, TierClass::hbm) && ground.index(TierClass::hbm) &&
           in_place_.count(touch.pages.first / block_pages(ground)) == 0;
  }

  void resolve(const Touch& fault, const Ground& ground, std::vector<Order>& orders) override {
    const TierIndex hbm = *ground.index(TierClass::hbm);
    const std::uint64_t size = block_pages(ground);
    each_block(fault.pages.first, fault.pages.count, ground,
               [&](std::uint64_t block, std::uint64_t) {
                 orders.push_back({block * size, size, hbm, Order::Why::fill});
               });
  }

  void make_room(TierIndex tier, std::uint64_t pages, const Ground& ground,
                 std::vector<Order>& orders) override {
    const std::uint64_t size = block_pages(ground);
    std::map<TierIndex, std::uint64_t> taken; // of free frames, by the orders below
    for (auto it = order_.begin(); it != order_.end() && pages > 0; ++it) {
      Entry& victim = blocks_.at(*it);
      if (victim.leaving || victim.pages == 0) continue;
      for (const TierClass kind : backing())
        for (std::size_t t = 0; t < ground.tiers.size(); ++t) {
          const auto to = static_cast<TierIndex>(t);
          if (victim.leaving || ground.tiers[t].kind != kind ||
              ground.free_pages(to) - taken[to] < victim.pages)
            continue;
          taken[to] += victim.pages;
          victim.leaving = true;
          orders.push_back({*it * size, size, to, Order::Why::room, tier});
        }
      if (victim.leaving) pages -= std::min(pages, victim.pages);
    }
  }

  void unmet(const memory::PageRun& run, const Ground& ground) override {
    each_block(run.first, run.count, ground,
               [&](std::uint64_t block, std::uint64_t) { in_place_.insert(block); });
  }

  void settled(const Settled& move, const Ground& ground, std::vector<Order>&) override {
    const bool in = ground.is(move.to, TierClass::hbm);
    const bool out = ground.is(move.from.tier, TierClass::hbm);
    if (!move.moved || in == out) return;
    each_block(move.from.first, move.from.count, ground,
               [&](std::uint64_t block, std::uint64_t pages) {
                 if (out) return remove(block, pages);
                 add(block, pages);
               });
    if (out) in_place_.clear(); // there is room again
  }

  void released(const memory::AddressSpace::Entry&, const memory::PageRun& run,
                const Ground& ground) override {
    in_place_.clear();
    if (!ground.is(run.tier, TierClass::hbm)) return;
    each_block(run.first, run.count, ground,
               [&](std::uint64_t block, std::uint64_t pages) { remove(block, pages); });
  }

private:
  struct Entry {
    std::uint64_t pages = 0; ///< in HBM
    bool leaving = false;
    std::list<std::uint64_t>::iterator age;
  };

  std::vector<TierClass> backing() const {
    if (config_.backing == Backing::pool) return {TierClass::pool, TierClass::host};
    return {TierClass::host, TierClass::pool};
  }
  std::uint64_t block_pages(const Ground& ground) const {
    return std::max<std::uint64_t>(config_.block.count / ground.page.count, 1);
  }

  /// Calls act(block, pages of it) along a run of pages.
  template <class Act>
  void each_block(PageNumber first, std::uint64_t pages, const Ground& ground, Act act) const {
    const std::uint64_t size = block_pages(ground);
    for (PageNumber at = first; at < first + pages;) {
      const PageNumber end = std::min(first + pages, (at / size + 1) * size);
      act(at / size, end - at);
      at = end;
    }
  }

  void add(std::uint64_t block, std::uint64_t pages) {
    const auto [it, fresh] = blocks_.try_emplace(block);
    if (fresh) it->second.age = order_.insert(order_.end(), block);
    it->second.pages += pages;
    it->second.leaving = false;
    renew(block);
  }
  void renew(std::uint64_t block) {
    const auto it = blocks_.find(block);
    if (it != blocks_.end()) order_.splice(order_.end(), order_, it->second.age);
  }
  void remove(std::uint64_t block, std::uint64_t pages) {
    const auto it = blocks_.find(block);
    it->second.pages -= pages;
    if (it->second.pages > 0) return;
    order_.erase(it->second.age);
    blocks_.erase(it);
  }

  Config config_;
  std::map<std::uint64_t, Entry> blocks_; ///< with pages in HBM
  std::list<std::uint64_t> order_;        ///< of them, oldest first
  std::set<std::uint64_t> in_place_;      ///< blocks that found no room: read where they are
};

} // namespace

Kind lru() {
  return {&component().info(),
          "Demand paging: what is not in HBM is waited for, and what was not used longest leaves.",
          [](const JsonValue& object, KeyContext& context) -> std::unique_ptr<Policy> {
            return std::make_unique<Lru>(component().read(object, context, kNameKey));
          }};
}

} // namespace umf::policy
