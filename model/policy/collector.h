#pragma once

#include "model/memory/range_set.h"
#include "model/policy/policy.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace umf::policy {

/// S8: which pages of KV caches leave the pool for the memory below it, and which of them have no
/// valid mapping there. Decides that alone: when pages move is the policy's.
///
/// A run begins with a scan of the page table's entries of the pool. When that is over, the pages
/// that nobody has touched for a window are listed, neighbours within a block together, and leave,
/// those touched longest ago first, as far as they are still untouched then. A page that was
/// touched while it left keeps its mapping.
class Collector {
public:
  struct Keys {
    Femtoseconds window{};   ///< pages touched since stay
    Femtoseconds pause{};    ///< from the begin of a scan to the next, at least
    std::uint64_t block = 1; ///< pages that leave at once, at most, and within an aligned block
    PageNumber origin = 0;   ///< no page has a lower number
  };
  explicit Collector(Keys keys) : keys_(keys), origin_(keys.origin) {}

  /// Pages of a KV cache have a place. `leaves`: they may be collected, as far as in a pool.
  void placed(memory::Range pages, std::optional<TierIndex> pool, bool leaves, Femtoseconds now);
  void removed(memory::Range pages);
  /// Pages without a mapping are not touched but fault.
  void touched(memory::Range pages, Femtoseconds now);
  void faulted(memory::Range pages, Femtoseconds now);
  /// Fills are ordered for the pages of a fault.
  void coming(memory::Range pages);
  /// They stay where they are and are mapped there; returns how many of them had been ordered.
  std::uint64_t mapped_in_place(memory::Range pages);
  /// A move is over; `pool` if they are in one now. Returns how many pages of faults it served.
  /// Pages that were to leave and did not are the next to.
  std::uint64_t settled(memory::Range pages, bool moved, std::optional<TierIndex> pool,
                        Femtoseconds now);

  /// Without a valid mapping.
  bool unmapped(PageNumber page) const { return is(page, State::unmapped); }
  std::uint64_t alike(PageNumber first, std::uint64_t count) const;

  bool may_scan(Femtoseconds now) const;
  /// A scan begins; how many entries it reads.
  std::uint64_t scan(Femtoseconds now);
  void scanned(std::uint64_t entries, Femtoseconds now);
  struct Victims {
    memory::Range pages;
    TierIndex pool = 0;
  };
  /// Who leaves next, if a run is on and anybody is left.
  std::optional<Victims> next();
  void leave(memory::Range pages);
  /// The run is over.
  void stop() { victims_.clear(); }

  std::uint64_t leaving() const { return leaving_; } ///< pages
  std::uint64_t moves() const { return moves_; }     ///< that leave() began and are not over
  const Collections& counters() const { return counters_; }

private:
  enum class State : std::uint8_t {
    none,     ///< no page
    mapped,   ///< anywhere, and where it is it is accessed
    leaving,  ///< the pool
    touched,  ///< while it left
    unmapped, ///< below the pool
    faulted,  ///< likewise, and wanted
    coming    ///< a fill is ordered for it
  };
  struct Page {
    Femtoseconds touched{}; ///< last; since it faulted: when it did
    TierIndex pool = 0;
    State state = State::none;
    bool leaves = false, in_pool = false;
    bool head = false; ///< the first of those that leave together
  };
  struct Listed {
    Femtoseconds touched{}; ///< the last of them that was
    memory::Range pages;
  };

  bool is(PageNumber page, State state) const {
    const std::uint64_t at = page - origin_;
    return at < pages_.size() && pages_[at].state == state;
  }
  bool qualifies(const Page& page) const {
    return page.state == State::mapped && page.in_pool && page.leaves &&
           page.touched + keys_.window <= until_;
  }
  /// Calls act(page) along those that exist.
  template <class Act>
  void each(memory::Range pages, Act act) {
    const std::uint64_t all = pages_.size();
    if (pages.begin - origin_ >= all) return; // of another region
    for (std::uint64_t at = pages.begin - origin_; at < std::min(pages.end - origin_, all); ++at)
      if (pages_[at].state != State::none) act(pages_[at]);
  }
  void put(Page& page, std::optional<TierIndex> pool);
  void wanted(Page& page, State state);
  /// Whether the page was leaving, which is over now.
  bool has_left(Page& page);

  Keys keys_;
  PageNumber origin_;
  std::vector<Page> pages_; ///< from the origin on
  std::uint64_t in_pool_ = 0, leaving_ = 0, moves_ = 0;
  bool scanning_ = false;
  std::optional<Femtoseconds> began_; ///< the last scan
  Femtoseconds until_{};              ///< end of the last scan: the window reaches back from there
  std::vector<Listed> victims_;       ///< the next to leave last
  Collections counters_;
};

} // namespace umf::policy
