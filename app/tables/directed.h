#pragma once

#include "hw/dram/channel.h"
#include "hw/dram/standard.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// A few accesses to one unit of a DRAM, and the clocks between two of its commands.
namespace umf::app {

/// Banks by what they share with bank 0, and the timings.
struct UnitFacts {
  hw::dram::Timings timings;
  hw::dram::Organisation organisation; ///< two ranks
  std::uint32_t mate() const { return 1; }
  std::uint32_t stranger() const { return organisation.banks; } ///< of another group
  std::uint32_t other_rank() const { return organisation.banks_of_rank(); }
  /// The n-th bank of as many different groups as there are.
  std::uint32_t spread(std::uint32_t n) const;
  std::uint32_t sets() const; ///< of banks refreshed together
};

struct Step {
  hw::dram::Cycle at;
  hw::dram::Access access;
};

/// The n-th command of its kind to a bank.
struct Mark {
  hw::dram::Order order;
  std::uint32_t bank = 0, nth = 0;
  bool data = false; ///< the end of its data is meant
};

/// An experiment and what it is there for.
struct Directed {
  std::string_view name;
  std::string_view shows; ///< names of timings
  hw::dram::RefreshMode refresh;
  std::vector<Step> (*steps)(const UnitFacts&);
  std::optional<Mark> (*from)(const UnitFacts&); ///< nothing: clock 0
  Mark (*to)(const UnitFacts&);
};

std::span<const Directed> directed_experiments();

/// Clocks from one command to the other. Throws InvariantError when one of them does not come.
hw::dram::Cycle clocks_of(const Directed& directed, const hw::dram::Timings& timings,
                          const hw::dram::Organisation& organisation);

/// A timing by its name, and how to make it longer.
struct NamedTiming {
  std::string_view name;
  /// By a fifth, at least a clock; the two that are no clocks take their other value.
  void (*grow)(hw::dram::Timings& timings, const hw::dram::Organisation& organisation);
};
/// Every timing of a standard.
std::span<const NamedTiming> named_timings();

} // namespace umf::app
