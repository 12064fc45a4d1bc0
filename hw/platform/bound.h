#pragma once

#include "hw/platform/replay.h"
#include "hw/platform/scenario.h"

#include <cstdint>
#include <string>
#include <vector>

namespace umf::hw {

/// A time below which no policy comes, and what it is made of.
struct Bound {
  /// One kind of limit: the time it is why, and there the bytes (operations) at the rate a second.
  struct Part {
    std::string name; ///< "launch", "arithmetic", "l2", "memory", "links", "copies"
    std::string what; ///< for people
    double seconds = 0;
    double amount = 0, rate = 0; ///< none for launches
  };
  Femtoseconds time{};
  std::string argument;    ///< "chain", "windows" or "whole": which of the three gave it
  std::vector<Part> parts; ///< the longest first; they sum to the time
  /// Bytes that must cross the links of some GPU whatever lies where, by the windows that show
  /// most.
  Bytes link_bytes{};
};

/// The lower bound on a replay's time, in closed form: every ingredient is a rate that the machine
/// never exceeds or a cost that each operation pays, so policies and luck can only add.
///
/// Each operation pays its launch and start-up and then the longest of
///   arithmetic  operations / (peak · efficiency), every SM at work;
///   l2          its bytes / what slices and crossbar carry;
///   memory      what the L2 cannot hold of its distinct bytes / all memories and links together,
///               and what L2 and SRAM cannot hold of those that lay somewhere / the others;
///   links       what the L2, HBM and SRAM together cannot hold of it / all links together;
///   copies      a copy's sides / the copy engine, its host side / the way to the host.
/// Three ways from there to a run; each is a bound, and the highest counts:
///   chain    operations that wait for one another, the longest chain of them;
///   windows  of a stream's consecutive operations. Before a window starts the L2 holds at most its
///            capacity, and HBM and SRAM at most theirs: of the distinct bytes that a window reads
///            and did not write first, the rest crosses from memory, or the links, within it.
///            Windows of many lengths are tried, and such as end where bytes come up again;
///   whole    all streams of a GPU: their arithmetic, L2 and copy traffic, one resource each.
/// Where a GPU has several streams, what one writes another may read, and moves go on between an
/// operation's transfers: windows then count weights that nobody writes, and launches apart.
Bound lower_bound(const Scenario& scenario, const std::vector<TenantSetup>& tenants);

} // namespace umf::hw
