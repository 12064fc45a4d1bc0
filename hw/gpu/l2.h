#pragma once

#include "hw/gpu/gpu_config.h"
#include "hw/gpu/operation.h"
#include "model/memory/extent_cache.h"

#include <cstdint>
#include <vector>

namespace umf::hw {

/// A stretch of an access, in address order: found in the L2, fetched, or written into it.
struct Segment {
  enum class Kind : std::uint8_t { hit, fill, store, write_back, bypass_read, bypass_write };
  Kind kind = Kind::hit;
  memory::Range range;
  std::uint64_t after = 0; ///< write-backs: bytes of the operation that go before it
};

/// Sectors counted by the ledger, in bytes.
struct L2Statistics {
  std::uint64_t asked_read = 0;  ///< sectors asked by reads
  std::uint64_t hits = 0;        ///< of asked_read
  std::uint64_t fills = 0;       ///< of asked_read
  std::uint64_t over_fetch = 0;  ///< of asked_read: bytes nobody wanted, from rounding to sectors
  std::uint64_t stored = 0;      ///< sectors written by SMs
  std::uint64_t overwritten = 0; ///< of stored: was already dirty
  std::uint64_t written_back = 0;
  std::uint64_t discarded = 0; ///< dirty sectors that died without being written
};

/// The L2 at burst resolution: reuse by extents with a dirty limit, tagged by unified
/// address (moving a page flushes nothing). It says what each access finds; time is not
/// its business. Concurrent accesses of one operation are interleaved in slices of an
/// eighth of the capacity, as its blocks would sweep them together, but in steps of
/// L2Config::interleave: reads of small operands come first, stores of small results last.
class L2 {
public:
  explicit L2(const L2Config& config);

  /// Cuts the accesses into segments, in order; evictions come in `write_backs`. There is a list
  /// of segments a lane: one an access or, where there are more accesses than `most_lanes`, some
  /// accesses in a row, one behind the other.
  void plan(const std::vector<OperationAccess>& accesses, std::size_t most_lanes,
            std::vector<std::vector<Segment>>& segments, std::vector<Segment>& write_backs);

  /// What lies at `range` is dead: dirty sectors wholly inside need not be written.
  void discard(memory::Range range);
  /// Whatever of `range` is cached is stale: the data was made elsewhere.
  void invalidate(memory::Range range, std::vector<Segment>& write_backs);

  const L2Statistics& statistics() const { return statistics_; }
  std::uint64_t dirty() const { return cache_.dirty(); }
  /// `range` grown to whole sectors.
  memory::Range sectors(memory::Range range) const;

private:
  void access(memory::Range range, bool write, std::vector<Segment>& segments,
              std::vector<Segment>& write_backs);
  struct Lane {
    std::size_t at = 0, end = 0;                   ///< of the accesses
    std::uint64_t within = 0, done = 0, whole = 0; ///< sectors: of the one at hand, of the lane
  };
  void advance(Lane& lane, std::uint64_t to, const std::vector<OperationAccess>& accesses,
               std::vector<Segment>& segments, std::vector<Segment>& write_backs);
  memory::Range sectors_of(const OperationAccess& access) const {
    return sectors({access.address, access.address + access.length.count});
  }
  void bypass(const OperationAccess& access, std::vector<Segment>& segments,
              std::vector<Segment>& write_backs);
  void list_write_backs(const std::vector<memory::Range>& ranges, std::vector<Segment>& out);

  L2Config config_;
  memory::ExtentCache cache_;
  memory::ExtentCache::Outcome outcome_;
  std::vector<memory::Range> ranges_;
  std::vector<Lane> lanes_;
  std::uint64_t before_ = 0; ///< bytes of the operation that went before this round
  L2Statistics statistics_;
};

} // namespace umf::hw
