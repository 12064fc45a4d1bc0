#include "model/policy/registry.h"

#include <algorithm>
#include <map>
#include <string>

namespace umf::policy {

namespace {

struct Config {
  double hbm_reserve_ratio = 0.15;
  std::map<std::string, double> hbm_share;
  double default_hbm_share = 1.0;
};

const Component<Config>& component() {
  static const auto keys =
      Component<Config>("policy.static", "Fixed shares: of each tensor a leading part in HBM, the "
                                         "rest in the pool; what does not fit spills over.")
          .key("hbm_reserve_ratio", &Config::hbm_reserve_ratio,
               {.help = "Share of HBM that the initial weights leave free.",
                .min = 0.0,
                .max = 1.0,
                .from = Provenance::claimed,
                .source = "umf-three-tier document, tuner defaults 0.15/0.25"})
          .key("hbm_share", &Config::hbm_share,
               {.help =
                    "Share of a tensor's pages meant for HBM, by role (weight, kv-key, kv-value, "
                    "activation, expert, lora, workspace, unknown).",
                .min = 0.0,
                .max = 1.0,
                .from = Provenance::derived,
                .source = "empty: every role takes default_hbm_share"})
          .key("default_hbm_share", &Config::default_hbm_share,
               {.help = "The share of roles that hbm_share does not name.",
                .min = 0.0,
                .max = 1.0,
                .from = Provenance::derived,
                .source = "HBM first, as a user without a fabric would"});
  return keys;
}

class Static : public Policy {
public:
  explicit Static(Config config) : config_(std::move(config)) {}

  void place(const Need& need, const Ground& ground, std::vector<Grant>& grants) override {
    const std::uint64_t hbm_room = ground.free_pages(TierClass::hbm);
    const std::uint64_t spill_room = ground.free_pages(TierClass::pool);
    const std::uint64_t hbm_pages = ground.all_pages(TierClass::hbm);
    if (hbm_room + spill_room < need.pages)
      refuse(need, ground, "HBM and the pool", hbm_room + spill_room,
             hbm_pages + ground.all_pages(TierClass::pool));

    const std::uint64_t meant = part_of(need.tensor->pages, share_of(need.tensor->tensor.role));
    const std::uint64_t wanted =
        need.first_page >= meant ? 0 : std::min(need.pages, meant - need.first_page);
    std::uint64_t usable = hbm_room;
    if (need.initial) {
      const std::uint64_t kept = part_of(hbm_pages, config_.hbm_reserve_ratio);
      usable = hbm_room > kept ? hbm_room - kept : 0;
    }
    std::uint64_t in_hbm = std::min(wanted, usable);
    if (need.pages - in_hbm > spill_room) in_hbm = need.pages - spill_room;
    grant(ground, TierClass::hbm, in_hbm, grants);
    grant(ground, TierClass::pool, need.pages - in_hbm, grants);
  }

private:
  double share_of(stream::Role role) const {
    const auto it = config_.hbm_share.find(std::string(stream::name_of(role)));
    return it == config_.hbm_share.end() ? config_.default_hbm_share : it->second;
  }

  Config config_;
};

} // namespace

Kind fixed_shares() {
  return {&component().info(),
          "Fixed shares: each tensor has its place from the start and is read there for ever.",
          [](const JsonValue& object, KeyContext& context) -> std::unique_ptr<Policy> {
            Config config = component().read(object, context, kNameKey);
            check_roles(object, "hbm_share", context);
            return std::make_unique<Static>(std::move(config));
          }};
}

} // namespace umf::policy
