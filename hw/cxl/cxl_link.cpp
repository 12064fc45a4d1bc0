#include "hw/cxl/cxl_link.h"

#include "hw/fabric/energy_keys.h"
#include "hw/pcie/pcie.h"

#include <algorithm>

namespace umf::hw {

const Component<CxlLinkConfig>& cxl_link_component() {
  static const auto keys =
      Component<CxlLinkConfig>("link.cxl", "CXL.mem link on a PCIe PHY, full duplex.")
          .key("from", &CxlLinkConfig::from,
               {.help = "Upstream end: gpu0, gpu1, … or a switch.", .required = true})
          .key("to", &CxlLinkConfig::to,
               {.help = "Downstream end: a switch or a tier.", .required = true})
          .key("generation", &CxlLinkConfig::generation,
               {.help = "PCIe generation of the PHY.",
                .min = 3,
                .max = 6,
                .from = Provenance::standard,
                .source = "CXL 2.0 on PCIe Gen5"})
          .key("width", &CxlLinkConfig::width,
               {.help = "Lanes of one link.",
                .min = 1,
                .max = 32,
                .from = Provenance::claimed,
                .source = "umf-three-tier document: x16"})
          .key("count", &CxlLinkConfig::count,
               {.help = "Parallel links of this kind between the two ends.",
                .min = 1,
                .max = 64,
                .from = Provenance::derived,
                .source = "one"})
          .key("flit", &CxlLinkConfig::flit,
               {.help = "Flit size.", .from = Provenance::standard, .source = "CXL 2.0: 68 B"})
          .key("bandwidth", &CxlLinkConfig::bandwidth,
               {.help =
                    "Payload rate asked of all parallel links, one direction; an error when they "
                    "cannot carry it. None: what they carry.",
                .min = BytesPerSecond{1e6},
                .from = Provenance::standard,
                .source = "PCIe base specification rates"})
          .key("one_way_latency", &CxlLinkConfig::one_way_latency,
               {.help = "PHY and link layer of both ends and the wire, one way (boundary: port).",
                .min = Femtoseconds{0},
                .max = 1000000_ns,
                .from = Provenance::derived,
                .source = "CXL.mem round trip through one port pair of about 50 ns, half each way"})
          .key("outstanding_reads", &CxlLinkConfig::outstanding_reads,
               {.help = "64 B reads one link may have outstanding; bounds reads by latency.",
                .min = 1,
                .max = 65536,
                .from = Provenance::derived,
                .source = "covers 52.7 GB/s over 1.2 µs; the 16-bit tag allows more"})
          .key("energy", &CxlLinkConfig::energy, link_energy_key())
          .group("training", &CxlLinkConfig::training, link_training_component());
  return keys;
}

WireCost cxl_wire_cost(Flit flit) {
  constexpr double slot = 16.0, line = 64.0;
  const double framing = flit == Flit::b68 ? 68.0 / 64.0 : 256.0 / 240.0;
  const auto slots = [&](double count) { return count * slot * framing / line; };
  WireCost cost;
  cost.read_tx = slots(1.0);
  cost.read_rx = slots(4.5);
  cost.write_tx = slots(5.0);
  cost.write_rx = slots(0.5);
  return cost;
}

namespace {
double raw_of(const CxlLinkConfig& config) {
  return pcie_raw_rate(config.generation, config.width) * config.count;
}
} // namespace

BytesPerSecond cxl_read_bound(const CxlLinkConfig& config) {
  return {raw_of(config) / cxl_wire_cost(config.flit).read_rx};
}

Link::Options cxl_link(const CxlLinkConfig& config, std::string name) {
  Link::Options options;
  options.name = std::move(name);
  options.cost = cxl_wire_cost(config.flit);
  options.raw_bytes_per_second = raw_of(config);
  if (config.bandwidth)
    options.raw_bytes_per_second = config.bandwidth->value * options.cost.read_rx;
  options.one_way = config.one_way_latency;
  options.energy = config.energy;
  options.posted_writes = false; // every M2S write is answered by an NDR
  options.read_window_bytes = 64.0 * config.outstanding_reads * config.count;
  return options;
}

} // namespace umf::hw
