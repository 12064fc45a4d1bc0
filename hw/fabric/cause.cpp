#include "hw/fabric/cause.h"

#include "model/base/error.h"

#include <algorithm>
#include <cmath>

namespace umf::hw {

std::string_view name_of(Cause cause) {
  constexpr std::array<std::string_view, kCauses> names = {
      "compute",     "hbm_bandwidth",  "hbm_latency",  "l2_fabric", "sram",      "cxl_bandwidth",
      "cxl_latency", "link_bandwidth", "link_latency", "host",      "migration", "coherence",
      "translation", "scheduler",      "launch",       "idle"};
  return names[static_cast<std::size_t>(cause)];
}

namespace {
/// Of the causes that have a share; ties go to the earlier cause.
std::size_t largest_remainder(const CauseShares& shares,
                              const std::array<double, kCauses>& remainder) {
  std::size_t largest = kCauses;
  for (std::size_t c = 0; c < kCauses; ++c)
    if (shares[c] > 0 && (largest == kCauses || remainder[c] > remainder[largest])) largest = c;
  return largest;
}
} // namespace

void CauseLedger::add(Femtoseconds duration, Cause cause) {
  time_[static_cast<std::size_t>(cause)] += duration.count;
}

void CauseLedger::add(Femtoseconds duration, const CauseShares& shares) {
  if (duration.count <= 0) return;
  double sum = 0;
  std::size_t with_share = 0, last = static_cast<std::size_t>(Cause::idle);
  for (std::size_t c = 0; c < kCauses; ++c) {
    if (shares[c] == 0) continue;
    ensure(shares[c] > 0, "cause ledger: negative share");
    sum += shares[c];
    ++with_share;
    last = c;
  }
  if (with_share < 2) {
    add(duration, static_cast<Cause>(last));
    return;
  }
  std::array<std::int64_t, kCauses> whole{};
  std::array<double, kCauses> remainder{};
  std::int64_t missing = duration.count;
  for (std::size_t c = 0; c < kCauses; ++c) {
    if (shares[c] <= 0) continue;
    const double exact = static_cast<double>(duration.count) * (shares[c] / sum);
    const double floor = std::floor(exact);
    whole[c] = static_cast<std::int64_t>(floor);
    remainder[c] = exact - floor;
    missing -= whole[c];
  }
  // Floors leave less than one femtosecond for each cause; anything else is the rounding of
  // doubles (times above 2^53 fs), which the largest part takes.
  if (missing < 0 || missing > static_cast<std::int64_t>(kCauses)) {
    *std::max_element(whole.begin(), whole.end()) += missing;
    missing = 0;
  }
  for (; missing > 0; --missing) {
    const std::size_t c = largest_remainder(shares, remainder);
    ++whole[c];
    remainder[c] -= 1.0;
  }
  for (std::size_t c = 0; c < kCauses; ++c)
    time_[c] += whole[c];
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
