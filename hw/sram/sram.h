#pragma once

#include "hw/fabric/media_target.h"
#include "hw/sram/sram_ports.h"
#include "model/base/keys.h"

#include <vector>

namespace umf::hw {

/// T2 at burst resolution: banks of static memory on the GPU die, behind the L2 and the
/// scheduler, holding the pages that a policy puts there. It is no cache.
struct SramConfig {
  Bytes capacity = 48_MiB;
  std::uint32_t banks = 100;
  BytesPerClock bank_width{64};
  Hertz clock{2e9};
  SramPorts ports = SramPorts::shared;
  Femtoseconds bank_latency = 5_ns;
  Femtoseconds port_latency{0};
  PicojoulesPerBit read_energy{0.4};
  PicojoulesPerBit write_energy{0.4};
};

const Component<SramConfig>& sram_component();
/// Banks × width × clock, of one port of each bank.
BytesPerSecond sram_peak(const SramConfig& config);

class Sram : public MediaTarget {
public:
  Sram(sc_core::sc_module_name name, FlowClock& clock, const SramConfig& config, std::string tier);
  std::vector<ResourceId> media() const override;

private:
  void admit(const tlm::tlm_generic_payload& payload, Burst& burst) override;

  SramConfig config_;
  ResourceId reads_, writes_; ///< the same where reads and writes share a port
};

} // namespace umf::hw

template <>
struct umf::EnumNames<umf::hw::SramPorts> {
  static constexpr std::pair<std::string_view, umf::hw::SramPorts> list[] = {
      {"shared", umf::hw::SramPorts::shared}, {"separate", umf::hw::SramPorts::separate}};
};
