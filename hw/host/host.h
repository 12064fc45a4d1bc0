#pragma once

#include "hw/fabric/media_target.h"
#include "model/base/keys.h"

namespace umf::hw {

/// T7: the host's DRAM behind its root complex, the far end of copies.
struct HostConfig {
  Bytes capacity = 1024_GiB;
  std::uint32_t channels = 8;
  BytesPerSecond channel_bandwidth{38.4e9};
  double efficiency = 0.87;
  Femtoseconds media_latency = 137_ns;
  PicojoulesPerBit read_energy{15};
  PicojoulesPerBit write_energy{15};
};

const Component<HostConfig>& host_component();

class Host : public MediaTarget {
public:
  Host(sc_core::sc_module_name name, FlowClock& clock, const HostConfig& config, std::string tier);
  std::vector<ResourceId> media() const override { return {channels_}; }

private:
  void admit(const tlm::tlm_generic_payload& payload, Burst& burst) override;

  HostConfig config_;
  ResourceId channels_;
};

} // namespace umf::hw
