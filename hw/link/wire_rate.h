#pragma once

#include "model/base/units.h"

#include <cstdint>

namespace umf::hw::link {

/// How long bytes take on one direction of a link, in femtoseconds to 2^-20 of one, rounded up once
/// a transmission. Rates of PCIe are exact: a byte on Gen5 x16 takes 15869.140625 fs.
class WireRate {
public:
  /// What TLPs get of a generation (generation.h): after the line code, or flits.
  static WireRate pcie(std::uint32_t generation, std::uint32_t width);
  /// The same without what flits cost: for CXL, whose flits are counted whole.
  static WireRate lanes(std::uint32_t generation, std::uint32_t width);
  static WireRate of(BytesPerSecond rate);

  Femtoseconds time(std::uint64_t bytes) const {
    return {static_cast<std::int64_t>((bytes * byte_ + kOne - 1) / kOne)};
  }
  BytesPerSecond rate() const;
  bool operator==(const WireRate&) const = default;

private:
  static constexpr std::uint64_t kOne = std::uint64_t{1} << 20;
  std::uint64_t byte_ = kOne; ///< femtoseconds of a byte, times kOne
};

} // namespace umf::hw::link
