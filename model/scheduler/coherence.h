#pragma once

#include "model/base/units.h"
#include "model/memory/frame_allocator.h"
#include "model/memory/page_table.h"

#include <cstdint>
#include <optional>
#include <vector>

/// S5: writes to pages of the pool, which readers see as read-only.
namespace umf::scheduler {

enum class PoolWrites : std::uint8_t {
  direct, ///< as any other memory's; who reads meanwhile may see half of them
  staged  ///< land in HBM and are copied behind the reads
};

struct Coherence {
  PoolWrites pool_writes = PoolWrites::direct;
  bool forward_from_staging = false; ///< readers of what is staged whole do not wait
  Bytes staging = 16_MiB;            ///< of HBM, at most an eighth of it
};

/// The buffer in HBM and what lies in it: pages that stay mapped in the pool and whose new bytes
/// are on their way there.
///
/// One write: readers of the pages wait (or read the buffer), it lands, its bytes are copied to
/// the pool once those have ended who read there, the page is dirty, readers go on.
class Staging {
public:
  /// What one command brings home.
  struct Sync {
    std::uint64_t command = 0;
    memory::PageRun home; ///< where the pages are mapped
    std::uint64_t slot = 0;
    std::uint64_t begin = 0, end = 0; ///< unified addresses that were written
    std::uint64_t last = 0;           ///< behind the last byte of the tensor
    bool taken = false;               ///< by the machine: no more may land
    bool landed = false;              ///< all of it is there
    bool closed = false;              ///< all copied: nobody may begin to read here

    bool holds(memory::PageNumber page) const {
      return page >= home.first && page < home.first + home.count;
    }
  };

  Staging(const Coherence& settings, Bytes page, memory::TierIndex hbm, memory::FrameRun frames);

  /// Takes slots for the leading pages of the run, as many as lie in a row; 0: the buffer is full.
  std::uint64_t take(const memory::PageRun& run, std::uint64_t begin, std::uint64_t end,
                     std::uint64_t last, std::uint64_t command);
  Sync* find(memory::PageNumber page);
  Sync& of(std::uint64_t command);
  bool forwards() const { return forward_; }
  /// Lets another write land beside what has, if nobody has begun to copy that.
  bool join(Sync& sync, std::uint64_t begin, std::uint64_t end);
  void release(std::uint64_t command);

  /// The leading pages of a run that is being synced, as a reader finds them: in the buffer, where
  /// they have landed whole and may be read there, else where they are mapped, not to be read now.
  memory::PageRun seen(memory::PageRun run);
  /// Where bytes of a sync's pages lie.
  memory::PageRun slots(const Sync& sync, memory::PageRun run) const;

  memory::TierIndex tier() const { return hbm_; }
  std::uint64_t pages() const { return slots_.frames(); }

private:
  memory::PageNumber whole_from(const Sync& sync) const;
  memory::PageNumber whole_to(const Sync& sync) const;

  bool forward_;
  std::uint64_t page_;
  memory::TierIndex hbm_;
  std::uint64_t first_frame_;
  memory::FrameAllocator slots_;
  std::vector<Sync> syncs_; ///< oldest first
};

} // namespace umf::scheduler
