#include "hw/platform/energy.h"

#include "model/energy/energy.h"

namespace umf::hw {

Femtojoules EnergySpent::dynamic() const {
  Femtojoules sum = compute + l2;
  for (const Femtojoules tier : tiers)
    sum += tier;
  for (const Femtojoules link : links)
    sum += link;
  return sum;
}

EnergySpent energy_spent(const Platform& platform, Femtoseconds makespan) {
  EnergySpent spent;
  for (const auto& tier : platform.tiers()) {
    const TierStatistics& s = tier.module->statistics();
    spent.tiers.push_back(s.read_energy + s.write_energy);
  }
  for (const auto& link : platform.links())
    spent.links.push_back(link->statistics().tx_energy + link->statistics().rx_energy);
  for (std::uint32_t g = 0; g < platform.gpus(); ++g) {
    const Gpu& gpu = platform.gpu(g);
    spent.compute += gpu.energy().compute;
    spent.l2 += gpu.energy().l2;
    spent.idle += energy::of(makespan, gpu.config().energy.idle_power);
  }
  return spent;
}

EnergyAccounts energy_accounts(const Platform& platform, const ReplayTotals& totals) {
  EnergyAccounts accounts;
  accounts.operations = totals.operations_energy;
  for (std::uint32_t g = 0; g < platform.gpus(); ++g) {
    accounts.moves += platform.scheduler(g).statistics().migration_energy;
    accounts.loose += platform.gpu(g).energy().loose;
  }
  return accounts;
}

} // namespace umf::hw
