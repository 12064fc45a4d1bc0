#pragma once

#include "hw/dram/media.h"
#include "hw/fabric/burst.h"
#include "hw/fabric/flow_clock.h"

#include <optional>
#include <string>

namespace umf::hw {

/// DRAM media at burst resolution: one resource whose capacity follows the curves that line runs
/// of the same banks give, unless some of them are given instead.
class DramFlow {
public:
  struct Given {
    std::optional<double> efficiency; ///< share of peak of reads alone
    std::optional<double> mix_loss;   ///< loss at one read to one write
    std::optional<Femtoseconds> latency;
    Femtoseconds controller_latency{}; ///< added to the banks' own where no latency is given
  };
  DramFlow(FlowClock& clock, const dram::Media& media, const Given& given, const std::string& tier,
           Cause cause);

  ResourceId resource() const { return resource_; }
  /// Unloaded read, from the controller's port to the array and back.
  Femtoseconds latency() const { return latency_; }
  /// What a byte of a run of this length takes of the resource: above 1 where rows are opened for
  /// less than a row.
  double use(std::uint64_t run_bytes) const;

private:
  dram::Service service_;
  ResourceId resource_ = kNoId;
  Femtoseconds latency_;
  bool given_;
};

} // namespace umf::hw
