#pragma once

#include "hw/dram/media.h"
#include "hw/fabric/dram_flow.h"
#include "hw/fabric/media_target.h"
#include "model/base/keys.h"

#include <memory>
#include <optional>
#include <string>

namespace umf::hw {

/// T3 at burst resolution: a CXL type-3 device, controller pipeline in front of DDR5 media.
/// Media bandwidth is not link bandwidth: the link is a module of its own.
struct CxlDeviceConfig {
  Bytes capacity = 256_GiB;
  std::string media = "ddr5-6400";
  std::uint32_t channels = 8;
  std::optional<BytesPerSecond> bandwidth;
  std::optional<double> efficiency, mix_loss;
  Femtoseconds controller_latency = 62_ns;
  Femtoseconds queue_latency = 14_ns;
  std::optional<Femtoseconds> media_latency;
  dram::ControllerConfig controller{
      .refresh = dram::RefreshMode::all_bank, .postpone = 0, .stagger = false};
  PicojoulesPerBit read_energy{15};
  PicojoulesPerBit write_energy{15};
  std::optional<std::string> behind;
};

const Component<CxlDeviceConfig>& cxl_device_component();
dram::Media cxl_media(const CxlDeviceConfig& config,
                      std::shared_ptr<const dram::DramStandard> standard);
/// Faults a bandwidth that the channels of this media cannot carry.
DramFlow::Given given_of(const CxlDeviceConfig& config);
void check_cxl_device(const CxlDeviceConfig& config, const dram::Media& media,
                      const std::string& pointer, KeyContext& context);

class CxlDevice : public MediaTarget {
public:
  CxlDevice(sc_core::sc_module_name name, FlowClock& clock, const CxlDeviceConfig& config,
            const dram::Media& media, std::string tier);
  std::vector<ResourceId> media() const override { return {flow_.resource()}; }

private:
  void admit(const tlm::tlm_generic_payload& payload, Burst& burst) override;

  Femtoseconds controller_latency_;
  DramFlow flow_;
};

} // namespace umf::hw
