#include "hw/hbm/hbm.h"

#include "model/base/quantity.h"

#include <fmt/format.h>

namespace umf::hw {

namespace {

Component<HbmConfig> stacks_component(const char* name, const char* help, const char* capacity) {
  return Component<HbmConfig>(name, help)
      .key("capacity", &HbmConfig::capacity,
           {.help = capacity,
            .min = 1_MiB,
            .max = 1024_GiB,
            .from = Provenance::datasheet,
            .source = "NVIDIA H100 SXM5 80 GB"})
      .key("standard", &HbmConfig::standard,
           {.help = "DRAM standard: one of those shipped (hbm2, hbm2e, hbm3, hbm3e), or one of "
                    "the section dram. It gives organisation and timings.",
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
           {.help = "Share of peak that a saturating read stream gets at burst resolution; "
                    "none: what line runs of the banks give, by length of a run.",
            .min = 0.01,
            .max = 1.0,
            .from = Provenance::derived,
            .source = "none: measured from line runs"})
      .key("mix_loss", &HbmConfig::mix_loss,
           {.help = "Loss of bandwidth at one read to one write (bus turnaround) at burst "
                    "resolution, less to either side as 4·r·(1−r); none: what line runs of "
                    "the banks give at each read share.",
            .min = 0.0,
            .max = 0.9,
            .from = Provenance::derived,
            .source = "none: measured from line runs"})
      .key("batch", &HbmConfig::batch,
           {.help = "Lines come to a channel (HBM: pseudo-channel) in batches of so many bytes, "
                    "which hold it as long as its pins take; loads wait behind them (M/D/1 at the "
                    "load that their own window makes), which costs rate as the memory fills. "
                    "Burst resolution; 0B: none.",
            .min = Bytes{0},
            .max = 64_KiB,
            .from = Provenance::derived,
            .source = "not known: none"})
      .key("media_latency", &HbmConfig::media_latency,
           {.help = "Unloaded read from the memory controller's port to the array and back "
                    "(boundary: media) at burst resolution; none: controller_latency and a "
                    "read of a closed bank.",
            .min = Femtoseconds{0},
            .max = 10000_ns,
            .from = Provenance::derived,
            .source = "none: measured from line runs"})
      .key("controller_latency", &HbmConfig::controller_latency,
           {.help = "Of a read, both ways: controller port to command queue and data pins to "
                    "controller port (clock crossings, PHY, ECC). Boundary: media.",
            .min = Femtoseconds{0},
            .max = 10000_ns,
            .from = Provenance::derived,
            .source = "95 ns claimed of port and array together (umf-three-tier document: "
                      "85–110 ns), less a closed-bank read of HBM3 of 33 to 35 ns"})
      .group("controller", &HbmConfig::controller, dram::controller_component())
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
}

} // namespace

const Component<HbmConfig>& hbm_component() {
  static const auto keys = stacks_component("tier.hbm", "Stacked DRAM beside the GPU die.",
                                            "Size of all stacks together, of each GPU.");
  return keys;
}

const Component<HbmConfig>& peer_component() {
  static const auto keys =
      stacks_component("tier.peer", "What another GPU lends of its stacked DRAM, behind links.",
                       "Size of what is lent.");
  return keys;
}

dram::Media hbm_media(const HbmConfig& config, std::shared_ptr<const dram::DramStandard> standard) {
  return {std::move(standard), config.stacks, config.capacity, config.bandwidth, config.controller};
}

void check_hbm(const HbmConfig& config, const dram::Media& media, const std::string& pointer,
               KeyContext& context) {
  const std::string key = pointer + "/bandwidth";
  const BytesPerSecond bound = dram::fastest(media);
  if (!config.bandwidth || *config.bandwidth <= bound || context.overridden(key)) return;
  context.fault(
      context.place_of(key),
      fmt::format("{} is more than {} stack(s) of this standard carry, expected at most {} "
                  "(or \"override\": true)",
                  print(*config.bandwidth), config.stacks, print(bound)));
}

DramFlow::Given given_of(const HbmConfig& config) {
  return {config.read_efficiency, config.mix_loss, config.media_latency, config.controller_latency};
}

namespace {
Femtoseconds batch_service(const HbmConfig& config, const dram::Media& media) {
  const auto channels =
      static_cast<double>(media.stacks) * media.standard->channels * media.standard->units;
  const double seconds =
      static_cast<double>(config.batch.count) * channels / dram::peak(media).value;
  return {static_cast<std::int64_t>(seconds * 1e15)};
}
} // namespace

Hbm::Hbm(sc_core::sc_module_name module, FlowClock& clock, const HbmConfig& config,
         const dram::Media& media, std::string tier)
    : MediaTarget(module, clock, Bytes{dram::organisation(*media.standard).access_bytes},
                  {config.read_energy, config.write_energy}),
      flow_(clock, media, given_of(config), tier, Cause::hbm_bandwidth),
      batch_service_(batch_service(config, media)) {}

void Hbm::admit(const tlm::tlm_generic_payload& payload, Burst& burst) {
  burst.add_hop(flow_.resource(), 1.0);
  // Stores are posted: they wait for room in the controller, not for the array.
  if (!payload.is_write()) burst.add_latency(Cause::hbm_latency, flow_.latency());
  if (burst.purpose == Purpose::demand_read) burst.batch_service = batch_service_;
}

} // namespace umf::hw
