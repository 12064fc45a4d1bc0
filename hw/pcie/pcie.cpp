#include "hw/pcie/pcie.h"

#include "hw/fabric/energy_keys.h"
#include "model/base/error.h"
#include "model/base/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace umf::hw {

const Component<PcieLinkConfig>& pcie_link_component() {
  static const auto keys =
      Component<PcieLinkConfig>("link.pcie", "PCIe link, full duplex.")
          .key("from", &PcieLinkConfig::from,
               {.help = "Upstream end: gpu0, gpu1, … or a switch.", .required = true})
          .key("to", &PcieLinkConfig::to,
               {.help = "Downstream end: a switch or a tier.", .required = true})
          .key("generation", &PcieLinkConfig::generation,
               {.help = "PCIe generation, which sets rate and line code.",
                .min = 1,
                .max = 6,
                .from = Provenance::datasheet,
                .source = "NVIDIA H100: PCIe Gen5"})
          .key("width", &PcieLinkConfig::width,
               {.help = "Lanes of one link.",
                .min = 1,
                .max = 32,
                .from = Provenance::datasheet,
                .source = "NVIDIA H100: x16"})
          .key("count", &PcieLinkConfig::count,
               {.help = "Parallel links of this kind between the two ends.",
                .min = 1,
                .max = 64,
                .from = Provenance::derived,
                .source = "one"})
          .key("bandwidth", &PcieLinkConfig::bandwidth,
               {.help =
                    "Payload rate asked of all parallel links, one direction; an error when they "
                    "cannot carry it. None: what they carry.",
                .min = BytesPerSecond{1e6},
                .from = Provenance::standard,
                .source = "PCIe base specification rates"})
          .key("max_payload", &PcieLinkConfig::max_payload,
               {.help = "MPS: most data bytes of a write or completion TLP.",
                .min = Bytes{64},
                .max = Bytes{4096},
                .from = Provenance::measured,
                .source = "MPS 256 reproduces Gen4 x16 copies of 26.2 GB/s"})
          .key("max_read_request", &PcieLinkConfig::max_read_request,
               {.help = "MRRS: most bytes one read TLP asks for.",
                .min = Bytes{64},
                .max = Bytes{4096},
                .from = Provenance::standard,
                .source = "PCIe base specification, default 512 B"})
          .key("request_overhead", &PcieLinkConfig::request_overhead,
               {.help = "Framing, data-link and header bytes of a request TLP, 64-bit addresses.",
                .min = Bytes{12},
                .max = Bytes{64},
                .from = Provenance::standard,
                .source = "pcie-bench/pcie-model model/pcie.py: 8 + 4 + 12 B"})
          .key("completion_overhead", &PcieLinkConfig::completion_overhead,
               {.help = "Framing, data-link and header bytes of a completion TLP.",
                .min = Bytes{12},
                .max = Bytes{64},
                .from = Provenance::standard,
                .source = "pcie-bench/pcie-model model/pcie.py: 8 + 4 + 8 B"})
          .key("dllp_overhead", &PcieLinkConfig::dllp_overhead,
               {.help = "Share of the raw rate spent on ACK, flow control and skip symbols.",
                .min = 0.0,
                .max = 0.5,
                .from = Provenance::fitted,
                .source = "Gen5 x16 host-to-device copy 56.4 GB/s against 57.6 after TLP headers"})
          .key("read_tags", &PcieLinkConfig::read_tags,
               {.help =
                    "Reads one link may have outstanding; with max_read_request it bounds reads by "
                    "latency.",
                .min = 1,
                .max = 65536,
                .from = Provenance::standard,
                .source = "PCIe base specification 4.0: 10-bit tags, 768 usable"})
          .key("one_way_latency", &PcieLinkConfig::one_way_latency,
               {.help = "PHY and link layer of both ends and the wire, one way (boundary: port).",
                .min = Femtoseconds{0},
                .max = 1000000_ns,
                .from = Provenance::derived,
                .source = "Gen5 GPU read of host DRAM 575 ns (RTX 5090) less 300 ns on the GPU and "
                          "137 ns of DRAM, two ways"})
          .key("energy", &PcieLinkConfig::energy, link_energy_key())
          .group("training", &PcieLinkConfig::training, link_training_component());
  return keys;
}

double pcie_raw_rate(std::uint32_t generation, std::uint32_t width) {
  constexpr double transfers[] = {2.5e9, 5e9, 8e9, 16e9, 32e9, 64e9};
  ensure(generation >= 1 && generation <= 6, "PCIe generation out of range");
  const double code = generation <= 2   ? 8.0 / 10.0
                      : generation <= 5 ? 128.0 / 130.0
                                        : 242.0 / 256.0;
  return transfers[generation - 1] * code * width / 8.0;
}

WireCost pcie_wire_cost(const PcieLinkConfig& config) {
  const auto payload = static_cast<double>(config.max_payload.count);
  const auto request = static_cast<double>(config.request_overhead.count);
  const double dllp = 1.0 / (1.0 - config.dllp_overhead);
  WireCost cost;
  cost.write_tx = (payload + request) / payload * dllp;
  cost.read_tx = request / static_cast<double>(config.max_read_request.count) * dllp;
  const double completion = std::min(payload, static_cast<double>(config.max_read_request.count));
  cost.read_rx =
      (completion + static_cast<double>(config.completion_overhead.count)) / completion * dllp;
  return cost;
}

namespace {
double raw_of(const PcieLinkConfig& config) {
  return pcie_raw_rate(config.generation, config.width) * config.count;
}
} // namespace

BytesPerSecond pcie_read_bound(const PcieLinkConfig& config) {
  return {raw_of(config) / pcie_wire_cost(config).read_rx};
}

Link::Options pcie_link(const PcieLinkConfig& config, std::string name) {
  Link::Options options;
  options.name = std::move(name);
  options.raw_bytes_per_second = raw_of(config);
  options.cost = pcie_wire_cost(config);
  if (config.bandwidth) // below what the wire carries, or declared an override
    options.raw_bytes_per_second = config.bandwidth->value * options.cost.read_rx;
  options.one_way = config.one_way_latency;
  options.energy = config.energy;
  options.read_window_bytes = static_cast<double>(config.read_tags) * config.count *
                              static_cast<double>(config.max_read_request.count);
  return options;
}

void check_link_bandwidth(const std::optional<BytesPerSecond>& asked, BytesPerSecond bound,
                          std::uint32_t count, const std::string& what, const std::string& pointer,
                          KeyContext& context) {
  const std::string key = pointer + "/bandwidth";
  if (!asked || *asked <= bound || context.overridden(key)) return;
  const double needed = std::ceil(asked->value / bound.value * count);
  context.fault(context.place_of(key),
                fmt::format("{} asked of {} {}, which carry at most {:.1f} GB/s of reads; expected "
                            "\"count\": {:.0f} or less bandwidth (or \"override\": true)",
                            print(*asked), count, what, bound.value / 1e9, needed));
}

const Component<PcieSwitchConfig>& pcie_switch_component() {
  static const auto keys =
      Component<PcieSwitchConfig>("switch.pcie", "PCIe switch or root complex, cut-through.")
          .key("latency", &PcieSwitchConfig::latency,
               {.help = "One traversal, port to port (boundary: port).",
                .min = Femtoseconds{0},
                .max = 1000000_ns,
                .from = Provenance::datasheet,
                .source = "Broadcom PEX88096: 105 ns"});
  return keys;
}

PcieSwitch::PcieSwitch(sc_core::sc_module_name module, const PcieSwitchConfig& config)
    : Interconnect(module), config_(config) {}

void PcieSwitch::set_route(std::uint16_t tier, std::size_t port) {
  if (tier >= port_of_tier_.size()) port_of_tier_.resize(tier + 1u, SIZE_MAX);
  port_of_tier_[tier] = port;
}

std::size_t PcieSwitch::route(const tlm::tlm_generic_payload& payload, const Burst&) {
  const auto tier = tier_of(payload.get_address());
  ensure(tier < port_of_tier_.size() && port_of_tier_[tier] != SIZE_MAX,
         "switch: no way to the tier");
  return port_of_tier_[tier];
}

void PcieSwitch::forward(const tlm::tlm_generic_payload& payload, Burst& burst) {
  burst.add_latency(Cause::link_latency, config_.latency * (payload.is_write() ? 1 : 2));
}

} // namespace umf::hw
