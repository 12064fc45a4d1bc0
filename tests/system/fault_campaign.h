#pragma once

#include <cstdint>
#include <string>

namespace umf::test {

/// What a campaign of faults met, all seeds together.
struct Campaign {
  std::uint64_t runs = 0, degraded = 0; ///< of them: with a pool that was read only
  std::uint64_t moved = 0, synced = 0, forced = 0;
  std::string failures; ///< a line each: the command and what it said
};

/// Replays a small trace drawn from each of the seeds [first, first + seeds), on a machine whose
/// links change speed and width and have errors at random times, under `umf` or `lru`, with writes
/// to the pool staged or not. A run fails whose books do not balance, whose log is decided
/// otherwise, or that does not end by itself.
Campaign fault_campaign(std::uint64_t first, std::uint64_t seeds);

} // namespace umf::test
