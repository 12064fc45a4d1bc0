#pragma once

#include "model/base/units.h"

#include <cstdint>

namespace umf::hw::link {

/// A generation of PCI Express, for both resolutions, PCIe and the PHY of CXL.
///
/// Gen6 has no line code. Of each flit of 256 B TLPs get 236: 6 are the flit's data link payload,
/// 8 CRC, 6 FEC (base specification 6.0, flit mode). 242 of 256, sometimes quoted, counts
/// the 6 that carry no TLPs.
struct Generation {
  std::uint64_t megatransfers;           ///< a second and lane, a bit each
  std::uint32_t code_useful, code_whole; ///< bits: 8b/10b to Gen2, 128b/130b to Gen5
  std::uint32_t tlp, flit;               ///< bytes
};
inline constexpr std::uint32_t kGenerations = 6;
/// 1 to kGenerations.
const Generation& generation(std::uint32_t number);

/// One direction of `width` lanes after the line code.
BytesPerSecond lane_rate(std::uint32_t generation, std::uint32_t width);
/// What TLPs with their headers get of that.
BytesPerSecond tlp_rate(std::uint32_t generation, std::uint32_t width);

} // namespace umf::hw::link
