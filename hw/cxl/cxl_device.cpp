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
               {.help = "DRAM behind the controller.",
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
               {.help = "Share of the channels' peak that a read stream gets.",
                .min = 0.01,
                .max = 1.0,
                .from = Provenance::measured,
                .source = "DDR5-4800, 8 channels: 87 % read (HW047)"})
          .key("mix_loss", &CxlDeviceConfig::mix_loss,
               {.help = "Loss of media bandwidth at one read to one write.",
                .min = 0.0,
                .max = 0.9,
                .from = Provenance::measured,
                .source = "DDR5-4800, 8 channels: 77 % at 50:50 against 87 % (HW047-049)"})
          .key("controller_latency", &CxlDeviceConfig::controller_latency,
               {.help = "Link layer to media and back inside the device, media excluded (boundary: "
                        "port).",
                .min = Femtoseconds{0},
                .max = 100000_ns,
                .from = Provenance::derived,
                .source =
                    "device 107.4 ns unloaded at the host port (Mess, manufacturer model) less "
                    "45 ns of DDR5 array"})
          .key("media_latency", &CxlDeviceConfig::media_latency,
               {.help = "Closed-bank read of the DDR5 array (boundary: media).",
                .min = Femtoseconds{0},
                .max = 10000_ns,
                .from = Provenance::derived,
                .source = "JESD79-5 DDR5-6400AN: tRCD 46 + CL 46 + BL/2 8 at 312.5 ps, plus "
                          "controller queue 14 ns"})
          .key("read_energy", &CxlDeviceConfig::read_energy, ddr5_read_energy_key())
          .key("write_energy", &CxlDeviceConfig::write_energy, write_energy_key())
          .key("behind", &CxlDeviceConfig::behind,
               {.help = "Name of the switch or root complex it must hang on; checked against the "
                        "links.",
                .from = Provenance::derived,
                .source = "none: not checked"});
  return keys;
}

BytesPerSecond cxl_media_peak(const CxlDeviceConfig& config) {
  double transfers = 0;
  switch (config.media) {
  case DdrStandard::ddr5_4800:
    transfers = 4.8e9;
    break;
  case DdrStandard::ddr5_5600:
    transfers = 5.6e9;
    break;
  case DdrStandard::ddr5_6400:
    transfers = 6.4e9;
    break;
  }
  return {config.channels * 8.0 * transfers};
}

void check_cxl_device(const CxlDeviceConfig& config, const std::string& pointer,
                      KeyContext& context) {
  const std::string key = pointer + "/bandwidth";
  const BytesPerSecond bound = cxl_media_peak(config);
  if (!config.bandwidth || *config.bandwidth <= bound || context.overridden(key)) return;
  context.fault(
      context.place_of(key),
      fmt::format("{} is more than {} channel(s) of this media carry, expected at most {} "
                  "(or \"override\": true)",
                  print(*config.bandwidth), config.channels, print(bound)));
}

CxlDevice::CxlDevice(sc_core::sc_module_name module, FlowClock& clock,
                     const CxlDeviceConfig& config, std::string tier)
    : MediaTarget(module, clock, kLine, {config.read_energy, config.write_energy}), config_(config),
      channels_(clock.add_resource(
          tier, config.bandwidth.value_or(cxl_media_peak(config)).value * config.efficiency,
          Cause::cxl_bandwidth, config.mix_loss)) {}

void CxlDevice::admit(const tlm::tlm_generic_payload& payload, Burst& burst) {
  burst.add_hop(channels_, 1.0);
  burst.add_latency(Cause::cxl_latency, config_.controller_latency);
  burst.above_media = config_.controller_latency.count;
  if (!payload.is_write()) burst.add_latency(Cause::cxl_latency, config_.media_latency);
}

} // namespace umf::hw
