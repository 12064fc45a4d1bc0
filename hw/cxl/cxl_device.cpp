#include "hw/cxl/cxl_device.h"

#include "hw/fabric/energy_keys.h"
#include "model/base/quantity.h"

#include <fmt/format.h>

namespace umf::hw {

namespace {
constexpr Bytes kLine{64}; // CXL.mem moves 64 B lines
} // namespace

const Component<CxlDeviceConfig>& cxl_device_component() {
  static const auto keys =
      Component<CxlDeviceConfig>("tier.cxl", "CXL type-3 memory device with DDR5 media.")
          .key("capacity", &CxlDeviceConfig::capacity,
               {.help = "Size of the device's memory.",
                .min = 1_MiB,
                .from = Provenance::claimed,
                .source = "umf-three-tier document: 256 GB pool"})
          .key("media", &CxlDeviceConfig::media,
               {.help = "DRAM behind the controller: a shipped standard (ddr5-4800, ddr5-5600, "
                        "ddr5-6400), or one of the section dram.",
                .from = Provenance::claimed,
                .source = "umf-three-tier document: DDR5-6400"})
          .key("channels", &CxlDeviceConfig::channels,
               {.help = "64-bit DDR5 channels (two 32-bit sub-channels each).",
                .min = 1,
                .max = 64,
                .from = Provenance::derived,
                .source = "400 GB/s needs 8 channels of DDR5-6400 at 51.2 GB/s"})
          .key("bandwidth", &CxlDeviceConfig::bandwidth,
               {.help = "Media bandwidth asked for; none: what the channels carry.",
                .min = BytesPerSecond{1e9},
                .from = Provenance::standard,
                .source = "JESD79-5 rates"})
          .key("efficiency", &CxlDeviceConfig::efficiency,
               {.help = "Share of the channels' peak that a read stream gets at burst resolution; "
                        "none: what line runs of the banks give, by length of a run.",
                .min = 0.01,
                .max = 1.0,
                .from = Provenance::derived,
                .source = "none: measured from line runs"})
          .key("mix_loss", &CxlDeviceConfig::mix_loss,
               {.help = "Loss of media bandwidth at one read to one write at burst resolution; "
                        "none: what line runs of the banks give at each read share.",
                .min = 0.0,
                .max = 0.9,
                .from = Provenance::derived,
                .source = "none: measured from line runs"})
          .key("controller_latency", &CxlDeviceConfig::controller_latency,
               {.help = "Link layer to media and back inside the device, media excluded (boundary: "
                        "port).",
                .min = Femtoseconds{0},
                .max = 100000_ns,
                .from = Provenance::derived,
                .source =
                    "device 107.4 ns unloaded at the host port (Mess, manufacturer model) less "
                    "45 ns of DDR5 array"})
          .key("queue_latency", &CxlDeviceConfig::queue_latency,
               {.help = "Of a read, both ways, between the device's controller and the DRAM's pins "
                        "(boundary: media).",
                .min = Femtoseconds{0},
                .max = 10000_ns,
                .from = Provenance::derived,
                .source = "45 ns of DDR5 at the device's controller less a closed-bank read of "
                          "DDR5-6400 of 31 ns"})
          .key("media_latency", &CxlDeviceConfig::media_latency,
               {.help = "Unloaded read of the DDR5 array (boundary: media) at burst resolution; "
                        "none: queue_latency and a read of a closed bank.",
                .min = Femtoseconds{0},
                .max = 10000_ns,
                .from = Provenance::derived,
                .source = "none: measured from line runs"})
          .group("controller", &CxlDeviceConfig::controller, dram::controller_component())
          .key("read_energy", &CxlDeviceConfig::read_energy, ddr5_read_energy_key())
          .key("write_energy", &CxlDeviceConfig::write_energy, write_energy_key())
          .key("behind", &CxlDeviceConfig::behind,
               {.help = "Name of the switch or root complex it must hang on; checked against the "
                        "links.",
                .from = Provenance::derived,
                .source = "none: not checked"});
  return keys;
}

dram::Media cxl_media(const CxlDeviceConfig& config,
                      std::shared_ptr<const dram::DramStandard> standard) {
  return {std::move(standard), config.channels, config.capacity, config.bandwidth,
          config.controller};
}

void check_cxl_device(const CxlDeviceConfig& config, const dram::Media& media,
                      const std::string& pointer, KeyContext& context) {
  const std::string key = pointer + "/bandwidth";
  const BytesPerSecond bound = dram::fastest(media);
  if (!config.bandwidth || *config.bandwidth <= bound || context.overridden(key)) return;
  context.fault(
      context.place_of(key),
      fmt::format("{} is more than {} channel(s) of this media carry, expected at most {} "
                  "(or \"override\": true)",
                  print(*config.bandwidth), config.channels, print(bound)));
}

DramFlow::Given given_of(const CxlDeviceConfig& config) {
  return {config.efficiency, config.mix_loss, config.media_latency, config.queue_latency};
}

CxlDevice::CxlDevice(sc_core::sc_module_name module, FlowClock& clock,
                     const CxlDeviceConfig& config, const dram::Media& media, std::string tier)
    : MediaTarget(module, clock, kLine, {config.read_energy, config.write_energy}),
      controller_latency_(config.controller_latency),
      flow_(clock, media, given_of(config), tier, Cause::cxl_bandwidth) {}

void CxlDevice::admit(const tlm::tlm_generic_payload& payload, Burst& burst) {
  burst.add_hop(flow_.resource(), 1.0);
  burst.add_latency(Cause::cxl_latency, controller_latency_);
  burst.above_media = controller_latency_.count;
  if (!payload.is_write()) burst.add_latency(Cause::cxl_latency, flow_.latency());
}

} // namespace umf::hw
