#pragma once

#include "hw/dram/dram.h"

#include <array>
#include <cstdint>
#include <memory>

/// What a DRAM gives to bursts, measured from line runs of the same engine: the burst resolution
/// charges these curves instead of playing every access.
namespace umf::hw::dram {

/// The state of a tier that its service depends on besides its configuration.
struct ServicePoint {
  std::uint32_t read_eighths = 8; ///< reads of eight accesses
  /// Consecutive accesses that a unit gets of one run; rounded up to a power of two, and
  /// kLongRun stands for all above.
  std::uint32_t run = kLongRun;
  std::uint32_t streams = 1; ///< runs under way side by side in a unit; rounded up likewise, ≤ 16

  static constexpr std::uint32_t kLongRun = 256;
  auto operator<=>(const ServicePoint&) const = default;
};

/// Service curves of one configuration. Units share nothing, so one unit is measured, under as
/// many requests as its queues hold, for long enough to see some refreshes; a point is measured
/// when it is first asked for and kept for the process, by a hash of the configuration.
class Service {
public:
  explicit Service(const DramConfig& config);

  /// Share of the units' peak that saturating traffic gets.
  double share(ServicePoint point) const;
  /// Reads to writes from none (0) to all (8 eighths), long runs: shares by read eighths.
  std::array<double, 9> mix() const;
  /// An access of a closed bank, nothing else under way: queue to the last of its data.
  Femtoseconds latency() const;
  /// How many accesses one unit gets of `bytes` in a row.
  std::uint32_t run_of(std::uint64_t bytes) const;

private:
  struct Curves;
  std::shared_ptr<Curves> curves_; ///< shared by equal configurations
};

} // namespace umf::hw::dram
