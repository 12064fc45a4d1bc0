#pragma once

#include "hw/fabric/media_target.h"
#include "model/base/keys.h"

#include <optional>

namespace umf::hw {

enum class DdrStandard : std::uint8_t { ddr5_4800, ddr5_5600, ddr5_6400 };

/// T3 at burst resolution: a CXL type-3 device, controller pipeline in front of DDR5 media.
/// Media bandwidth is not link bandwidth: the link is a module of its own.
struct CxlDeviceConfig {
  Bytes capacity = 256_GiB;
  DdrStandard media = DdrStandard::ddr5_6400;
  std::uint32_t channels = 8;
  std::optional<BytesPerSecond> bandwidth;
  double efficiency = 0.87;
  double mix_loss = 0.115;
  Femtoseconds controller_latency = 62_ns;
  Femtoseconds media_latency = 45_ns;
  PicojoulesPerBit read_energy{15};
  PicojoulesPerBit write_energy{15};
  std::optional<std::string> behind;
};

const Component<CxlDeviceConfig>& cxl_device_component();
/// Channels × 64 bit × rate.
BytesPerSecond cxl_media_peak(const CxlDeviceConfig& config);
void check_cxl_device(const CxlDeviceConfig& config, const std::string& pointer,
                      KeyContext& context);

class CxlDevice : public MediaTarget {
public:
  CxlDevice(sc_core::sc_module_name name, FlowClock& clock, const CxlDeviceConfig& config,
            std::string tier);
  std::vector<ResourceId> media() const override { return {channels_}; }

private:
  void admit(const tlm::tlm_generic_payload& payload, Burst& burst) override;

  CxlDeviceConfig config_;
  ResourceId channels_;
};

} // namespace umf::hw

template <>
struct umf::EnumNames<umf::hw::DdrStandard> {
  static constexpr std::pair<std::string_view, umf::hw::DdrStandard> list[] = {
      {"ddr5-4800", umf::hw::DdrStandard::ddr5_4800},
      {"ddr5-5600", umf::hw::DdrStandard::ddr5_5600},
      {"ddr5-6400", umf::hw::DdrStandard::ddr5_6400}};
};
