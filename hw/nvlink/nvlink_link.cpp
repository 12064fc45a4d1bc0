#include "hw/nvlink/nvlink_link.h"

#include "hw/fabric/energy_keys.h"
#include "hw/link/link_keys.h"

namespace umf::hw {

const Component<NvlinkLinkConfig>& nvlink_link_component() {
  using C = NvlinkLinkConfig;
  static const auto keys =
      Component<C>("link.nvlink", "NVLinks between a GPU and memory of another, full duplex.")
          .key("from", &C::from, {.help = "Upstream end: gpu0, gpu1, …", .required = true})
          .key("to", &C::to, {.help = "Downstream end: a tier of kind peer.", .required = true})
          .key("count", &C::count, link::nvlink_count_key())
          .key("link_bandwidth", &C::link_bandwidth,
               {.help = "Raw rate of one link, one direction.",
                .min = BytesPerSecond{1e8},
                .max = BytesPerSecond{1e12},
                .from = Provenance::datasheet,
                .source = "NVIDIA A100, H100: 25 GB/s a link and direction"})
          .key("payload", &C::payload,
               {.help = "Data bytes of a packet.",
                .min = Bytes{16},
                .max = Bytes{256},
                .from = Provenance::claimed,
                .source = "nccl-tests issue 149: 128 B from SMs, 256 B from copy engines"})
          .key("overhead", &C::overhead, link::nvlink_overhead_key())
          .key("one_way_latency", &C::one_way_latency, link::nvlink_latency_key())
          .key("outstanding_reads", &C::outstanding_reads,
               {.help = "Packets of reads one link may have outstanding; bounds reads by latency.",
                .min = 1,
                .max = 65536,
                .from = Provenance::derived,
                .source = "covers 25 GB/s over 5 µs"})
          .key("energy", &C::energy, link_energy_key());
  return keys;
}

link::NvlinkConfig line_of(const NvlinkLinkConfig& config) {
  link::NvlinkConfig line;
  line.links = config.count;
  line.lane_rate = {config.link_bandwidth.value / line.lanes};
  line.latency = config.one_way_latency;
  line.overhead = config.overhead;
  return line;
}

link::RequesterConfig requester_of(const NvlinkLinkConfig& config) {
  link::RequesterConfig requester;
  requester.max_payload = requester.max_read_request = config.payload;
  requester.read_tags = config.outstanding_reads * config.count;
  requester.link_interleave = Bytes{256};
  return requester;
}

link::WireCost nvlink_wire_cost(const NvlinkLinkConfig& config, double bytes) {
  return nvlink_link(config, {}).shape.cost(bytes);
}

BytesPerSecond nvlink_read_bound(const NvlinkLinkConfig& config) {
  const Link::Options options = nvlink_link(config, {});
  return {options.raw_bytes_per_second / options.shape.cost().read_rx};
}

Link::Options nvlink_link(const NvlinkLinkConfig& config, std::string name) {
  const link::LinkOptions line = link::link_options(line_of(config), name);
  Link::Options options;
  options.name = std::move(name);
  options.raw_bytes_per_second = config.link_bandwidth.value * config.count;
  options.shape = link::wire_shape(line, link::requester_options(requester_of(config)));
  options.one_way = config.one_way_latency;
  options.energy = config.energy;
  options.read_window_bytes = static_cast<double>(config.outstanding_reads) * config.count *
                              static_cast<double>(config.payload.count);
  return options;
}

} // namespace umf::hw
