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

/// Page frames of one tier: first fit by address, neighbours merged on release.
/// Shared by the schedulers of all GPUs that can reach the tier. Counts what they hold by region
/// of the unified address space, a frame that a move has taken for its pages included.
class FrameAllocator {
public:
  explicit FrameAllocator(std::uint64_t frames);

  /// `count` frames in as few runs as first fit gives; empty when fewer are free.
  std::vector<FrameRun> take(std::uint64_t count, Region region = Region::activation);
  /// Frames of several takes may come back as one run and the other way round. Throws
  /// InvariantError for frames that are free already or do not exist, and for more of a region
  /// than was taken for it.
  void give_back(FrameRun run, Region region = Region::activation);

  std::uint64_t frames() const { return frames_; }
  std::uint64_t free() const { return free_; }
  std::uint64_t used() const { return frames_ - free_; }
  std::uint64_t peak_used() const { return peak_; }
  std::uint64_t used(Region region) const { return of(region).used; }
  std::uint64_t peak_used(Region region) const { return of(region).peak; }

private:
  struct Held {
    std::uint64_t used = 0, peak = 0;
  };
  const Held& of(Region region) const { return by_region_[static_cast<std::size_t>(region)]; }

  std::uint64_t frames_, free_, peak_ = 0;
  std::array<Held, kRegions> by_region_{};
  std::map<std::uint64_t, std::uint64_t> holes_; ///< first frame → count
};

} // namespace umf::memory
