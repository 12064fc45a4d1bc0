#pragma once

#include "hw/dram/channel.h"
#include "hw/dram/dram.h"
#include "hw/dram/streams.h"

#include <cstdint>
#include <span>
#include <vector>

namespace umf::hw::dram {

/// One unit under what reaches it of streams over a whole tier.
///
/// Units share nothing, so with as many requests as a unit can hold, it does not matter to it what
/// the others do: what its part of the traffic gets of its peak is what all of it gets of the
/// tier's. The part is exact: of each run the unit has the accesses that the address map gives
/// it, none of most short runs. (Where a hash changes units, which one it is changes from row to
/// row; all are alike.)
class UnitLoad {
public:
  explicit UnitLoad(const DramConfig& tier);

  /// What is measured: after `before`, whole intervals until there were `accesses`.
  struct Time {
    Cycle before = 0, interval = 0;
    std::uint64_t accesses = 0;
  };
  /// Share of the peak that `streams` get.
  double share(std::span<const Stream> streams, const Time& time) const;

  /// The most accesses in a row of which no two lie in one row of a bank.
  std::uint64_t apart() const;
  std::uint32_t units() const { return config_.units * config_.stacks; }
  const DramConfig& config() const { return config_; }

private:
  /// Addresses of one stack that the unit still has of a run.
  struct Part {
    std::uint64_t at = 0, end = 0;
  };
  Part draw(std::uint64_t accesses, std::uint64_t& draws) const;
  std::uint64_t in_stack(std::uint64_t address) const;
  std::uint64_t in_tier(std::uint64_t local) const;
  std::uint64_t first(std::uint64_t local) const;
  std::uint64_t nth(std::uint64_t access) const;

  DramConfig config_;
  AddressMap map_;              ///< of one stack
  std::uint64_t unit_bits_ = 0; ///< of a stack's addresses
};

} // namespace umf::hw::dram
