#include "model/policy/registry.h"

#include "model/base/error.h"

namespace umf::policy {

namespace {

struct Config {};

const Component<Config>& component() {
  static const Component<Config> keys(
      "policy.hbm-only", "Everything in HBM, or refusal: the machine without a fabric.");
  return keys;
}

class HbmOnly : public Policy {
public:
  void place(const Need& need, const Ground& ground, std::vector<Grant>& grants) override {
    std::uint64_t free = 0, all = 0;
    for (std::size_t t = 0; t < ground.tiers.size(); ++t) {
      const Tier& tier = ground.tiers[t];
      if (tier.kind != TierClass::hbm) continue;
      if (tier.frames->free() >= need.pages) {
        grants.push_back({static_cast<TierIndex>(t), need.pages});
        return;
      }
      free += tier.frames->free();
      all += tier.frames->frames();
    }
    refuse(need, ground, "HBM", free, all);
  }
};

} // namespace

Kind hbm_only() {
  return {&component().info(),
          [](const JsonValue& object, KeyContext& context) -> std::unique_ptr<Policy> {
            component().read(object, context, kNameKey);
            return std::make_unique<HbmOnly>();
          }};
}

} // namespace umf::policy
