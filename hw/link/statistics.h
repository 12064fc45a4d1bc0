#pragma once

#include "model/base/units.h"

#include <array>
#include <cstdint>

namespace umf::hw::link {

/// Of one direction of a link. What went in and has come out again is equal once it is idle.
struct DirectionStatistics {
  std::uint64_t packets_in = 0, packets_out = 0;
  std::uint64_t payload_in = 0, payload_out = 0; ///< bytes
  /// Wire time.
  Femtoseconds payload{}, headers{}, control{}, replay{}, skip{}, down{};
  Femtoseconds busy() const { return payload + headers + control + replay + skip + down; }
  std::uint64_t flits = 0, empty_slots = 0;
  std::uint64_t acks = 0, naks = 0, updates = 0;
  std::uint64_t errors = 0, replays = 0; ///< packets or flits
  std::uint64_t wakes = 0, retrainings = 0;
  Femtoseconds no_credit{}; ///< something waited and had no credit
  Femtoseconds no_buffer{}; ///< or no room to keep it until acknowledged
};

/// Why a requester could not begin its next packet.
enum class Wait : std::uint8_t { nothing, link, tags, rate, translation };
inline constexpr std::size_t kWaits = 5;

/// Of one kind of transaction of a requester.
struct RequesterStatistics {
  std::uint64_t transactions = 0, packets = 0, bytes_asked = 0, bytes_done = 0;
  std::array<Femtoseconds, kWaits> waited{};
  std::uint64_t translations = 0, translation_misses = 0;
};

struct MemoryStatistics {
  std::uint64_t reads = 0, writes = 0, read_bytes = 0, written_bytes = 0;
  std::uint64_t cache_hits = 0;
  std::uint64_t queued = 0; ///< requests that waited for others to be served
};

struct ForwardStatistics {
  std::uint64_t packets = 0, peer_bytes = 0, redirected = 0;
  std::uint64_t translations = 0, translation_misses = 0;
};

} // namespace umf::hw::link
