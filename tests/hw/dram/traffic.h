#pragma once

#include "hw/dram/channel.h"

#include <vector>

namespace umf::hw::dram::test {

/// Random requests for one channel: where they go and when they come.
struct Traffic {
  std::uint32_t requests = 2000;
  double write_share = 0.3;
  std::uint32_t rows = 4;       ///< distinct rows of each bank
  std::uint32_t columns = 8;    ///< distinct columns of each row
  double same_row = 0.5;        ///< chance that a request follows the one before in its row
  Cycle mean_gap = 2;           ///< clocks between arrivals
  double pause = 0.001;         ///< chance of a long silence
  Cycle longest_pause = 100000; ///< clocks
  Cycle advance_every = 0;      ///< also advanced so often while waiting; 0: never
};

struct Sent {
  Access access;
  Cycle at;
};

Traffic random_traffic(std::uint64_t seed);
Channel::Config random_config(std::uint64_t seed);

/// Sends them all, waiting where a queue is full, and drains the channel.
std::vector<Sent> send(Channel& channel, const Organisation& organisation, const Traffic& traffic,
                       std::uint64_t seed);

/// Drains: advances until nothing waits. Returns the clock it was done by.
Cycle drain(Channel& channel, Cycle now);

} // namespace umf::hw::dram::test
