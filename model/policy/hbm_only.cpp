#include "model/policy/registry.h"

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
    const std::uint64_t free = ground.free_pages(TierClass::hbm);
    if (free < need.pages) refuse(need, ground, "HBM", free, ground.all_pages(TierClass::hbm));
    grant(ground, TierClass::hbm, need.pages, grants);
  }
};

} // namespace

Kind hbm_only() {
  return {&component().info(), "No fabric: everything in HBM, or the run is refused.",
          [](const JsonValue& object, KeyContext& context) -> std::unique_ptr<Policy> {
            component().read(object, context, kNameKey);
            return std::make_unique<HbmOnly>();
          },
          false, false};
}

} // namespace umf::policy
