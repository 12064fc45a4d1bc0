#pragma once

#include "model/memory/range_set.h"
#include "model/policy/block_order.h"
#include "model/policy/collector.h"
#include "model/policy/policy.h"
#include "model/policy/prefetcher.h"
#include "model/policy/reuse_table.h"
#include "model/policy/tuner.h"
#include "model/policy/umf_config.h"

#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace umf::policy {

/// Long-lived data that HBM cannot hold whole is best cut into a steady resident part and a part
/// read in the pool: a cyclic scan longer than HBM defeats least-recently-used altogether. So the
/// victim is the block whose next use is predicted farthest off, and nothing replaces a block but
/// one that is used much more often.
class Umf : public Policy {
public:
  explicit Umf(UmfConfig config);

  void place(const Need& need, const Ground& ground, std::vector<Grant>& grants) override;
  void touched(const Touch& touch, const Ground& ground, std::vector<Order>& orders) override;

  /// Sending a block of long-lived data out takes the link as much as writing the same bytes of
  /// short-lived data across it, and those will be read again soon.
  void make_room(TierIndex tier, std::uint64_t pages, const Ground& ground,
                 std::vector<Order>& orders) override;
  void unmet(const memory::PageRun& run, const Ground& ground) override;
  std::optional<Femtoseconds> sensor_window() const override;
  void sensed(const Sensors& sensors, const Ground& ground, std::vector<Order>& orders) override;
  void settled(const Settled& move, const Ground& ground, std::vector<Order>& orders) override;
  void released(const memory::AddressSpace::Entry& tensor, const memory::PageRun& run,
                const Ground& ground) override;
  void died(const memory::AddressSpace::Entry& tensor) override;
  void opened(TierIndex, const Ground&) override { wait_ = 1; } // reviews have something to do

  // S8: umf_gc.cpp.
  bool unmaps() const override { return config_.gc != Collects::off; }
  std::uint64_t alike(const memory::PageRun& run) const override;
  bool faults(const Touch& touch, const Ground& ground) override;
  void resolve(const Touch& touch, const Ground& ground, std::vector<Order>& orders) override;
  void scanned(std::uint64_t entries, Femtoseconds now, const Ground& ground,
               std::vector<Order>& orders) override;
  const Collections* collections() const override;
  const Tuning* tuning() const override { return tuner_ ? &tuner_->state() : nullptr; }

private:
  double priority_of(stream::Role role) const;
  bool is_short(double priority) const { return priority >= config_.short_lived_priority; }

  /// Frames of HBM that are, or will again be, wanted by what lives shortly.
  std::uint64_t wanted_shortly(const Ground& ground) const;
  /// Those, or the watermark if that is more.
  std::uint64_t kept_free(const Ground& ground) const;

  /// Free frames of HBM up to which nothing long-lived comes that may as well stay away.
  std::uint64_t margin(const Ground& ground) const;

  /// Pages of a stripe of so many that lie outside.
  std::uint64_t stripe(std::uint64_t pages, const Ground& ground) const;
  /// Gives the last so many of the pages granted, which lie outside, to all memories there.
  void spread(std::uint64_t pages, const Ground& ground, std::vector<Grant>& grants);
  static void take_last(std::uint64_t pages, std::vector<Grant>& grants);
  bool follows(stream::Role role) const;
  /// Of long-lived tensors.
  bool is_kv(stream::Role role) const;

  /// The page of a KV cache that a write up to `end` has left unfinished (S5), if homes are kept
  /// for such.
  std::optional<PageNumber> open_page(const memory::AddressSpace::Entry& tensor, std::uint64_t end,
                                      const Ground& ground) const;
  /// Exchanges the last page granted, which is open, for a frame of HBM.
  void grant_open(const Need& need, const Ground& ground, std::vector<Grant>& grants);
  /// What is written to its end is open no longer; what is open comes home.
  void append(const Touch& touch, const Ground& ground, std::vector<Order>& orders);
  void open(PageNumber page, TierIndex tier, const Ground& ground);
  void close(memory::Range pages, const Ground& ground);
  /// Open pages of a block in a tier.
  std::vector<PageNumber> open_in(std::uint64_t number, TierIndex tier, const Ground& ground) const;

  /// Where the window of the last rows begins, if rows up to `end` are written (S3).
  std::uint64_t window_of(const memory::AddressSpace::Entry& tensor, std::uint64_t end) const;
  /// Pages of SRAM that what lives shortly has never had at once.
  std::uint64_t window_room(const Ground& ground) const;
  /// Exchanges the last pages granted, as far as they are in the window, for frames of SRAM.
  void grant_window(const Need& need, const Ground& ground, std::vector<Grant>& grants);
  /// Orders out of SRAM what has left the window, or all of it where there is no room.
  void slide(const Touch& touch, const Ground& ground, std::vector<Order>& orders);
  void leave_window(memory::Range pages, const Ground& ground, std::vector<Order>& orders);

  /// Behind its last byte.
  static std::uint64_t end_of(const memory::AddressSpace::Entry& tensor);
  static bool is_away(TierIndex tier, const Ground& ground);

  /// Pages of a block that lie outside HBM and SRAM.
  std::uint64_t away(std::uint64_t number, const Ground& ground);

  /// The order of leaving is brought up to date when it is asked for: where all fits, never.
  void relist(PageNumber first, std::uint64_t pages, const Ground& ground);
  void relist(std::uint64_t number);
  const LeavingOrder& leaving_order(const Ground& ground);
  void bring_up_to_date(std::uint64_t number, const Ground& ground);
  void count_passes(const Touch& touch, bool outside, const Ground& ground,
                    std::vector<Order>& orders);
  bool promotes(Promotion what) const;

  /// The running median of a role's intervals: blocks of a scan have all the same one; what is
  /// drawn anew each time, but seldom changes, is mostly wanted again at once.
  void learn(stream::Role role, double interval);

  /// Frames that orders not yet taken will take of a tier.
  static std::uint64_t promised(TierIndex tier, const std::vector<Order>& orders);
  /// Frames of HBM that long-lived pages may take at once.
  std::uint64_t spare(TierIndex hbm, const Ground& ground, const std::vector<Order>& orders) const;

  /// Pages outside that an access reads whole come in with it: into frames to spare, or where the
  /// idlest blocks make way.
  void fetch(const Touch& touch, const Ground& ground, std::vector<Order>& orders);

  /// Sends out the idlest blocks, of so many pages, for one that is expected back much sooner.
  bool make_way(std::uint64_t pages, const ReuseBlock& wanted, double usual, TierIndex hbm,
                const Ground& ground, std::vector<Order>& orders);

  /// Orders a block's pages outside to HBM.
  void bring(std::uint64_t number, Order::Why why, const Ground& ground, std::vector<Order>& orders,
             bool packed = false);
  bool packs(Pack what, stream::Role role) const;

  /// S4, as far as moves under way, frames and HBM's bandwidth allow.
  void prefetch(const Ground& ground, std::vector<Order>& orders);
  void unstage(ReuseBlock& block) { staged_ -= std::exchange(block.staged, 0); }

  /// Blocks that are accessed while they come have been fetched twice. The link has no time for
  /// both, so the next ones are let go, twice as many each time.
  void too_late(const Touch& touch, const Ground& ground);

  /// What came before it was asked for has been used: it leaves, unless HBM has room to spare.
  void give_back(std::uint64_t number, const Ground& ground, std::vector<Order>& orders);

  /// How many blocks are the promotion_block; 0: no promotion by recency.
  std::size_t recent_blocks() const;
  void note_recent(const Touch& touch, const Ground& ground);

  /// S8: an access; a scan begins where one is due.
  void watch(const Touch& touch, const Ground& ground, std::vector<Order>& orders);
  /// Those that leave, as moves under way allow.
  static std::uint64_t unused_in_pool(const Ground& ground);
  void collect(const Ground& ground, std::vector<Order>& orders);
  void watch(const Need& need, PageNumber first, const Grant& given, const Ground& ground);
  /// Where a page without a mapping comes to, if anywhere: HBM beyond what lives shortly wants,
  /// where it is read at once and crosses the links once; else the pool.
  std::optional<TierIndex> home_for(std::uint64_t pages, const Ground& ground,
                                    const std::vector<Order>& orders) const;

  /// S6: the blocks used last come in, for the idlest where frames lack.
  void promote_recent(const Ground& ground, std::vector<Order>& orders);
  /// S9: a window of the sensors is over.
  void tune(const Ground& ground, std::vector<Order>& orders);
  void review(Femtoseconds now, const Ground& ground, std::vector<Order>& orders);

  /// So many pages of a block are on their way no longer; returns how many of them had been
  /// ordered.
  std::uint64_t forget_order(ReuseBlock& block, std::uint64_t pages);

  /// Pages that come with an access keep nobody else waiting.
  bool busy(const Ground& ground) const;
  void demote(std::uint64_t pages, TierIndex hbm, Femtoseconds now, const Ground& ground,
              std::vector<Order>& orders);

  /// The first memory outside that has frames for so many pages.
  std::optional<TierIndex> outside_for(std::uint64_t pages, const Ground& ground,
                                       const std::vector<Order>& orders) const;
  /// Orders a block's pages in HBM out: to where a copy of them is, else to the first memory behind
  /// it that has the frames; returns how many pages.
  std::uint64_t move_out(std::uint64_t number, TierIndex hbm, Order::Why why, const Ground& ground,
                         std::vector<Order>& orders);
  std::uint64_t send_back(std::uint64_t number, Order::Why why, const Ground& ground,
                          std::vector<Order>& orders);
  void forget_copies(memory::Range pages);
  memory::Range pages_of(std::uint64_t number, const Ground& ground) const;

  /// Those of the pages that are in `from`, `count` of them.
  void order(std::uint64_t number, memory::Range pages, TierIndex from, TierIndex to,
             std::uint64_t count, Order::Why why, const Ground& ground, std::vector<Order>& orders);

  /// Candidates into free frames, the most used first; where there are none the best of them
  /// may send one block out, and comes in when that is gone.
  void promote(TierIndex hbm, Femtoseconds now, const Ground& ground, std::vector<Order>& orders);

  /// Sends out the idlest block if it is used more seldom by enough. Where the candidate is in its
  /// cycle does not matter: of two blocks read in turn one is always wanted sooner, and exchanging
  /// them saves no read.
  void swap(const ReuseBlock& candidate, TierIndex hbm, Femtoseconds now, const Ground& ground,
            std::vector<Order>& orders);

  UmfConfig config_;
  ReuseTable table_;
  LeavingOrder leaving_order_; ///< long-lived blocks with pages in HBM
  Prefetcher prefetcher_;
  std::optional<Collector> collector_; ///< from the first placement on, if there is to be one
  Femtoseconds collect_from_{0};       ///< the machine was too busy before
  std::optional<Tuner> tuner_;
  std::unordered_set<stream::TensorId> spilled_; ///< followed; had pages outside when placed
  std::map<TierIndex, std::uint64_t> laden_;     ///< pages that were ever spread to it
  std::map<TierIndex, memory::RangeSet>
      copies_;              ///< pages in HBM that left one there, as far as known
  memory::RangeSet window_; ///< pages of it in SRAM that are not ordered out
  std::uint64_t window_pages_ = 0;
  std::unordered_map<stream::TensorId, std::uint64_t> written_; ///< up to which address, of those
  std::map<PageNumber, TierIndex> open_;   ///< pages being appended to, and where they are
  std::map<stream::Role, double> typical_; ///< interval, fs
  RecentOrder recent_;                     ///< blocks used outside HBM
  Sensors sensors_;
  ComingOrder candidates_;           ///< blocks with pages outside that have recurred
  std::vector<std::uint64_t> stale_; ///< blocks whose place in the order of leaving is an old one
  std::vector<std::uint64_t> passed_;
  std::uint64_t short_pages_ = 0, short_peak_ = 0; ///< live outside SRAM; the most there were
  std::uint64_t short_in_hbm_ = 0;
  std::uint64_t short_live_ = 0, short_most_ = 0;             ///< anywhere
  std::uint64_t outstanding_ = 0, carried_ = 0, leaving_ = 0; ///< pages ordered: all; with an
                                                              ///< access; out of HBM
  Femtoseconds now_{0}, reviewed_{0};
  std::uint32_t wait_ = 1;               ///< reviews' time to the next, in `review`
  std::uint64_t staged_ = 0;             ///< pages of blocks
  std::uint32_t backoff_ = 0, skip_ = 0; ///< blocks not prefetched after one that came too late
};

} // namespace umf::policy
