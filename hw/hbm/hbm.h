#pragma once

#include "hw/dram/media.h"
#include "hw/fabric/dram_flow.h"
#include "hw/fabric/media_target.h"
#include "model/base/keys.h"

#include <memory>
#include <optional>
#include <string>

namespace umf::hw {

/// T1: stacks of HBM behind the GPU's memory controllers.
struct HbmConfig {
  Bytes capacity = 80_GiB;
  std::string standard = "hbm3";
  std::uint32_t stacks = 5;
  std::optional<BytesPerSecond> bandwidth;
  std::optional<double> read_efficiency, mix_loss;
  Bytes batch{0};
  std::optional<Femtoseconds> media_latency;
  Femtoseconds controller_latency = 60_ns;
  dram::ControllerConfig controller;
  PicojoulesPerBit read_energy{3.9};
  PicojoulesPerBit write_energy{3.9};
};

const Component<HbmConfig>& hbm_component();
/// The same keys for memory of another GPU (T5): a pool, reached by links.
const Component<HbmConfig>& peer_component();
dram::Media hbm_media(const HbmConfig& config, std::shared_ptr<const dram::DramStandard> standard);
/// Faults a bandwidth that the stacks of this standard cannot carry.
void check_hbm(const HbmConfig& config, const dram::Media& media, const std::string& pointer,
               KeyContext& context);

DramFlow::Given given_of(const HbmConfig& config);

/// At burst resolution the stacks are one resource. What it carries, by read share and length of
/// a run, comes from line runs of the same banks (dram::Service) unless the configuration says.
class Hbm : public MediaTarget {
public:
  Hbm(sc_core::sc_module_name name, FlowClock& clock, const HbmConfig& config,
      const dram::Media& media, std::string tier);
  std::vector<ResourceId> media() const override { return {flow_.resource()}; }

private:
  void admit(const tlm::tlm_generic_payload& payload, Burst& burst) override;

  DramFlow flow_;
  Femtoseconds batch_service_; ///< what a channel takes for a batch at its pin rate
};

} // namespace umf::hw
