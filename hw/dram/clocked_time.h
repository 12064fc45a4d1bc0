#pragma once

#include "hw/dram/timings.h"
#include "model/base/key_codec.h"

#include <string>
#include <string_view>

namespace umf::hw::dram {

/// A minimum as JEDEC's tables write it: "14ns", "4nCK", or the longer of both, "max(4nCK, 7.5ns)".
struct ClockedTime {
  Cycle clocks = 0;
  Femtoseconds time{};
  bool operator==(const ClockedTime&) const = default;
};

/// Whole clocks that are not shorter than `least`: exact, never rounded to nearest.
constexpr Cycle cycles(ClockedTime least, Femtoseconds clock) {
  const Cycle whole = least.time.count / clock.count;
  const Cycle up = whole + (least.time.count % clock.count != 0 ? 1 : 0);
  return least.clocks > up ? least.clocks : up;
}

/// The same before rounding up to clocks.
constexpr Femtoseconds duration(ClockedTime least, Femtoseconds clock) {
  const Femtoseconds counted = clock * least.clocks;
  return counted > least.time ? counted : least.time;
}

/// Throws UserError (without place).
ClockedTime parse_clocked_time(std::string_view text);
std::string print(ClockedTime least);

} // namespace umf::hw::dram

namespace umf {

/// A key that takes clocks, a time, or the longer of both.
template <>
struct LeafCodec<hw::dram::ClockedTime> {
  static KeyType type();
  static hw::dram::ClockedTime from(const JsonValue& value);
  static std::string print(hw::dram::ClockedTime value) { return hw::dram::print(value); }
  static std::string json(hw::dram::ClockedTime value) { return text_json(print(value)); }
};

} // namespace umf
