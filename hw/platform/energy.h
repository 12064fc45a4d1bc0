#pragma once

#include "hw/platform/platform.h"
#include "hw/platform/replay.h"

#include <vector>

namespace umf::hw {

/// Where a run's energy was spent, in the order of the platform's tiers and links.
struct EnergySpent {
  std::vector<Femtojoules> tiers, links;
  Femtojoules compute{}, l2{}, idle{};
  /// Without idling, which runs whatever the machine does.
  Femtojoules dynamic() const;
  Femtojoules total() const { return dynamic() + idle; }
};

/// On whose account: operations pay for their arithmetic, their bytes to and from the L2, and
/// every burst sent in their name, write-backs of what they pushed out included.
struct EnergyAccounts {
  Femtojoules operations{};
  Femtojoules moves{}; ///< commands of the schedulers
  Femtojoules loose{}; ///< write-backs in the name of no operation
  Femtojoules total() const { return operations + moves + loose; }
};

EnergySpent energy_spent(const Platform& platform, Femtoseconds makespan);
EnergyAccounts energy_accounts(const Platform& platform, const ReplayTotals& totals);

} // namespace umf::hw
