#include "hw/link/nvlink.h"

#include "hw/link/link_keys.h"

namespace umf::hw::link {

const Component<NvlinkConfig>& nvlink_component() {
  static const auto keys =
      Component<NvlinkConfig>("line.nvlink", "NVLinks between two GPUs at line resolution.")
          .key("links", &NvlinkConfig::links, nvlink_count_key())
          .key("lanes", &NvlinkConfig::lanes,
               {.help = "Lanes of a link, each direction.",
                .min = 1,
                .max = 16,
                .from = Provenance::datasheet,
                .source = "NVIDIA A100: 4"})
          .key("lane_rate", &NvlinkConfig::lane_rate,
               {.help = "Of one lane, one direction.",
                .min = BytesPerSecond{1e8},
                .max = BytesPerSecond{1e11},
                .from = Provenance::datasheet,
                .source = "NVIDIA A100: 50 Gb/s; 25 GB/s a link and direction"})
          .key("latency", &NvlinkConfig::latency, nvlink_latency_key())
          .key("overhead", &NvlinkConfig::overhead, nvlink_overhead_key())
          .key("packet_credits", &NvlinkConfig::packet_credits,
               {.help = "Packets of a kind a receiver has room for.",
                .min = 1,
                .max = 65535,
                .from = Provenance::derived,
                .source = "twice a round trip"})
          .key("control_wait", &NvlinkConfig::control_wait,
               {.help =
                    "The longest that acknowledgements and credits wait for a packet to ride on.",
                .min = Femtoseconds{0},
                .max = 1000000_ns,
                .from = Provenance::derived,
                .source = "a round trip"})
          .key("replay_buffer", &NvlinkConfig::replay_buffer,
               {.help = "Bytes sent and not yet acknowledged.",
                .min = Bytes{512},
                .max = 1_MiB,
                .from = Provenance::derived,
                .source = "twice a round trip"})
          .key("bit_error_rate", &NvlinkConfig::bit_error_rate,
               {.help = "Of packets on the wire.",
                .min = 0.0,
                .max = 1e-4,
                .from = Provenance::derived,
                .source = "none"});
  return keys;
}

LinkOptions link_options(const NvlinkConfig& config, std::string name) {
  LinkOptions options;
  options.name = std::move(name);
  options.rate = WireRate::of({config.lane_rate.value * config.lanes});
  options.latency = config.latency;
  options.overhead.fill(static_cast<std::uint32_t>(config.overhead.count));
  options.credits.fill({config.packet_credits, 0});
  options.ordered = false;
  options.control_bytes = 0;
  options.ack_every = options.update_every = 16;
  options.control_wait = config.control_wait;
  options.replay_buffer = config.replay_buffer.count;
  options.bit_error_rate = config.bit_error_rate;
  return options;
}

} // namespace umf::hw::link
