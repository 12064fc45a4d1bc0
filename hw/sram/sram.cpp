#include "hw/sram/sram.h"

#include "hw/fabric/energy_keys.h"
#include "hw/fabric/interconnect.h"

#include <cmath>

namespace umf::hw {

const Component<SramConfig>& sram_component() {
  static const auto keys =
      Component<SramConfig>("tier.sram", "Static memory on the GPU die, behind the L2.")
          .key("capacity", &SramConfig::capacity,
               {.help = "Size of all banks together, of each GPU.",
                .min = 4_KiB,
                .max = 16_GiB,
                .from = Provenance::claimed,
                .source = "umf-three-tier document, table 1: 48 MB"})
          .key("banks", &SramConfig::banks,
               {.help = "Banks that work at once; consecutive words lie in consecutive banks.",
                .min = 1,
                .max = 65536,
                .from = Provenance::derived,
                .source = "12.8 TB/s as 100 banks × 64 B × 2 GHz"})
          .key("bank_width", &SramConfig::bank_width,
               {.help = "Word of a bank: what one port gives or takes in a clock. A run that ends "
                        "within a word takes all of it.",
                .min = BytesPerClock{1},
                .max = BytesPerClock{4096},
                .from = Provenance::derived,
                .source = "as an L2 slice; 12.8 TB/s as 100 banks × 64 B × 2 GHz"})
          .key("clock", &SramConfig::clock,
               {.help = "Clock of the banks.",
                .min = Hertz{1e6},
                .max = Hertz{1e11},
                .from = Provenance::derived,
                .source = "12.8 TB/s as 100 banks × 64 B × 2 GHz"})
          .key("ports", &SramConfig::ports,
               {.help = "shared: a bank reads or writes a word a clock; separate: it reads one and "
                        "writes one.",
                .from = Provenance::derived,
                .source = "assumed single-ported, as dense arrays are"})
          .key("bank_latency", &SramConfig::bank_latency,
               {.help = "Unloaded read of a bank, from the request at its port to the data at its "
                        "port (boundary: media).",
                .min = Femtoseconds{0},
                .max = 10000_ns,
                .from = Provenance::claimed,
                .source = "umf-three-tier document: 3–7 ns"})
          .key("port_latency", &SramConfig::port_latency,
               {.help = "Over the die between the scheduler's port and a bank's, one way; a read "
                        "comes back too (boundary: port).",
                .min = Femtoseconds{0},
                .max = 10000_ns,
                .from = Provenance::derived,
                .source = "zero: gpu.l2.miss_latency includes the way to a tier's port"})
          .key("read_energy", &SramConfig::read_energy,
               {.help = "A bit read: array and wires to the scheduler's port.",
                .min = PicojoulesPerBit{0},
                .max = PicojoulesPerBit{1000},
                .from = Provenance::derived,
                .source = "assumed: megabyte arrays take tenths of a picojoule a bit, and as much "
                          "again for millimetres of wire"})
          .key("write_energy", &SramConfig::write_energy, write_energy_key());
  return keys;
}

BytesPerSecond sram_peak(const SramConfig& config) {
  return {config.banks * config.bank_width.value * config.clock.value};
}

namespace {
Bytes word_of(const SramConfig& config) {
  return {static_cast<std::uint64_t>(std::ceil(config.bank_width.value))};
}
} // namespace

Sram::Sram(sc_core::sc_module_name module, FlowClock& clock, const SramConfig& config,
           std::string tier)
    : MediaTarget(module, clock, word_of(config), {config.read_energy, config.write_energy}),
      config_(config) {
  const double peak = sram_peak(config).value;
  if (config.ports == SramPorts::shared) {
    reads_ = writes_ = clock.add_resource(tier, peak, Cause::sram);
  } else {
    reads_ = clock.add_resource(tier + ".read", peak, Cause::sram);
    writes_ = clock.add_resource(tier + ".write", peak, Cause::sram);
  }
}

std::vector<ResourceId> Sram::media() const {
  if (reads_ == writes_) return {reads_};
  return {reads_, writes_};
}

void Sram::admit(const tlm::tlm_generic_payload& payload, Burst& burst) {
  const std::uint64_t word = word_of(config_).count;
  const std::uint64_t begin = payload.get_address() % (std::uint64_t{1} << kTierShift);
  const std::uint64_t end = begin + payload.get_data_length();
  const std::uint64_t words = (end + word - 1) / word - begin / word;
  const double taken =
      static_cast<double>(words * word) / static_cast<double>(payload.get_data_length());
  const bool write = payload.is_write();
  burst.add_hop(write ? writes_ : reads_, taken);
  const Femtoseconds way = config_.port_latency * (write ? 1 : 2);
  burst.add_latency(Cause::sram, way);
  burst.above_media = way.count;
  // Stores are posted: they wait for a turn at the bank, not for its array.
  if (!write) burst.add_latency(Cause::sram, config_.bank_latency);
}

} // namespace umf::hw
