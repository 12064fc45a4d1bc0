#include "hw/hbm/hbm.h"

#include "model/base/quantity.h"

#include <fmt/format.h>

namespace umf::hw {

namespace {
constexpr Bytes kAccess{32}; // HBM2..3: 32 B a burst (facts: access row)
} // namespace

const Component<HbmConfig>& hbm_component() {
  static const auto keys =
      Component<HbmConfig>("tier.hbm", "Stacked DRAM beside the GPU die.")
          .key("capacity", &HbmConfig::capacity,
               {.help = "Size of all stacks together, of each GPU.",
                .min = 1_MiB,
                .max = 1024_GiB,
                .from = Provenance::datasheet,
                .source = "NVIDIA H100 SXM5 80 GB"})
          .key("standard", &HbmConfig::standard,
               {.help = "JEDEC generation; it bounds the rate of a pin.",
                .from = Provenance::datasheet,
                .source = "NVIDIA H100 SXM5: HBM3"})
          .key("stacks", &HbmConfig::stacks,
               {.help = "Stacks of 1024 bits each.",
                .min = 1,
                .max = 16,
                .from = Provenance::datasheet,
                .source = "NVIDIA H100 SXM5: 5 stacks, 5120 bits"})
          .key("bandwidth", &HbmConfig::bandwidth,
               {.help = "Peak, either direction, all stacks; none: what the standard's pins carry.",
                .min = BytesPerSecond{1e9},
                .from = Provenance::standard,
                .source = "JESD235/JESD238 pin rates"})
          .key("read_efficiency", &HbmConfig::read_efficiency,
               {.help = "Share of peak that a saturating pure read or pure write stream gets "
                        "(refresh, row misses).",
                .min = 0.01,
                .max = 1.0,
                .from = Provenance::measured,
                .source = "te42kyfo/gpu-benches gpu-stream, H100 PCIe: 1942 of 2039 GB/s"})
          .key("mix_loss", &HbmConfig::mix_loss,
               {.help = "Loss of bandwidth at one read to one write (bus turnaround); less to "
                        "either side as 4·r·(1−r).",
                .min = 0.0,
                .max = 0.9,
                .from = Provenance::measured,
                .source = "te42kyfo/gpu-benches gpu-stream, H100 PCIe scale 1R:1W 1704 against "
                          "read 1942 GB/s"})
          .key("media_latency", &HbmConfig::media_latency,
               {.help = "Unloaded read latency from the memory controller's port to the array and "
                        "back (boundary: media).",
                .min = Femtoseconds{0},
                .max = 10000_ns,
                .from = Provenance::claimed,
                .source = "umf-three-tier document: 85–110 ns"})
          .key("read_energy", &HbmConfig::read_energy,
               {.help = "A bit read: activation, array, TSVs and interface.",
                .min = PicojoulesPerBit{0},
                .max = PicojoulesPerBit{1000},
                .from = Provenance::claimed,
                .source = "O'Connor et al., MICRO-50 (2017): HBM2 3.92 pJ/bit on average; Micron's "
                          "comparison has 6.0 for HBM2E devices"})
          .key("write_energy", &HbmConfig::write_energy,
               {.help = "A bit written, likewise.",
                .min = PicojoulesPerBit{0},
                .max = PicojoulesPerBit{1000},
                .from = Provenance::derived,
                .source = "taken equal to a read: the source gives one average"});
  return keys;
}

BytesPerSecond hbm_peak(const HbmConfig& config) {
  // Fastest pin of each standard, bits a second: JESD235B, JESD235D, JESD238A, vendors' HBM3E.
  double pin = 0;
  switch (config.standard) {
  case HbmStandard::hbm2:
    pin = 2.4e9;
    break;
  case HbmStandard::hbm2e:
    pin = 3.6e9;
    break;
  case HbmStandard::hbm3:
    pin = 6.4e9;
    break;
  case HbmStandard::hbm3e:
    pin = 9.8e9;
    break;
  }
  return {config.stacks * 1024.0 / 8.0 * pin};
}

void check_hbm(const HbmConfig& config, const std::string& pointer, KeyContext& context) {
  const std::string key = pointer + "/bandwidth";
  const BytesPerSecond bound = hbm_peak(config);
  if (!config.bandwidth || *config.bandwidth <= bound || context.overridden(key)) return;
  context.fault(
      context.place_of(key),
      fmt::format("{} is more than {} stack(s) of this standard carry, expected at most {} "
                  "(or \"override\": true)",
                  print(*config.bandwidth), config.stacks, print(bound)));
}

Hbm::Hbm(sc_core::sc_module_name module, FlowClock& clock, const HbmConfig& config,
         std::string tier)
    : MediaTarget(module, clock, kAccess, {config.read_energy, config.write_energy}),
      config_(config),
      channels_(clock.add_resource(
          tier, config.bandwidth.value_or(hbm_peak(config)).value * config.read_efficiency,
          Cause::hbm_bandwidth, config.mix_loss)) {}

void Hbm::admit(const tlm::tlm_generic_payload& payload, Burst& burst) {
  burst.add_hop(channels_, 1.0);
  // Stores are posted: they wait for room in the controller, not for the array.
  if (!payload.is_write()) burst.add_latency(Cause::hbm_latency, config_.media_latency);
}

} // namespace umf::hw
