#pragma once

#include "hw/link/node.h"
#include "hw/link/pcie.h"
#include "hw/pcie/link.h"
#include "hw/pcie/training.h"
#include "model/base/keys.h"

#include <optional>
#include <vector>

namespace umf::hw {

/// T4 at burst resolution: TLPs and DLLPs as wire bytes per payload byte of transfers, after the
/// formula of pcie-bench (Neugebauer et al., SIGCOMM 2018).
struct PcieLinkConfig {
  std::string from, to;
  std::uint32_t generation = 5;
  std::uint32_t width = 16;
  std::uint32_t count = 1;
  std::optional<BytesPerSecond> bandwidth;
  Bytes max_payload{256};
  Bytes max_read_request{512};
  Bytes request_overhead{24};
  Bytes completion_overhead{20};
  std::uint32_t ack_every = 3, update_every = 3;
  std::uint32_t skip_interval = 375;
  std::uint32_t read_tags = 768;
  Femtoseconds one_way_latency = 70_ns;
  PicojoulesPerBit energy{5.5};
  LinkTrainingConfig training;
};

const Component<PcieLinkConfig>& pcie_link_component();

/// One of the links at line resolution, whose keys that burst resolution lacks keep their defaults,
/// and what a requester at its upper end keeps to.
link::PcieConfig line_of(const PcieLinkConfig& config);
link::RequesterConfig requester_of(const PcieLinkConfig& config);
link::WireCost pcie_wire_cost(const PcieLinkConfig& config, double bytes = link::WireShape::kLong);
/// The most payload bytes a second of reads that the links together carry.
BytesPerSecond pcie_read_bound(const PcieLinkConfig& config);
Link::Options pcie_link(const PcieLinkConfig& config, std::string name);

/// Shared by PCIe and CXL links: faults a bandwidth asked above the bound, naming it and
/// how many links it would take.
void check_link_bandwidth(const std::optional<BytesPerSecond>& asked, BytesPerSecond bound,
                          std::uint32_t count, const std::string& what, const std::string& pointer,
                          KeyContext& context);

struct PcieSwitchConfig {
  Femtoseconds latency = 105_ns;
};

const Component<PcieSwitchConfig>& pcie_switch_component();

/// A switch or root complex: cut-through, so latency only; its ports' links carry the
/// bandwidth. Routes by tier.
class PcieSwitch : public Interconnect {
public:
  PcieSwitch(sc_core::sc_module_name name, const PcieSwitchConfig& config);
  /// Downstream socket for a tier, in order of binding.
  void set_route(std::uint16_t tier, std::size_t port);

private:
  std::size_t route(const tlm::tlm_generic_payload& payload, const Burst&) override;
  void forward(const tlm::tlm_generic_payload& payload, Burst& burst) override;
  void back(const tlm::tlm_generic_payload&, Burst&) override {}

  PcieSwitchConfig config_;
  std::vector<std::size_t> port_of_tier_;
};

} // namespace umf::hw
