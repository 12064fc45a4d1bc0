#pragma once

#include "hw/link/network.h"
#include "model/base/histogram.h"

#include <string>
#include <vector>

namespace umf::hw::link {

/// Transactions that one requester presses on a network.
struct Load {
  NodeId from = 0;
  std::vector<NodeId> targets; ///< turn by turn of `interleave`
  Bytes interleave{256};
  Bytes size{4096}; ///< of a transaction
  Bytes stride{0};  ///< from one to the next; 0: its size
  Bytes footprint{std::uint64_t{1} << 30};
  bool random = false; ///< places of the footprint are drawn
  /// Of `period` transactions `writes` are writes, evenly spread; they share the loop below.
  std::uint32_t writes = 0, period = 1;
  std::uint64_t transactions = 100'000;
  std::uint32_t outstanding = 64;       ///< closed loop
  std::optional<BytesPerSecond> rate{}; ///< open loop, evenly; with `outstanding` at most
  /// What has been written is then read by this node, transaction by transaction: a copy through
  /// host memory. Done once it is read.
  std::optional<NodeId> read_by{};
  Femtoseconds between{}; ///< software between the two
};

/// What became of one load.
struct Loaded {
  std::uint64_t reads = 0, writes = 0;
  BytesPerSecond read_rate{}, write_rate{};
  /// Picoseconds. `port`: from the first packet to the last data or answer; `engine`: from when
  /// it was asked, the requester's latency and queue included.
  Histogram read_port, read_engine, write_port, write_engine;
};

/// What held the loads back: the busiest wire, else what requesters waited for.
enum class Limit : std::uint8_t { load, wire, tags, credits, rate, translation, media };
std::string_view name_of(Limit limit);

struct Drive {
  std::vector<Load> loads;
  double warm_up = 0.1; ///< share of each load's transactions that is not measured
  /// Changes of speed on the way.
  struct Train {
    LinkId link;
    Femtoseconds at;
    WireRate rate;
  };
  std::vector<Train> trainings{};
  bool drain = true; ///< until nothing is under way, and prove it
};

struct Driven {
  std::vector<Loaded> loads;
  Femtoseconds elapsed{};                        ///< of the whole run
  std::vector<DirectionStatistics> directions{}; ///< of the whole run
  Limit limit = Limit::load;
  DirectionId busiest = 0;
  double busiest_share = 0; ///< of its time
};

/// Every load at once, each until its transactions are done; loads measured while all run.
Driven drive(Network& network, const Drive& how);

} // namespace umf::hw::link
