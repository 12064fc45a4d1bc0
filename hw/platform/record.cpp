#include "hw/platform/record.h"

#include "model/base/json.h"

namespace umf::hw {

void check_recordable(const Scenario& scenario) {
  if (!scenario.policies.empty() && scenario.policies.front()->wants_future())
    throw UserError("a command log does not hold what the policy " + in_quotes(scenario.policy) +
                    " knows of the future, expected one that decides by what has been");
}

scheduler::LogHeader log_header(const Platform& platform) {
  const Scenario& scenario = platform.scenario();
  scheduler::LogHeader header;
  header.page = scenario.scheduler.page;
  header.packing = scenario.scheduler.packing();
  header.coherence = scenario.scheduler.coherence();
  header.degrading = scenario.scheduler.degrading();
  for (const TierInstance& tier : platform.tiers())
    header.tiers.push_back({tier.name, tier.spec->tier_class(), tier.frames->frames()});
  for (std::uint32_t g = 0; g < platform.gpus(); ++g) {
    scheduler::LogHeader::Gpu gpu{scenario.policy_json, {}};
    for (const policy::Tier& tier : platform.brain(g).ground().tiers)
      gpu.tiers.push_back({tier.in_reach(), tier.rate});
    header.gpus.push_back(std::move(gpu));
  }
  return header;
}

void record(Platform& platform, scheduler::LogWriter& log) {
  for (std::uint32_t g = 0; g < platform.gpus(); ++g)
    platform.brain(g).tap(&log.gpu(g));
}

} // namespace umf::hw
