#include "hw/cxl/cxl_link.h"

#include "hw/fabric/energy_keys.h"
#include "hw/link/link_keys.h"

namespace umf::hw {

namespace {
constexpr Bytes kLine{64}; // CXL.mem moves 64 B lines
} // namespace

const Component<CxlLinkConfig>& cxl_link_component() {
  static const auto keys =
      Component<CxlLinkConfig>("link.cxl", "CXL.mem link on a PCIe PHY, full duplex.")
          .key("from", &CxlLinkConfig::from,
               {.help = "Upstream end: gpu0, gpu1, … or a switch.", .required = true})
          .key("to", &CxlLinkConfig::to,
               {.help = "Downstream end: a switch or a tier.", .required = true})
          .key("generation", &CxlLinkConfig::generation, link::cxl_generation_key())
          .key("width", &CxlLinkConfig::width, link::cxl_width_key())
          .key("count", &CxlLinkConfig::count,
               {.help = "Parallel links of this kind between the two ends.",
                .min = 1,
                .max = 64,
                .from = Provenance::derived,
                .source = "one"})
          .key("flit", &CxlLinkConfig::flit, link::flit_key())
          .key("bandwidth", &CxlLinkConfig::bandwidth,
               {.help =
                    "Payload rate asked of all parallel links, one direction; an error when they "
                    "cannot carry it. None: what they carry.",
                .min = BytesPerSecond{1e6},
                .from = Provenance::standard,
                .source = "PCIe base specification rates"})
          .key("one_way_latency", &CxlLinkConfig::one_way_latency, link::cxl_latency_key())
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

link::CxlConfig line_of(const CxlLinkConfig& config) {
  link::CxlConfig line;
  line.generation = config.generation;
  line.width = config.width;
  line.latency = config.one_way_latency;
  line.flit = config.flit;
  return line;
}

link::RequesterConfig requester_of(const CxlLinkConfig& config) {
  link::RequesterConfig requester;
  requester.max_payload = requester.max_read_request = kLine;
  requester.read_tags = requester.write_tags = config.outstanding_reads * config.count;
  requester.link_interleave = Bytes{256};
  return requester;
}

link::WireCost cxl_wire_cost(const CxlLinkConfig& config, double bytes) {
  return cxl_link(config, {}).shape.cost(bytes);
}

BytesPerSecond cxl_read_bound(const CxlLinkConfig& config) {
  CxlLinkConfig unasked = config;
  unasked.bandwidth.reset();
  const Link::Options options = cxl_link(unasked, {});
  return {options.raw_bytes_per_second / options.shape.cost().read_rx};
}

Link::Options cxl_link(const CxlLinkConfig& config, std::string name) {
  const link::LinkOptions line = link::link_options(line_of(config), name);
  Link::Options options;
  options.name = std::move(name);
  options.shape = link::wire_shape(line, link::requester_options(requester_of(config)));
  options.raw_bytes_per_second = link::sustained_rate(line).value * config.count;
  if (config.bandwidth)
    options.raw_bytes_per_second = config.bandwidth->value * options.shape.cost().read_rx;
  options.one_way = config.one_way_latency;
  options.packet_bytes = (line.framing == link::Framing::flits68 ? 68 : 256) * config.count;
  options.energy = config.energy;
  options.posted_writes = false; // every M2S write is answered by an NDR
  options.read_window_bytes =
      static_cast<double>(kLine.count) * config.outstanding_reads * config.count;
  return options;
}

} // namespace umf::hw
