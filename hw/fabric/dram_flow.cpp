#include "hw/fabric/dram_flow.h"

namespace umf::hw {

DramFlow::DramFlow(FlowClock& clock, const dram::Media& media, const Given& given,
                   const std::string& tier, Cause cause) {
  const dram::Service service(dram::config(media));
  latency_ = latency(media, given);
  const bool curves = !given.efficiency || !given.mix_loss;
  const double reads = curves ? service.share({}) : 1;
  resource_ = clock.add_resource(tier, dram::peak(media).value * given.efficiency.value_or(reads),
                                 cause, curves ? 0.0 : *given.mix_loss);
  if (!curves) return;
  const auto curve = [=](const FlowNetwork::Mix& mix) {
    if (given.efficiency) return service.share({.read_share = mix.read_share}) / reads;
    if (!given.mix_loss) return service.share({mix.read_share, mix.run, mix.streams}) / reads;
    const double loss = 4 * *given.mix_loss * mix.read_share * (1 - mix.read_share);
    return service.share({1, mix.run, mix.streams}) / reads * (1 - loss);
  };
  // Single accesses, most of them writes, are about the worst there is.
  const double least = curve({.read_share = 0.125, .run = 1}) / 2;
  const auto shortest = static_cast<double>(service.shortest().count);
  const auto held = static_cast<double>(service.held().count);
  clock.network().set_curve(resource_, {curve, least, shortest, held});
}

/// Shares are no more than 1: the curve never raises the peak by more than it was lowered for it.
BytesPerSecond DramFlow::at_most(const dram::Media& media, const Given& given) {
  const double peak = dram::peak(media).value;
  if (!given.efficiency) return {peak};
  if (given.mix_loss) return {peak * *given.efficiency};
  return {peak * *given.efficiency / dram::Service(dram::config(media)).share({})};
}

Femtoseconds DramFlow::latency(const dram::Media& media, const Given& given) {
  if (given.latency) return *given.latency;
  return given.controller_latency + dram::Service(dram::config(media)).latency();
}

} // namespace umf::hw
