#pragma once

#include "hw/dram/channel.h"

#include <string_view>
#include <vector>

namespace umf::hw::dram::test {

/// A few accesses given to one channel at given clocks, in order of time.
struct Step {
  Cycle at;
  Access access;
};

constexpr Access read_of(std::uint32_t bank, std::uint32_t row = 0, std::uint32_t column = 0) {
  return {bank, row, column, 0, false};
}
constexpr Access write_of(std::uint32_t bank, std::uint32_t row = 0, std::uint32_t column = 0) {
  return {bank, row, column, 0, true};
}

/// The n-th command of its kind to that bank, from 0.
struct Watch {
  Order order;
  std::uint32_t bank;
  std::uint32_t nth = 0;
};

struct Observed {
  Cycle at = -1;       ///< its time in the log; -1: it did not come
  Cycle committed = 0; ///< t of the first advance(t + 1) that brought it: advance(t) had not
  Cycle data = -1;     ///< of a read: the end of its data
};

/// No refresh, no age cap, rows stay open: nothing but the accesses decides.
Channel::Config quiet(const Organisation& organisation, const Timings& timings);

/// Gives a fresh channel the steps and advances it clock by clock until the command comes.
Observed watch(const Channel::Config& config, const std::vector<Step>& steps, const Watch& watch);

/// The timings with one clock (bus gap: none) for each, no shared bus, refreshes far apart.
Timings smallest(const Timings& timings);

} // namespace umf::hw::dram::test
