#pragma once

#include "model/base/units.h"

#include <array>
#include <cstdint>
#include <string_view>

/// Where time went: the causes a run's makespan is divided into.
namespace umf::hw {

enum class Cause : std::uint8_t {
  compute,
  hbm_bandwidth,
  hbm_latency,
  l2_fabric,
  sram,
  cxl_bandwidth,
  cxl_latency,
  link_bandwidth,
  link_latency,
  host,
  migration,
  coherence,
  translation,
  scheduler,
  launch,
  idle
};
inline constexpr std::size_t kCauses = static_cast<std::size_t>(Cause::idle) + 1;

std::string_view name_of(Cause cause);

/// How much each cause holds of one moment; any positive scale, all zero means none.
using CauseShares = std::array<double, kCauses>;

/// Integer time by cause: shares are rounded by largest remainder, so the sum of all
/// causes equals the time put in, exactly.
class CauseLedger {
public:
  void add(Femtoseconds duration, const CauseShares& shares);
  void add(Femtoseconds duration, Cause cause);
  Femtoseconds of(Cause cause) const { return {time_[static_cast<std::size_t>(cause)]}; }
  Femtoseconds total() const;
  CauseLedger& operator+=(const CauseLedger& other);

private:
  std::array<std::int64_t, kCauses> time_{};
};

} // namespace umf::hw
