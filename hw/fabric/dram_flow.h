#pragma once

#include "hw/dram/media.h"
#include "hw/fabric/burst.h"
#include "hw/fabric/flow_clock.h"

#include <optional>
#include <string>

namespace umf::hw {

/// DRAM media at burst resolution: one resource that carries at any time what line runs of the same
/// banks give under the same mix of reads and writes, lengths of runs and number of bursts
/// (dram::Service).
class DramFlow {
public:
  /// What is given instead of measured.
  struct Given {
    /// Share of peak of reads alone, whatever their runs and number: only the read share then
    /// counts, by the curve of long runs.
    std::optional<double> efficiency;
    /// Loss at one read to one write; runs and number then count as they do for reads alone.
    std::optional<double> mix_loss;
    std::optional<Femtoseconds> latency;
    Femtoseconds controller_latency{}; ///< added to the banks' own where no latency is given
  };
  DramFlow(FlowClock& clock, const dram::Media& media, const Given& given, const std::string& tier,
           Cause cause);

  /// No mix of bursts is carried faster.
  static BytesPerSecond at_most(const dram::Media& media, const Given& given);
  static Femtoseconds latency(const dram::Media& media, const Given& given);

  ResourceId resource() const { return resource_; }
  /// Unloaded read, from the controller's port to the array and back.
  Femtoseconds latency() const { return latency_; }

private:
  ResourceId resource_ = kNoId;
  Femtoseconds latency_;
};

} // namespace umf::hw
