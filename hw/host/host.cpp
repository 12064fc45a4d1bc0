#include "hw/host/host.h"

#include "hw/fabric/energy_keys.h"

namespace umf::hw {

namespace {
constexpr Bytes kLine{64};
} // namespace

const Component<HostConfig>& host_component() {
  static const auto keys =
      Component<HostConfig>("tier.host", "Host DRAM behind the root complex.")
          .key("capacity", &HostConfig::capacity,
               {.help = "Size of host memory that copies may use.",
                .min = 1_MiB,
                .from = Provenance::derived,
                .source = "a two-socket server"})
          .key("channels", &HostConfig::channels,
               {.help = "DDR channels of the socket the GPU hangs on.",
                .min = 1,
                .max = 64,
                .from = Provenance::datasheet,
                .source = "4th Gen Xeon Scalable: 8 channels DDR5-4800"})
          .key("channel_bandwidth", &HostConfig::channel_bandwidth,
               {.help = "Peak of one channel, either direction.",
                .min = BytesPerSecond{1e9},
                .from = Provenance::standard,
                .source = "JESD79-5: DDR5-4800, 64 bits"})
          .key("efficiency", &HostConfig::efficiency,
               {.help = "Share of peak a read stream gets.",
                .min = 0.01,
                .max = 1.0,
                .from = Provenance::measured,
                .source = "DDR5-4800, 8 channels: 87 % read (HW047)"})
          .key("media_latency", &HostConfig::media_latency,
               {.help = "Unloaded read latency from the root complex to DRAM and back (boundary: "
                        "media).",
                .min = Femtoseconds{0},
                .max = 10000_ns,
                .from = Provenance::measured,
                .source = "lmbench, local DDR: 137 ns (CXL-DMSim figures)"})
          .key("read_energy", &HostConfig::read_energy, ddr5_read_energy_key())
          .key("write_energy", &HostConfig::write_energy, write_energy_key());
  return keys;
}

Host::Host(sc_core::sc_module_name module, FlowClock& clock, const HostConfig& config,
           std::string tier)
    : MediaTarget(module, clock, kLine, {config.read_energy, config.write_energy}), config_(config),
      channels_(clock.add_resource(
          tier, config.channels * config.channel_bandwidth.value * config.efficiency,
          Cause::host)) {}

void Host::admit(const tlm::tlm_generic_payload& payload, Burst& burst) {
  burst.add_hop(channels_, 1.0);
  if (!payload.is_write()) burst.add_latency(Cause::host, config_.media_latency);
}

} // namespace umf::hw
