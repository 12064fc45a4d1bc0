#include "model/policy/registry.h"

#include <algorithm>
#include <cmath>
#include <map>

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
    std::uint64_t hbm_room = 0, spill_room = 0, all = 0;
    std::uint64_t hbm_frames = 0;
    for (const Tier& tier : ground.tiers) {
      if (tier.kind == TierClass::hbm) {
        hbm_room += tier.frames->free();
        hbm_frames += tier.frames->frames();
      } else if (tier.kind == TierClass::pool) {
        spill_room += tier.frames->free();
      } else {
        continue;
      }
      all += tier.frames->frames();
    }
    if (hbm_room + spill_room < need.pages)
      refuse(need, ground, "HBM and the pool", hbm_room + spill_room, all);

    const std::uint64_t total = need.tensor->pages;
    const auto meant = static_cast<std::uint64_t>(
        std::ceil(share_of(need.tensor->tensor.role) * static_cast<double>(total)));
    std::uint64_t in_hbm =
        need.first_page >= meant ? 0 : std::min(need.pages, meant - need.first_page);
    std::uint64_t usable = hbm_room;
    if (need.initial) {
      const auto kept = static_cast<std::uint64_t>(
          std::ceil(config_.hbm_reserve_ratio * static_cast<double>(hbm_frames)));
      usable = hbm_room > kept ? hbm_room - kept : 0;
    }
    in_hbm = std::min(in_hbm, usable);
    in_hbm = std::max(in_hbm, need.pages - std::min(need.pages, spill_room));
    give(ground, TierClass::hbm, in_hbm, grants);
    give(ground, TierClass::pool, need.pages - in_hbm, grants);
  }

private:
  double share_of(stream::Role role) const {
    const auto it = config_.hbm_share.find(std::string(stream::name_of(role)));
    return it == config_.hbm_share.end() ? config_.default_hbm_share : it->second;
  }

  static void give(const Ground& ground, TierClass kind, std::uint64_t pages,
                   std::vector<Grant>& grants) {
    for (std::size_t t = 0; t < ground.tiers.size() && pages > 0; ++t) {
      if (ground.tiers[t].kind != kind) continue;
      const std::uint64_t part = std::min(pages, ground.tiers[t].frames->free());
      if (part > 0) grants.push_back({static_cast<TierIndex>(t), part});
      pages -= part;
    }
  }

  Config config_;
};

/// Shares are only accepted for roles that exist.
void check_roles(const Config& config, const JsonValue& object, KeyContext& context) {
  const JsonValue* shares = object.find("hbm_share");
  if (shares == nullptr) return;
  for (const auto& [role, share] : config.hbm_share)
    if (!stream::value_of<stream::Role>(role))
      context.fault(shares->place(), "unknown role " + in_quotes(role) +
                                         ", expected weight, kv-key, kv-value, activation, expert, "
                                         "lora, workspace or unknown");
}

} // namespace

Kind fixed_shares() {
  return {&component().info(),
          [](const JsonValue& object, KeyContext& context) -> std::unique_ptr<Policy> {
            Config config = component().read(object, context, kNameKey);
            check_roles(config, object, context);
            return std::make_unique<Static>(std::move(config));
          }};
}

} // namespace umf::policy
