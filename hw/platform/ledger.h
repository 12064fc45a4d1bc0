#pragma once

#include "hw/platform/platform.h"
#include "hw/platform/replay.h"

#include <cstdint>
#include <string>
#include <vector>

namespace umf::hw {

/// One proof: two figures counted in different places that must be equal.
struct LedgerCheck {
  std::string name;
  std::uint64_t left = 0, right = 0;
  bool ok() const { return left == right; }
};

/// Rule 6: what every run proves, in integers, before it reports anything.
std::vector<LedgerCheck> balance(const Platform& platform, const ReplayTotals& totals,
                                 Femtoseconds makespan);

bool balanced(const std::vector<LedgerCheck>& checks);

} // namespace umf::hw
