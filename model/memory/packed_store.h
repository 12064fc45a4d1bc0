#pragma once

#include "model/base/units.h"
#include "model/memory/frame_allocator.h"
#include "model/memory/region.h"

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <vector>

namespace umf::memory {

/// How the values of a page are packed: `bits` each, and `metadata` (scale and zero) for every
/// `group` of them.
struct Packing {
  std::uint32_t bits = 4;
  std::uint32_t group = 32;
  Bytes metadata{4};

  /// Of a page whose values have so many bits; the page itself where nothing is gained.
  Bytes packed(Bytes page, std::uint32_t value_bits) const;
};

/// Packed pages in a row.
struct SlotRun {
  std::uint64_t address = 0; ///< of the first byte, within the tier
  std::uint64_t count = 0;
};

/// Packed pages of one tier, on frames of its allocator: some frames in a row are a slab, which
/// holds pages of one size and one region as long as it holds any. What a slab has left over is
/// lost, and so are its free slots to everybody else.
class PackedStore {
public:
  PackedStore(FrameAllocator& frames, Bytes page) : frames_(&frames), page_(page.count) {}

  /// As many of `count` pages as there is room for, in as few runs as slabs give: slabs that have
  /// slots first, lowest address first. A slab is of 32 pages where frames allow.
  std::vector<SlotRun> take(std::uint64_t count, Bytes size, Region region);
  /// Throws InvariantError for what is not taken.
  void give_back(SlotRun run, Bytes size);

  std::uint64_t pages() const { return pages_; } ///< packed ones that it holds
  std::uint64_t bytes() const { return bytes_; } ///< of them
  std::uint64_t frames_used(Region region) const { return held_[static_cast<std::size_t>(region)]; }
  std::uint64_t frames_used() const;

private:
  static constexpr std::uint64_t kSlots = 32;

  struct Slab {
    std::uint64_t frames = 0, size = 0;
    Region region = Region::kv;
    std::vector<bool> taken;
    std::uint64_t used = 0;
  };
  using Kind = std::tuple<std::uint64_t, Region>; ///< size of a page
  using Slabs = std::map<std::uint64_t, Slab>;    ///< by first frame

  void fill(Slabs::iterator slab, std::uint64_t& wanted, std::vector<SlotRun>& runs);
  bool add_slabs(std::uint64_t wanted, std::uint64_t size, Region region);

  FrameAllocator* frames_;
  std::uint64_t page_;
  Slabs slabs_;
  std::map<Kind, std::set<std::uint64_t>> open_; ///< slabs with free slots
  std::array<std::uint64_t, kRegions> held_{};
  std::uint64_t pages_ = 0, bytes_ = 0;
};

} // namespace umf::memory
