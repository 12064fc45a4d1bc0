#pragma once

#include "hw/dram/dram.h"

#include <memory>

/// What a DRAM gives to bursts, measured from line runs of the same engine: the burst resolution
/// charges these figures instead of playing every access.
namespace umf::hw::dram {

/// What moves through a tier at one time, as far as its banks care.
struct ServiceState {
  double read_share = 1; ///< of the bytes
  /// Bytes in a row, the mean by runs: all bytes over the number of runs. A stream's run counts
  /// as no longer than what all queues hold of it at a time (Service::held() by its share): what
  /// is not there cannot be served while its row is open.
  double run = kLong;
  /// Runs under way side by side, each counted by its share of its direction: 1 / Σ share².
  double streams = 1;

  static constexpr double kLong = 1e18;
};

/// The service of one configuration under saturating traffic, by read share, length of a run and
/// number of streams together.
///
/// Measured by UnitLoad on a grid and interpolated: time a byte is linear in the read share, in
/// runs a byte and in the number of streams. A point of the grid is measured when it is first
/// needed and kept for the process, by all that the engine reads of a configuration. Beyond the
/// grid its edge holds: runs of 256 accesses a unit, four streams (more cost by their shorter
/// runs).
class Service {
public:
  explicit Service(const DramConfig& config);

  /// Share of the units' peak.
  double share(const ServiceState& state) const;
  /// Runs so short that they open a row for every access; shorter ones are no worse.
  Bytes shortest() const;
  /// What the queues of all units hold, of all streams together.
  Bytes held() const;
  /// An access of a closed bank, nothing else under way: queue to the last of its data.
  Femtoseconds latency() const;

private:
  class Grid;
  std::shared_ptr<Grid> grid_; ///< shared by equal configurations
};

} // namespace umf::hw::dram
