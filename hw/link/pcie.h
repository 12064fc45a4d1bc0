#pragma once

#include "hw/link/options.h"
#include "model/base/keys.h"

namespace umf::hw::link {

/// Room of a receiver, both ends alike. Ends take completions at once, but advertise room all the
/// same: what is in flight is bounded by it.
struct PcieCreditConfig {
  std::uint32_t posted_headers = 128, posted_data = 1024;
  std::uint32_t request_headers = 128;
  std::uint32_t completion_headers = 128, completion_data = 1024;
};

/// A PCIe link, TLP by TLP (base specification 5.0, chapters 2 to 4; flit mode for Gen6).
struct PcieConfig {
  std::uint32_t generation = 5, width = 16;
  Femtoseconds latency = 70_ns;
  Bytes request_overhead{24}, completion_overhead{20};
  PcieCreditConfig credits;
  std::uint32_t ack_every = 3, update_every = 3;
  Femtoseconds control_wait = 100_ns;
  Bytes replay_buffer = 32_KiB;
  double bit_error_rate = 0;
  std::uint32_t skip_interval = 375;
  Femtoseconds sleep_after{}, wake_time = 10000_ns;
  Femtoseconds recovery = 20000_ns;
  std::uint32_t errors_to_degrade = 0;
  Femtoseconds error_window = 1000000_ns;
  std::uint32_t degraded_generation = 1;
  std::optional<std::uint32_t> degraded_width;
  Femtoseconds degraded_for{};
};

const Component<PcieConfig>& pcie_component();
LinkOptions link_options(const PcieConfig& config, std::string name);

} // namespace umf::hw::link
