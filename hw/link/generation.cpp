#include "hw/link/generation.h"

#include "model/base/error.h"

namespace umf::hw::link {

const Generation& generation(std::uint32_t number) {
  static constexpr Generation kAll[kGenerations] = {
      {2500, 8, 10, 1, 1},     {5000, 8, 10, 1, 1},     {8000, 128, 130, 1, 1},
      {16000, 128, 130, 1, 1}, {32000, 128, 130, 1, 1}, {64000, 1, 1, 236, 256},
  };
  ensure(number >= 1 && number <= kGenerations, "a link of no PCIe generation");
  return kAll[number - 1];
}

BytesPerSecond lane_rate(std::uint32_t number, std::uint32_t width) {
  const Generation& g = generation(number);
  return {static_cast<double>(g.megatransfers) * 1e6 * g.code_useful / g.code_whole * width / 8};
}

BytesPerSecond tlp_rate(std::uint32_t number, std::uint32_t width) {
  const Generation& g = generation(number);
  return {lane_rate(number, width).value * g.tlp / g.flit};
}

} // namespace umf::hw::link
