#pragma once

#include "model/base/units.h"

#include <cstdint>
#include <optional>

namespace umf::policy {

/// What the way from a GPU to a memory and back carries when nothing else uses it.
struct Way {
  BytesPerSecond read{}, write{}; ///< its slowest hop, by direction
  Femtoseconds latency{};         ///< of a read (boundary: sm)
  Femtoseconds move_latency{};    ///< of a read by a move (boundary: scheduler)
};

/// From how many reads of the same bytes on it pays to bring them in. Closed form, unloaded
/// machine, no overlap of reads and moves:
///
///   leave    n · remote              remote = bytes / remote.read + remote.latency
///   copy     in + n · local          local  = bytes / local.read + local.latency
///   migrate  out + in + n · local
///
///   in  = batches · service + remote.move_latency
///         + bytes / min(remote.read, local.write) + burst / local.write
///   out = local.move_latency + bytes / min(local.read, remote.write) + burst / local.read
///
/// A move streams bursts: the slower side is never idle, and one burst's time on the faster side
/// and the first read's latency are what does not overlap. A copy leaves the original where it is
/// (the frames at home must be free); a migration has to send as many bytes of a victim out first.
struct BreakEven {
  Way remote, local;
  Femtoseconds service{};       ///< paid for every batch before its bytes move
  std::optional<Bytes> batch{}; ///< bytes that one service brings in; none: all of them
  Bytes burst{};                ///< the unit of a move

  Femtoseconds read_remote(Bytes bytes) const;
  Femtoseconds read_local(Bytes bytes) const;
  Femtoseconds move_in(Bytes bytes) const;
  Femtoseconds move_out(Bytes bytes) const;

  /// The fewest reads for which copying (migrating) takes less time than leaving; none: never.
  std::optional<std::uint64_t> copy_from(Bytes bytes) const;
  std::optional<std::uint64_t> migrate_from(Bytes bytes) const;
};

} // namespace umf::policy
