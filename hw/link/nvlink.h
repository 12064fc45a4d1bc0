#pragma once

#include "hw/link/options.h"
#include "model/base/keys.h"

namespace umf::hw::link {

/// One NVLink, packet by packet: data in flits of 16 B behind a header. `links` of them join two
/// GPUs and share what goes between them by address.
struct NvlinkConfig {
  std::uint32_t links = 12, lanes = 4;
  BytesPerSecond lane_rate{6.25e9};
  Femtoseconds latency = 300_ns;
  Bytes overhead{32};
  std::uint32_t packet_credits = 512;
  Femtoseconds control_wait = 100_ns;
  Bytes replay_buffer = 64_KiB;
  double bit_error_rate = 0;
};

const Component<NvlinkConfig>& nvlink_component();
LinkOptions link_options(const NvlinkConfig& config, std::string name);

} // namespace umf::hw::link
