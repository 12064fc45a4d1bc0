#pragma once

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
/// Shared by the schedulers of all GPUs that can reach the tier.
class FrameAllocator {
public:
  explicit FrameAllocator(std::uint64_t frames);

  /// `count` frames in as few runs as first fit gives; empty when fewer are free.
  std::vector<FrameRun> take(std::uint64_t count);
  /// Frames of several takes may come back as one run and the other way round. Throws
  /// InvariantError for frames that are free already or do not exist.
  void give_back(FrameRun run);

  std::uint64_t frames() const { return frames_; }
  std::uint64_t free() const { return free_; }
  std::uint64_t used() const { return frames_ - free_; }
  std::uint64_t peak_used() const { return peak_; }

private:
  std::uint64_t frames_, free_, peak_ = 0;
  std::map<std::uint64_t, std::uint64_t> holes_; ///< first frame → count
};

} // namespace umf::memory
