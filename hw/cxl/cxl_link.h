#pragma once

#include "hw/link/cxl.h"
#include "hw/link/node.h"
#include "hw/pcie/link.h"
#include "hw/pcie/training.h"
#include "model/base/keys.h"

#include <optional>

namespace umf::hw {

/// A CXL.mem link at burst resolution: slots of 16 B in flits on a PCIe PHY.
/// 68 B flits (CXL 1.1/2.0, section 4.2): 4 slots + CRC and protocol id. A read costs one
/// request slot out and, per two lines, one header and eight data slots back; a write
/// costs five slots out and half a response slot back. 256 B flits (CXL 3.0): 15 slots.
struct CxlLinkConfig {
  std::string from, to;
  std::uint32_t generation = 5;
  std::uint32_t width = 16;
  std::uint32_t count = 1;
  link::FlitSize flit = link::FlitSize::b68;
  std::optional<BytesPerSecond> bandwidth;
  Femtoseconds one_way_latency = 25_ns;
  std::uint32_t outstanding_reads = 1024;
  PicojoulesPerBit energy{5.5};
  LinkTrainingConfig training;
};

const Component<CxlLinkConfig>& cxl_link_component();
/// At line resolution, as those of PCIe links.
link::CxlConfig line_of(const CxlLinkConfig& config);
link::RequesterConfig requester_of(const CxlLinkConfig& config);
link::WireCost cxl_wire_cost(const CxlLinkConfig& config, double bytes = link::WireShape::kLong);
BytesPerSecond cxl_read_bound(const CxlLinkConfig& config);
Link::Options cxl_link(const CxlLinkConfig& config, std::string name);

} // namespace umf::hw
