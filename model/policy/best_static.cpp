#include "model/policy/future.h"
#include "model/policy/registry.h"
#include "model/policy/room.h"

#include <algorithm>
#include <map>
#include <optional>

namespace umf::policy {

namespace {

struct Config {
  Bytes stripe = 512_KiB;
  double spread = 1.1;
};

const Component<Config>& component() {
  static const auto keys =
      Component<Config>("policy.best-static",
                        "Yardstick: fixed places chosen with the whole trace known; nothing moves.")
          .key("stripe", &Config::stripe,
               {.help = "Of a tensor that lies in HBM and outside, every stretch so long has its "
                        "share of both, so that an access meets both at once.",
                .min = 4_KiB,
                .max = 1_GiB,
                .from = Provenance::derived,
                .source = "half of what one of a kernel's operands has in flight, about 1 MiB: "
                          "longer ones are met one memory after the other"})
          .key("spread", &Config::spread,
               {.help =
                    "Long-lived pages whose worth is within this factor of the first that finds "
                    "no room in HBM share what there is evenly, instead of in order of worth.",
                .min = 1.0,
                .max = 1e6,
                .from = Provenance::derived,
                .source = "weights read once a step differ by their length alone; a few percent"});
  return keys;
}

/// Where each page lives for ever, decided before the run from all that it will ask of memory.
///
/// *What is minimised.* Tiers work side by side, so an operation takes the longest of its bytes in
/// each tier over that tier's rate, and a latency more where it must go out. The sum over
/// operations, with a capacity at every step of the run, is a linear program over pages. This is
/// a greedy answer to it, a fractional knapsack:
///   - a page's worth is the time its traffic costs outside less what it costs in HBM, and its
///     share of the latency its uses pay; by step of its life, since a frame can be used again;
///   - frames go to pages by worth, each as many as are free all its life long: SRAM first (worth:
///     against HBM), then HBM, the rest to the pool and the host
///     in proportion to their rates;
///   - equal pages at the margin (`spread`) lie half in, half out in stripes rather than one in,
///     one out: then every operation uses links and HBM at once, and the shorter is hidden;
///   - what is read in stretches so long that it pays in spite of the latency leaves the share
///     outside that the links carry while HBM carries the rest, even where HBM has room.
/// *What it is not.* Greedy by worth is not the program's optimum where lives overlap or operations
/// read tensors of different worth, rates are peaks, and with several streams the future is a
/// guess. Its time is one that a fixed placement reaches, an upper bound on the best one's.
class BestStatic : public Policy {
public:
  explicit BestStatic(const Config& config) : config_(config) {}

  bool wants_future() const override { return true; }
  void foresee(std::shared_ptr<const Future> future) override { future_ = std::move(future); }

  void place(const Need& need, const Ground& ground, std::vector<Grant>& grants) override {
    const std::uint64_t free = free_everywhere(ground);
    if (free < need.pages) refuse(need, ground, "all memories", free, all_everywhere(ground));
    if (future_ != nullptr && !planned_) plan(ground);
    Filler filler(ground, grants);
    const auto found = plans_.find(need.tensor->tensor.id);
    std::uint64_t at = need.first_page;
    const std::uint64_t end = need.first_page + need.pages;
    if (found != plans_.end())
      for (const Stretch& stretch : found->second) {
        if (stretch.past() <= at || at >= end) continue;
        const std::uint64_t stop = std::min<std::uint64_t>(end, stretch.past());
        fill(stretch, at - stretch.first, stop - stretch.first, ground, filler);
        at = stop;
      }
    if (at < end) filler.give(TierClass::hbm, end - at); // not foreseen
  }

private:
  /// Pages of a tensor with the same traffic, and where they go.
  struct Stretch {
    std::uint32_t first = 0, pages = 0;
    double bytes = 0, uses = 0; ///< of all its pages, and by how many operations
    StepNumber born = 0, dead = 0;
    std::uint64_t in_sram = 0, in_hbm = 0; ///< leading pages; of those after them
    double worth = 0;                      ///< of the step under way
    std::uint64_t past() const { return std::uint64_t{first} + pages; }
    std::uint64_t rest() const { return pages - in_sram; }
    std::size_t life() const { return dead - born; }
  };

  /// Grants page runs, from the next class where one is full; joins what follows on.
  class Filler {
  public:
    Filler(const Ground& ground, std::vector<Grant>& grants) : ground_(ground), grants_(grants) {
      for (const Tier& tier : ground.tiers)
        free_.push_back(Ground::free_pages(tier));
    }
    void give(TierClass wanted, std::uint64_t pages) {
      for (const TierClass kind :
           {wanted, TierClass::hbm, TierClass::pool, TierClass::host, TierClass::sram})
        for (std::size_t t = 0; t < free_.size() && pages > 0; ++t) {
          if (ground_.tiers[t].kind != kind || free_[t] == 0) continue;
          const std::uint64_t part = std::min(pages, free_[t]);
          free_[t] -= part;
          pages -= part;
          const auto tier = static_cast<TierIndex>(t);
          if (!grants_.empty() && grants_.back().tier == tier)
            grants_.back().pages += part;
          else
            grants_.push_back({tier, part});
        }
    }

  private:
    const Ground& ground_;
    std::vector<Grant>& grants_;
    std::vector<std::uint64_t> free_;
  };

  static std::uint64_t free_everywhere(const Ground& ground) {
    std::uint64_t pages = 0;
    for (const Tier& tier : ground.tiers)
      pages += Ground::free_pages(tier);
    return pages;
  }
  static std::uint64_t all_everywhere(const Ground& ground) {
    std::uint64_t pages = 0;
    for (const Tier& tier : ground.tiers)
      pages += tier.frames->frames();
    return pages;
  }

  /// Pages [from, to) of a stretch: SRAM's come first, then stripes, what lies outside
  /// leading: an access asks for it first and has the rest meanwhile.
  void fill(const Stretch& stretch, std::uint64_t from, std::uint64_t to, const Ground& ground,
            Filler& filler) const {
    if (from < stretch.in_sram) {
      const std::uint64_t stop = std::min(to, stretch.in_sram);
      filler.give(TierClass::sram, stop - from);
      from = stop;
    }
    const std::uint64_t stripe =
        std::max<std::uint64_t>(config_.stripe.count / ground.page.count, 1);
    const std::uint64_t rest = stretch.rest();
    for (std::uint64_t at = from - std::min(from, stretch.in_sram), end = to - stretch.in_sram;
         from < to && at < end;) {
      const std::uint64_t begin = at / stripe * stripe;
      const std::uint64_t next = std::min(rest, begin + stripe);
      const std::uint64_t stop = std::min(end, next);
      const std::uint64_t out_before = begin - stretch.in_hbm * begin / rest;
      const std::uint64_t out_after = next - stretch.in_hbm * next / rest;
      const std::uint64_t out = out_after - out_before;
      const std::uint64_t hosted = out - (pooled(out_after) - pooled(out_before));
      const auto give_to = [&](TierClass kind, std::uint64_t border) {
        if (at >= std::min(stop, border)) return;
        filler.give(kind, std::min(stop, border) - at);
        at = std::min(stop, border);
      };
      give_to(TierClass::host, begin + hosted); // the farthest first
      give_to(TierClass::pool, begin + out);
      give_to(TierClass::hbm, stop);
    }
  }

  /// Of so many pages outside, those in the pool.
  std::uint64_t pooled(std::uint64_t pages) const {
    return static_cast<std::uint64_t>(pool_share_ * static_cast<double>(pages));
  }

  // The plan.

  std::optional<Future::Speed> speed(const Ground& ground, TierClass kind) const {
    const auto tier = ground.index(kind);
    if (!tier || *tier >= future_->speeds.size()) return std::nullopt;
    return future_->speeds[*tier];
  }

  /// The pool and the host's memory together, each in proportion to its rate.
  std::optional<Future::Speed> outside(const Ground& ground) {
    const auto pool = speed(ground, TierClass::pool), host = speed(ground, TierClass::host);
    if (!pool || !host) {
      pool_share_ = pool ? 1 : 0;
      return pool ? pool : host;
    }
    pool_share_ = pool->rate.value / (pool->rate.value + host->rate.value);
    return Future::Speed{{pool->rate.value + host->rate.value},
                         std::max(pool->latency, host->latency)};
  }

  void plan(const Ground& ground) {
    planned_ = true;
    const auto hbm = speed(ground, TierClass::hbm), sram = speed(ground, TierClass::sram);
    const auto far = outside(ground);
    std::vector<Stretch*> all = stretches();
    const std::size_t steps = future_->steps();
    if (sram && hbm) {
      value(all, *sram, *hbm);
      Room room(steps, ground.all_pages(TierClass::sram));
      for (Stretch* stretch : all)
        if (stretch->worth > 0) stretch->in_sram = taken(room, *stretch, stretch->pages);
    }
    for (Stretch* stretch : all)
      stretch->in_hbm = stretch->rest();
    if (!hbm || !far) return;
    value(all, *hbm, *far);
    Room room(steps, ground.all_pages(TierClass::hbm));
    std::optional<double> margin;
    for (Stretch* stretch : all) {
      const std::uint64_t wanted =
          stretch->rest() - left_outside(*stretch, ground.page, *hbm, *far);
      stretch->in_hbm = taken(room, *stretch, wanted);
      if (stretch->in_hbm < wanted && !margin) margin = stretch->worth;
    }
    if (margin) even_out(all, *margin);
  }

  /// Most worth first, by page and step of life.
  static void value(std::vector<Stretch*>& all, const Future::Speed& near,
                    const Future::Speed& far) {
    for (Stretch* stretch : all) {
      const double saved = stretch->bytes * (1 / far.rate.value - 1 / near.rate.value) +
                           stretch->uses * (far.latency.seconds() - near.latency.seconds());
      stretch->worth = saved / stretch->pages / static_cast<double>(stretch->life());
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const Stretch* a, const Stretch* b) { return a->worth > b->worth; });
  }

  static std::uint64_t taken(Room& room, const Stretch& stretch, std::uint64_t wanted) {
    const std::uint64_t pages = std::min(wanted, room.least(stretch.born, stretch.dead));
    if (pages > 0) room.take(stretch.born, stretch.dead, pages);
    return pages;
  }

  /// Pages whose bytes the links carry while HBM carries the others: none, where an operation
  /// reads so little that waiting for the last of them costs more than that saves.
  static std::uint64_t left_outside(const Stretch& stretch, Bytes page, const Future::Speed& hbm,
                                    const Future::Speed& far) {
    if (stretch.uses <= 0) return 0;
    const double share = far.rate.value / (far.rate.value + hbm.rate.value);
    const double saved = stretch.bytes / stretch.uses / hbm.rate.value * share;
    const double last_page = static_cast<double>(page.count) / far.rate.value;
    if (saved <= far.latency.seconds() - hbm.latency.seconds() + last_page) return 0;
    return static_cast<std::uint64_t>(share * static_cast<double>(stretch.rest()));
  }

  /// Of those that live all along and are about as much worth as the margin.
  void even_out(const std::vector<Stretch*>& all, double margin) const {
    std::vector<Stretch*> equal;
    std::uint64_t pages = 0, in_hbm = 0;
    for (Stretch* stretch : all) {
      const bool alike = stretch->worth <= margin * config_.spread &&
                         stretch->worth * config_.spread >= margin && stretch->worth > 0;
      if (!alike || stretch->born > 0 || stretch->dead < future_->steps()) continue;
      equal.push_back(stretch);
      pages += stretch->rest();
      in_hbm += stretch->in_hbm;
    }
    std::uint64_t before = 0, given = 0;
    for (Stretch* stretch : equal) {
      before += stretch->rest();
      const auto to = static_cast<std::uint64_t>(
          static_cast<double>(in_hbm) * static_cast<double>(before) / static_cast<double>(pages));
      stretch->in_hbm = std::min(to - given, stretch->rest());
      given += stretch->in_hbm;
    }
  }

  /// Cuts each tensor where its traffic changes.
  std::vector<Stretch*> stretches() {
    std::vector<stream::TensorId> ids;
    for (const auto& [id, tensor] : future_->tensors())
      ids.push_back(id);
    std::sort(ids.begin(), ids.end());
    std::vector<Stretch*> all;
    for (const stream::TensorId id : ids) {
      const Future::Tensor& tensor = *future_->find(id);
      auto& list = plans_[id];
      list = cut(tensor);
      for (Stretch& stretch : list) {
        stretch.born = tensor.initial ? 0 : tensor.born;
        stretch.dead = std::min(tensor.dead, future_->steps());
        if (stretch.dead <= stretch.born) stretch.dead = stretch.born + 1;
        if (stretch.dead <= future_->steps()) all.push_back(&stretch);
      }
    }
    return all;
  }

  static std::vector<Stretch> cut(const Future::Tensor& tensor) {
    struct Change {
      double bytes = 0, uses = 0; // by page; by use of any page
    };
    std::map<std::uint64_t, Change> changes;
    changes[0];
    changes[tensor.pages];
    for (const Future::Use& use : tensor.uses) {
      if (use.pages == 0) continue;
      const double bytes = static_cast<double>(use.bytes().count) / use.pages;
      Change& begin = changes[use.first];
      begin.bytes += bytes;
      begin.uses += 1;
      Change& end = changes[std::min<std::uint64_t>(use.past(), tensor.pages)];
      end.bytes -= bytes;
      end.uses -= 1;
    }
    std::vector<Stretch> list;
    Change now;
    for (auto it = changes.begin(); it != changes.end(); ++it) {
      now.bytes += it->second.bytes;
      now.uses += it->second.uses;
      const auto next = std::next(it);
      if (next == changes.end()) break;
      Stretch stretch;
      stretch.first = static_cast<std::uint32_t>(it->first);
      stretch.pages = static_cast<std::uint32_t>(next->first - it->first);
      stretch.bytes = std::max(now.bytes, 0.0) * stretch.pages;
      stretch.uses = std::max(now.uses, 0.0);
      list.push_back(stretch);
    }
    return list;
  }

  Config config_;
  std::shared_ptr<const Future> future_;
  bool planned_ = false;
  double pool_share_ = 1; ///< of what lies outside
  std::map<stream::TensorId, std::vector<Stretch>> plans_;
};

} // namespace

Kind best_static() {
  return {&component().info(),
          "Yardstick: each page where it serves the whole trace best, HBM and links side by side; "
          "nothing moves.",
          [](const JsonValue& object, KeyContext& context) -> std::unique_ptr<Policy> {
            return std::make_unique<BestStatic>(component().read(object, context, kNameKey));
          },
          true, false};
}

} // namespace umf::policy
