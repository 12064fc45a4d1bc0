#pragma once

#include "model/policy/policy.h"

#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <vector>

namespace umf::policy {

/// Where the pages of a stretch of unified addresses are and when it will be wanted again.
///
/// Reuse is counted in passes: as many bytes as the block holds, in any order and in however many
/// accesses. Its distance is predicted from the last interval between two passes, which a scan
/// does not fool: all blocks of a cyclic scan have the same interval, and the one just read is
/// the one wanted last. (Inter-reference recency instead of recency: Jiang and Zhang, LIRS,
/// SIGMETRICS 2002.)
struct ReuseBlock {
  // What every access looks at lies together.
  std::uint64_t bytes = 0;                   ///< of the pass under way
  std::uint64_t held = 0;                    ///< bytes of tensors
  Femtoseconds last{-1}, interval{-1};       ///< -1: unknown
  std::uint64_t recent = 0;                  ///< passes, each within the window of the one before
  std::uint64_t ordered = 0;                 ///< pages in moves that have not settled
  double priority = 0;                       ///< of the tensor placed last
  stream::Role role = stream::Role::unknown; ///< likewise
  std::map<TierIndex, std::uint64_t> pages;  ///< by tier
  std::uint64_t carried = 0;                 ///< of them: with an access
  std::uint64_t staged = 0; ///< pages that came, or come, before they are asked for
  bool overtaken = false;   ///< was accessed while it came
  bool stale = false;       ///< its place in an order of blocks is to be found anew
  Femtoseconds born{};      ///< when it was placed

  static constexpr Femtoseconds kNever{std::numeric_limits<std::int64_t>::max()};

  std::uint64_t in(TierIndex tier) const;
  std::uint64_t all() const;
  /// How long from `now` until it is wanted again: at once before its first pass (its turn has
  /// not come), never after one (it has not recurred), then by its interval; where it is
  /// overdue, as long as it was not used.
  Femtoseconds distance(Femtoseconds now) const;
  /// How long from use to use: its interval, or as long as it has not been used if that is more;
  /// none before its first pass. Unlike the distance it is the same all along a cycle, so it says
  /// what staying in a memory is worth.
  Femtoseconds gap(Femtoseconds now) const;
  /// When it was used last; placed, before its first pass.
  Femtoseconds used() const { return last.count < 0 ? born : last; }
};

/// The blocks that hold pages, found by their number: addresses of a region are given from its
/// origin on, so an array a region holds them; and one what lies below all regions. What find()
/// returned is good until the block is empty.
class ReuseTable {
public:
  explicit ReuseTable(Bytes block) : block_(block) {}

  ReuseBlock* find(std::uint64_t number) {
    const std::size_t part = part_of(number);
    const std::uint64_t at = number - origins_[part];
    return at < places_[part].size() ? places_[part][at] : nullptr;
  }
  /// Calls visit(number, block) for every block, in order of address.
  template <class Visit>
  void each(Visit visit) const {
    for (std::size_t part = 0; part < kParts; ++part)
      for (std::size_t at = 0; at < places_[part].size(); ++at)
        if (const ReuseBlock* block = places_[part][at]) visit(origins_[part] + at, *block);
  }
  std::uint64_t block_pages(Bytes page) const;

  /// `end`: unified address behind what the pages hold; the rest of the last one is never asked
  /// for.
  struct Tenant {
    double priority = 1;
    stream::Role role = stream::Role::unknown;
    std::uint64_t end = std::numeric_limits<std::uint64_t>::max();
  };
  void add(PageNumber first, std::uint64_t pages, TierIndex tier, const Tenant& tenant, Bytes page,
           Femtoseconds now = {});
  void move(const memory::PageRun& from, TierIndex to, Bytes page);
  void remove(const memory::PageRun& run, Bytes page,
              std::uint64_t end = std::numeric_limits<std::uint64_t>::max());

  /// Accounts an access; lists the blocks that ended a pass.
  void touch(const Touch& touch, Femtoseconds window, Bytes page,
             std::vector<std::uint64_t>& passed);

  /// Calls act(block number, pages of it) along a run of pages.
  template <class Act>
  void each_block(PageNumber first, std::uint64_t pages, Bytes page, Act act) const {
    const std::uint64_t size = block_pages(page);
    for (PageNumber at = first; at < first + pages;) {
      const PageNumber end = std::min(first + pages, (at / size + 1) * size);
      act(at / size, end - at);
      at = end;
    }
  }

private:
  static constexpr std::size_t kParts = memory::kRegions + 1;

  std::size_t part_of(std::uint64_t number) const {
    std::size_t part = kParts - 1;
    while (number < origins_[part])
      --part;
    return part;
  }
  ReuseBlock& at(std::uint64_t number);
  ReuseBlock& make(std::uint64_t number, Bytes page, Femtoseconds now);

  Bytes block_;
  std::array<std::uint64_t, kParts> origins_{}; ///< number of the first block; 0: not known yet
  std::array<std::vector<ReuseBlock*>, kParts> places_;
  std::deque<ReuseBlock> blocks_;
  std::vector<ReuseBlock*> unused_; ///< of them
};

} // namespace umf::policy
