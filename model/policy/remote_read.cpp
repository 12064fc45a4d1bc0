#include "model/policy/registry.h"

#include <algorithm>

namespace umf::policy {

namespace {

struct Config {
  double hbm_reserve_ratio = 0.15;
};

const Component<Config>& component() {
  static const auto keys =
      Component<Config>("policy.remote-read", "First touch: HBM until it is full, then the pool, "
                                              "and whatever lies there is read there.")
          .key("hbm_reserve_ratio", &Config::hbm_reserve_ratio,
               {.help = "Share of HBM that the initial weights leave free.",
                .min = 0.0,
                .max = 1.0,
                .from = Provenance::claimed,
                .source = "umf-three-tier document, tuner defaults 0.15/0.25"});
  return keys;
}

/// Copying pays only from the break-even reuse count on (break_even.h); this is the policy
/// that never copies.
class RemoteRead : public Policy {
public:
  explicit RemoteRead(const Config& config) : config_(config) {}

  void place(const Need& need, const Ground& ground, std::vector<Grant>& grants) override {
    const std::uint64_t all = ground.all_pages(TierClass::hbm);
    place_hbm_first(need, ground, need.initial ? part_of(all, config_.hbm_reserve_ratio) : 0,
                    {TierClass::pool, TierClass::host}, grants);
  }

private:
  Config config_;
};

} // namespace

Kind remote_read() {
  return {
      &component().info(),
      "Nothing moves: what did not fit in HBM at first touch is read across the link each time.",
      [](const JsonValue& object, KeyContext& context) -> std::unique_ptr<Policy> {
        return std::make_unique<RemoteRead>(component().read(object, context, kNameKey));
      },
      true, false};
}

} // namespace umf::policy
