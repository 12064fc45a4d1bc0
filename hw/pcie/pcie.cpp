#include "hw/pcie/pcie.h"

#include "hw/fabric/energy_keys.h"
#include "hw/link/link_keys.h"
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
          .key("generation", &PcieLinkConfig::generation, link::generation_key())
          .key("width", &PcieLinkConfig::width, link::width_key())
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
          .key("max_payload", &PcieLinkConfig::max_payload, link::max_payload_key())
          .key("max_read_request", &PcieLinkConfig::max_read_request, link::max_read_request_key())
          .key("request_overhead", &PcieLinkConfig::request_overhead, link::request_overhead_key())
          .key("completion_overhead", &PcieLinkConfig::completion_overhead,
               link::completion_overhead_key())
          .key("ack_every", &PcieLinkConfig::ack_every, link::ack_every_key())
          .key("update_every", &PcieLinkConfig::update_every, link::update_every_key())
          .key("skip_interval", &PcieLinkConfig::skip_interval, link::skip_interval_key())
          .key("read_tags", &PcieLinkConfig::read_tags, link::read_tags_key())
          .key("one_way_latency", &PcieLinkConfig::one_way_latency, link::pcie_latency_key())
          .key("energy", &PcieLinkConfig::energy, link_energy_key())
          .group("training", &PcieLinkConfig::training, link_training_component());
  return keys;
}

link::PcieConfig line_of(const PcieLinkConfig& config) {
  link::PcieConfig line;
  line.generation = config.generation;
  line.width = config.width;
  line.latency = config.one_way_latency;
  line.request_overhead = config.request_overhead;
  line.completion_overhead = config.completion_overhead;
  line.ack_every = config.ack_every;
  line.update_every = config.update_every;
  line.skip_interval = config.skip_interval;
  line.recovery = config.training.recovery;
  return line;
}

link::RequesterConfig requester_of(const PcieLinkConfig& config) {
  link::RequesterConfig requester;
  requester.max_payload = config.max_payload;
  requester.max_read_request = config.max_read_request;
  requester.read_tags = config.read_tags * config.count;
  return requester;
}

link::WireCost pcie_wire_cost(const PcieLinkConfig& config, double bytes) {
  return pcie_link(config, {}).shape.cost(bytes);
}

BytesPerSecond pcie_read_bound(const PcieLinkConfig& config) {
  PcieLinkConfig unasked = config;
  unasked.bandwidth.reset();
  const Link::Options options = pcie_link(unasked, {});
  return {options.raw_bytes_per_second / options.shape.cost().read_rx};
}

Link::Options pcie_link(const PcieLinkConfig& config, std::string name) {
  const link::LinkOptions line = link::link_options(line_of(config), name);
  Link::Options options;
  options.name = std::move(name);
  options.raw_bytes_per_second = link::sustained_rate(line).value * config.count;
  options.shape = link::wire_shape(line, link::requester_options(requester_of(config)));
  if (config.bandwidth) // below what the wire carries, or declared an override
    options.raw_bytes_per_second = config.bandwidth->value * options.shape.cost().read_rx;
  options.one_way = config.one_way_latency;
  const double packet =
      config.generation >= 6 ? 256 : options.shape.packet + options.shape.completion;
  options.packet_bytes = packet * config.count; // from Gen6 on flits are sent again
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
