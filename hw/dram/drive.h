#pragma once

#include "hw/dram/dram.h"
#include "hw/dram/streams.h"
#include "model/base/histogram.h"

#include <functional>
#include <optional>

namespace umf::hw::dram {

/// How a stream of accesses is pressed on a DRAM, without SystemC: for tables and curves.
struct Drive {
  Traffic traffic;
  std::vector<Stream> streams{}; ///< where there are any, over all of the DRAM, in place of traffic
  std::uint64_t requests = 100'000;
  std::uint64_t warm_up = 0; ///< of them, not measured
  /// Accesses in flight at most (closed loop); 0: as many as the queues take, in order, waiting
  /// at the first refusal. A write is in flight until its queue has taken it.
  std::uint32_t outstanding = 0;
  /// Requests that may wait beside the queues, each for its unit, so that one that finds no room
  /// does not hold up those behind it (as a crossbar with a queue an output); 0: it does.
  std::uint32_t window = 0;
  /// Open loop: so many bytes a second are offered, evenly; nothing: as fast as the loop allows.
  std::optional<BytesPerSecond> rate;
  /// Accesses that come at times of their own, in order of time until there is none; in place of
  /// traffic, streams, requests, warm_up and rate.
  struct Arrival {
    Cycle at = 0;
    std::uint64_t address = 0;
    bool write = false, measured = true;
  };
  std::function<std::optional<Arrival>()> arrivals{};
};

struct Driven {
  std::uint64_t reads = 0, writes = 0;
  Femtoseconds elapsed{}; ///< from the first offer measured to the last data
  double share = 0;       ///< of the peak of all units; reads answered by write queues apart
  BytesPerSecond bandwidth{};
  BytesPerSecond sustained{}; ///< up to the last request taken, while there is no lack of any
  /// Picoseconds. `media`: from the queue that took the read to the last of its data. `port`:
  /// from when it was offered, waiting for the queue included.
  Histogram media, port;
  DramStatistics statistics;  ///< of the whole run, warm-up included
  double blocked = 0;         ///< share of the time in which the head of the line found no room
  Limit limit = Limit::queue; ///< what cost most
  bool by_mapping = false; ///< the queues that lacked requests did so for want of a better mapping
};

Driven drive(Dram& dram, const Drive& drive);

} // namespace umf::hw::dram
