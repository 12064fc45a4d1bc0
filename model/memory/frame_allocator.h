#pragma once

#include "model/memory/region.h"

#include <array>
#include <cstdint>
#include <map>
#include <vector>

namespace umf::memory {

/// A run of consecutive page frames of one tier.
struct FrameRun {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

/// Names what free frames still hold; 0 is nothing.
using CopyId = std::uint64_t;
inline constexpr CopyId kNoCopy = 0;

/// Page frames of one tier: first fit by address, neighbours merged on release.
/// Shared by the schedulers of all GPUs that can reach the tier. Counts what they hold by region
/// of the unified address space, a frame that a move has taken for its pages included.
///
/// A copy costs no room: its frames are free, but are used again only after all others, lowest
/// address first, and until then whoever knows its name can have them back with what they hold.
class FrameAllocator {
public:
  explicit FrameAllocator(std::uint64_t frames);

  /// `count` frames in as few runs as first fit gives; empty when fewer are free.
  std::vector<FrameRun> take(std::uint64_t count, Region region = Region::activation);
  /// Frames of several takes may come back as one run and the other way round. Throws
  /// InvariantError for frames that are free already or do not exist, and for more of a region
  /// than was taken for it.
  void give_back(FrameRun run, Region region = Region::activation);

  /// As give_back; the frames keep what they hold for as long as nobody takes them.
  CopyId keep(FrameRun run, Region region = Region::activation);
  /// Takes frames of a copy, all of which must still be there; else takes nothing.
  bool restore(FrameRun run, CopyId copy, Region region = Region::activation);
  /// What of the run still is that copy is no copy any more.
  void forget(FrameRun run, CopyId copy);

  std::uint64_t frames() const { return frames_; }
  std::uint64_t free() const { return free_; }
  std::uint64_t used() const { return frames_ - free_; }
  /// Free frames that hold copies.
  std::uint64_t kept() const { return free_ - loose_; }
  std::uint64_t peak_used() const { return peak_; }
  std::uint64_t used(Region region) const { return of(region).used; }
  std::uint64_t peak_used(Region region) const { return of(region).peak; }

private:
  struct Held {
    std::uint64_t used = 0, peak = 0;
  };
  const Held& of(Region region) const { return by_region_[static_cast<std::size_t>(region)]; }

  struct Kept {
    std::uint64_t count = 0;
    CopyId copy = kNoCopy;
  };
  void count_taken(std::uint64_t count, Region region);
  void count_freed(FrameRun run, Region region);
  void add_hole(FrameRun run);
  void evict_copies(std::uint64_t count);

  std::uint64_t frames_, free_, loose_, peak_ = 0; ///< loose: in holes
  std::array<Held, kRegions> by_region_{};
  std::map<std::uint64_t, std::uint64_t> holes_; ///< first frame → count
  std::map<std::uint64_t, Kept> kept_;           ///< first frame → copy
  CopyId next_copy_ = 1;
};

} // namespace umf::memory
