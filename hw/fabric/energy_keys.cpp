#include "hw/fabric/energy_keys.h"

namespace umf::hw {

namespace {
constexpr PicojoulesPerBit kMost{1000};
} // namespace

KeyOptions<PicojoulesPerBit> ddr5_read_energy_key() {
  return {.help = "A bit read from the DDR5: activation, array and interface.",
          .min = PicojoulesPerBit{0},
          .max = kMost,
          .from = Provenance::derived,
          .source = "no measurement found: middle of the 10–20 pJ/bit usual for DDR5 modules with "
                    "their interface"};
}

KeyOptions<PicojoulesPerBit> write_energy_key() {
  return {.help = "A bit written, likewise.",
          .min = PicojoulesPerBit{0},
          .max = kMost,
          .from = Provenance::derived,
          .source = "taken equal to a read"};
}

KeyOptions<PicojoulesPerBit> link_energy_key() {
  return {.help = "A bit on the wire, protocol bits too, both ends' PHYs together.",
          .min = PicojoulesPerBit{0},
          .max = kMost,
          .from = Provenance::claimed,
          .source =
              "published comparison with NVLink-C2C: 5.5 pJ/bit for board SerDes against 1.3; "
              "controllers and switches are not in it"};
}

} // namespace umf::hw
