#pragma once

#include "hw/link/node.h"
#include "hw/link/nvlink.h"
#include "hw/pcie/link.h"
#include "model/base/keys.h"

namespace umf::hw {

/// T5 at burst resolution: the NVLinks between two ends, packets as wire bytes per payload byte.
struct NvlinkLinkConfig {
  std::string from, to;
  std::uint32_t count = 18;
  BytesPerSecond link_bandwidth{25e9};
  Bytes payload{128}, overhead{32};
  Femtoseconds one_way_latency = 300_ns;
  std::uint32_t outstanding_reads = 1024;
  PicojoulesPerBit energy{5.5};
};

const Component<NvlinkLinkConfig>& nvlink_link_component();
/// At line resolution, as those of PCIe links.
link::NvlinkConfig line_of(const NvlinkLinkConfig& config);
link::RequesterConfig requester_of(const NvlinkLinkConfig& config);
link::WireCost nvlink_wire_cost(const NvlinkLinkConfig& config,
                                double bytes = link::WireShape::kLong);
/// The most payload bytes a second of reads that the links together carry.
BytesPerSecond nvlink_read_bound(const NvlinkLinkConfig& config);
Link::Options nvlink_link(const NvlinkLinkConfig& config, std::string name);

} // namespace umf::hw
