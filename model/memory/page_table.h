#pragma once

#include "model/memory/frame_allocator.h"

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

namespace umf::memory {

using TierIndex = std::uint16_t;
using PageNumber = std::uint64_t; ///< unified address / page size

/// S2. A deferred page has no frame anywhere; a blank one has a frame that nothing was written to
/// yet, so moving it copies nothing; a moving page is still read at its old place; a suspended one
/// has no valid mapping: it may not be touched until its command completes; of a syncing one newer
/// bytes lie in a staging buffer, on their way to its frame.
enum class PageState : std::uint8_t { deferred, blank, resident, moving, suspended, syncing };

std::string_view name_of(PageState state);

/// A second place with the same contents, on free frames: there as long as nobody takes them.
struct Copy {
  CopyId id = kNoCopy; ///< of the tier's FrameAllocator
  TierIndex tier = 0;
  std::uint64_t frame = 0;

  explicit operator bool() const { return id != kNoCopy; }
  /// So many pages further on.
  Copy from(std::uint64_t pages) const { return id ? Copy{id, tier, frame + pages} : Copy{}; }
  bool operator==(const Copy&) const = default;
};

/// Consecutive pages in one state, on consecutive frames of one tier; or packed, one behind the
/// other.
struct PageRun {
  PageNumber first = 0;
  std::uint64_t count = 0;
  TierIndex tier = 0;
  PageState state = PageState::deferred;
  std::uint64_t frame = 0;  ///< of the first page, or the address where it begins if it is packed;
                            ///< meaningless while deferred
  Copy copy = {};           ///< likewise
  std::uint32_t packed = 0; ///< bytes of a packed page; 0: they are not

  /// Leaves out the leading pages.
  void skip(std::uint64_t pages) {
    first += pages;
    count -= pages;
    frame += pages * stride(packed);
    copy = copy.from(pages);
  }
  /// From one page's `frame` to the next one's.
  static std::uint64_t stride(std::uint32_t packed) { return packed > 0 ? packed : 1; }
};

/// Where every materialised page lives. Runs, not pages: contiguous placement stays one
/// entry however long it is. Each page has exactly one owner.
class PageTable {
public:
  /// Appends the runs covering [first, first + count) in order, gaps as deferred runs.
  void lookup(PageNumber first, std::uint64_t count, std::vector<PageRun>& runs) const;

  /// Materialises deferred pages: resident from now on.
  void map(PageNumber first, std::uint64_t count, TierIndex tier, std::uint64_t frame,
           Copy copy = {}, std::uint32_t packed = 0);
  /// All of the pages must be mapped.
  void set_state(PageNumber first, std::uint64_t count, PageState state);
  void set_copy(PageNumber first, std::uint64_t count, Copy copy);
  /// Forgets the pages that are mapped and returns the runs they had.
  std::vector<PageRun> unmap(PageNumber first, std::uint64_t count);

  /// Pages that are in the tier, whatever their state; those of them that are packed.
  std::uint64_t resident(TierIndex tier) const;
  std::uint64_t packed(TierIndex tier) const;
  std::uint64_t peak(TierIndex tier) const;
  std::size_t runs() const { return runs_.size(); }
  /// Visits every mapped run, lowest page first.
  template <class Visit>
  void each(Visit visit) const {
    for (const auto& [first, run] : runs_)
      visit(PageRun{first, run.count, run.tier, run.state, run.frame, run.copy, run.packed});
  }

private:
  struct Run {
    std::uint64_t count = 0, frame = 0;
    TierIndex tier = 0;
    PageState state = PageState::resident;
    Copy copy = {};
    std::uint32_t packed = 0;
  };
  using Runs = std::map<PageNumber, Run>;

  template <class Change>
  void change(PageNumber first, std::uint64_t pages, Change change);
  void cut(PageNumber at);
  void merge_with_next(Runs::iterator it);
  void count(TierIndex tier, std::int64_t pages, bool packed);

  Runs runs_;
  std::vector<std::uint64_t> resident_, peak_, packed_;
};

} // namespace umf::memory
