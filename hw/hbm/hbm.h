#pragma once

#include "hw/fabric/media_target.h"
#include "model/base/keys.h"

#include <optional>

namespace umf::hw {

enum class HbmStandard : std::uint8_t { hbm2, hbm2e, hbm3, hbm3e };

/// T1 at burst resolution: stacks of HBM behind the GPU's memory controllers. Service is a
/// plain configured curve until the line resolution measures one.
struct HbmConfig {
  Bytes capacity = 80_GiB;
  HbmStandard standard = HbmStandard::hbm3;
  std::uint32_t stacks = 5;
  std::optional<BytesPerSecond> bandwidth;
  double read_efficiency = 0.952;
  double mix_loss = 0.123;
  Femtoseconds media_latency = 95_ns;
  PicojoulesPerBit read_energy{3.9};
  PicojoulesPerBit write_energy{3.9};
};

const Component<HbmConfig>& hbm_component();
/// The most the pins carry: stacks × 1024 bit × the standard's fastest rate.
BytesPerSecond hbm_peak(const HbmConfig& config);
/// Faults a bandwidth that the standard cannot carry.
void check_hbm(const HbmConfig& config, const std::string& pointer, KeyContext& context);

class Hbm : public MediaTarget {
public:
  Hbm(sc_core::sc_module_name name, FlowClock& clock, const HbmConfig& config, std::string tier);
  std::vector<ResourceId> media() const override { return {channels_}; }

private:
  void admit(const tlm::tlm_generic_payload& payload, Burst& burst) override;

  HbmConfig config_;
  ResourceId channels_;
};

} // namespace umf::hw

template <>
struct umf::EnumNames<umf::hw::HbmStandard> {
  static constexpr std::pair<std::string_view, umf::hw::HbmStandard> list[] = {
      {"hbm2", umf::hw::HbmStandard::hbm2},
      {"hbm2e", umf::hw::HbmStandard::hbm2e},
      {"hbm3", umf::hw::HbmStandard::hbm3},
      {"hbm3e", umf::hw::HbmStandard::hbm3e}};
};
