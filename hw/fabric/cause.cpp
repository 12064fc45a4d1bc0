#include "hw/fabric/cause.h"

#include <cmath>

namespace umf::hw {

std::string_view name_of(Cause cause) {
  constexpr std::array<std::string_view, kCauses> names = {
      "compute",     "hbm_bandwidth",  "hbm_latency",  "l2_fabric", "sram",      "cxl_bandwidth",
      "cxl_latency", "link_bandwidth", "link_latency", "host",      "migration", "coherence",
      "translation", "scheduler",      "launch",       "idle"};
  return names[static_cast<std::size_t>(cause)];
}

void CauseLedger::add(Femtoseconds duration, Cause cause) {
  time_[static_cast<std::size_t>(cause)] += duration.count;
}

void CauseLedger::add(Femtoseconds duration, const CauseShares& shares) {
  if (duration.count <= 0) return;
  double sum = 0;
  for (const double share : shares)
    sum += share;
  if (sum <= 0) {
    add(duration, Cause::idle);
    return;
  }
  std::array<double, kCauses> remainder{};
  std::int64_t given = 0;
  for (std::size_t c = 0; c < kCauses; ++c) {
    const double exact = static_cast<double>(duration.count) * (shares[c] / sum);
    const auto whole = static_cast<std::int64_t>(std::floor(exact));
    remainder[c] = shares[c] > 0 ? exact - static_cast<double>(whole) : -1.0;
    time_[c] += whole;
    given += whole;
  }
  for (; given < duration.count; ++given) {
    std::size_t largest = 0;
    for (std::size_t c = 1; c < kCauses; ++c)
      if (remainder[c] > remainder[largest]) largest = c;
    ++time_[largest];
    remainder[largest] -= 1.0;
  }
  for (; given > duration.count; --given) { // rounding of doubles may overshoot by one
    std::size_t smallest = kCauses;
    for (std::size_t c = 0; c < kCauses; ++c)
      if (shares[c] > 0 && time_[c] > 0 &&
          (smallest == kCauses || remainder[c] < remainder[smallest]))
        smallest = c;
    --time_[smallest];
    remainder[smallest] += 1.0;
  }
}

Femtoseconds CauseLedger::total() const {
  std::int64_t sum = 0;
  for (const auto t : time_)
    sum += t;
  return {sum};
}

CauseLedger& CauseLedger::operator+=(const CauseLedger& other) {
  for (std::size_t c = 0; c < kCauses; ++c)
    time_[c] += other.time_[c];
  return *this;
}

} // namespace umf::hw
