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
  std::map<std::string, double> sram_share;
};

const Component<Config>& component() {
  static const auto keys =
      Component<Config>("policy.static",
                        "Fixed shares: of each tensor a leading part in SRAM and HBM, "
                        "the rest in the pool; what does not fit spills over.")
          .key("hbm_reserve_ratio", &Config::hbm_reserve_ratio, hbm_reserve_key())
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
                .source = "HBM first, as a user without a fabric would"})
          .key("sram_share", &Config::sram_share,
               {.help = "Share of a tensor's pages, its first ones, meant for SRAM, by role; what "
                        "SRAM has no room for goes where the other keys say.",
                .min = 0.0,
                .max = 1.0,
                .from = Provenance::derived,
                .source = "empty: nothing in SRAM"});
  return keys;
}

class Static : public Policy {
public:
  explicit Static(Config config) : config_(std::move(config)) {}

  void place(const Need& whole, const Ground& ground, std::vector<Grant>& grants) override {
    const std::uint64_t in_sram =
        std::min(leading_part(whole, share_of(config_.sram_share, whole, 0.0)),
                 ground.free_pages(TierClass::sram));
    Need need = whole;
    need.first_page += in_sram;
    need.pages -= in_sram;
    const std::uint64_t hbm_room = ground.free_pages(TierClass::hbm);
    const std::uint64_t spill_room = ground.free_pages(TierClass::pool);
    const std::uint64_t hbm_pages = ground.all_pages(TierClass::hbm);
    if (hbm_room + spill_room < need.pages)
      refuse(need, ground, "HBM and the pool", hbm_room + spill_room,
             hbm_pages + ground.all_pages(TierClass::pool));

    const std::uint64_t wanted =
        leading_part(need, share_of(config_.hbm_share, need, config_.default_hbm_share));
    std::uint64_t usable = hbm_room;
    if (need.initial) {
      const std::uint64_t kept = part_of(hbm_pages, config_.hbm_reserve_ratio);
      usable = hbm_room > kept ? hbm_room - kept : 0;
    }
    std::uint64_t in_hbm = std::min(wanted, usable);
    if (need.pages - in_hbm > spill_room) in_hbm = need.pages - spill_room;
    grant(ground, TierClass::sram, in_sram, grants);
    grant(ground, TierClass::hbm, in_hbm, grants);
    grant(ground, TierClass::pool, need.pages - in_hbm, grants);
  }

  /// The host's memory is not used.
  std::uint64_t room(const Ground& ground) const override {
    return ground.free_pages(TierClass::hbm) + ground.free_pages(TierClass::pool);
  }

private:
  static double share_of(const std::map<std::string, double>& shares, const Need& need,
                         double otherwise) {
    const auto it = shares.find(std::string(stream::name_of(need.tensor->tensor.role)));
    return it == shares.end() ? otherwise : it->second;
  }

  /// How many of the needed pages lie in the first `share` of their tensor.
  static std::uint64_t leading_part(const Need& need, double share) {
    const std::uint64_t meant = part_of(need.tensor->pages, share);
    return need.first_page >= meant ? 0 : std::min(need.pages, meant - need.first_page);
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
            check_roles(object, "sram_share", context);
            return std::make_unique<Static>(std::move(config));
          },
          true, false};
}

} // namespace umf::policy
