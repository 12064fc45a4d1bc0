#include "hw/nvlink/nvlink_link.h"

#include "hw/fabric/energy_keys.h"

namespace umf::hw {

const Component<NvlinkLinkConfig>& nvlink_link_component() {
  using C = NvlinkLinkConfig;
  static const auto keys =
      Component<C>("link.nvlink", "NVLinks between a GPU and memory of another, full duplex.")
          .key("from", &C::from, {.help = "Upstream end: gpu0, gpu1, …", .required = true})
          .key("to", &C::to, {.help = "Downstream end: a tier of kind peer.", .required = true})
          .key("count", &C::count,
               {.help = "Links between the two ends; addresses are spread over them.",
                .min = 1,
                .max = 64,
                .from = Provenance::datasheet,
                .source = "NVIDIA H100: 18; A100: 12"})
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
          .key("overhead", &C::overhead,
               {.help = "Header, CRC and address bytes of a packet.",
                .min = Bytes{0},
                .max = Bytes{128},
                .from = Provenance::fitted,
                .source = "HW108 and HW113: 274 of 300 GB/s with 256 B, 20 of 25 GB/s with 128 B; "
                          "whole flits of 16 B"})
          .key("one_way_latency", &C::one_way_latency,
               {.help = "PHY, link layer and wire, one way (boundary: port).",
                .min = Femtoseconds{0},
                .max = 1000000_ns,
                .from = Provenance::derived,
                .source = "below 1 µs for small messages (umf documents); no measurement without a "
                          "launch found"})
          .key("outstanding_reads", &C::outstanding_reads,
               {.help = "Packets of reads one link may have outstanding; bounds reads by latency.",
                .min = 1,
                .max = 65536,
                .from = Provenance::derived,
                .source = "covers 25 GB/s over 5 µs"})
          .key("energy", &C::energy, link_energy_key());
  return keys;
}

WireCost nvlink_wire_cost(const NvlinkLinkConfig& config) {
  const auto payload = static_cast<double>(config.payload.count);
  const auto overhead = static_cast<double>(config.overhead.count);
  WireCost cost;
  cost.read_tx = overhead / payload;
  cost.read_rx = cost.write_tx = (payload + overhead) / payload;
  return cost;
}

namespace {
double raw_of(const NvlinkLinkConfig& config) {
  return config.link_bandwidth.value * config.count;
}
} // namespace

BytesPerSecond nvlink_read_bound(const NvlinkLinkConfig& config) {
  return {raw_of(config) / nvlink_wire_cost(config).read_rx};
}

Link::Options nvlink_link(const NvlinkLinkConfig& config, std::string name) {
  Link::Options options;
  options.name = std::move(name);
  options.raw_bytes_per_second = raw_of(config);
  options.cost = nvlink_wire_cost(config);
  options.one_way = config.one_way_latency;
  options.energy = config.energy;
  options.read_window_bytes = static_cast<double>(config.outstanding_reads) * config.count *
                              static_cast<double>(config.payload.count);
  return options;
}

} // namespace umf::hw
