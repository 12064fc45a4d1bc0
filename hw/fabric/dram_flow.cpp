#include "hw/fabric/dram_flow.h"

namespace umf::hw {

DramFlow::DramFlow(FlowClock& clock, const dram::Media& media, const Given& given,
                   const std::string& tier, Cause cause)
    : service_(dram::config(media)),
      latency_(given.latency.value_or(given.controller_latency + service_.latency())),
      given_(given.efficiency.has_value()) {
  const double efficiency = given.efficiency ? *given.efficiency : service_.share({});
  resource_ = clock.add_resource(tier, dram::peak(media).value * efficiency, cause,
                                 given.mix_loss.value_or(0.0));
  if (given.mix_loss) return;
  FlowNetwork::Mix mix = service_.mix();
  const double reads = mix[8];
  for (double& share : mix)
    share /= reads;
  clock.network().set_mix(resource_, mix);
}

double DramFlow::use(std::uint64_t run_bytes) const {
  if (given_) return 1.0; // one figure for all
  return service_.share({}) / service_.share({8, service_.run_of(run_bytes), 1});
}

} // namespace umf::hw
