#pragma once

#include "model/base/json.h"
#include "model/memory/address_space.h"
#include "model/policy/registry.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace umf::test {

inline constexpr Bytes kPage = 64_KiB;

/// Tiers of so many pages to place tensors on, named after their class and place.
class TestGround {
public:
  TestGround& tier(policy::TierClass kind, std::uint64_t pages) {
    frames_.emplace_back(pages);
    ground_.tiers.push_back({"tier" + std::to_string(ground_.tiers.size()), kind, &frames_.back()});
    return *this;
  }
  TestGround& hbm(std::uint64_t pages) { return tier(policy::TierClass::hbm, pages); }
  TestGround& pool(std::uint64_t pages) { return tier(policy::TierClass::pool, pages); }

  policy::Ground ground() const { return ground_; }

  using Pages = std::vector<std::pair<unsigned, std::uint64_t>>; ///< tier, pages

  /// Where the policy puts `pages` from `first` on of a tensor of `all` pages. The frames
  /// are taken, so that one call sees what the last one left.
  Pages place(policy::Policy& policy, stream::Role role, std::uint64_t all, std::uint64_t first,
              std::uint64_t pages, bool initial) {
    memory::AddressSpace::Entry entry;
    entry.tensor.name = "wte";
    entry.tensor.role = role;
    entry.pages = all;
    std::vector<policy::Grant> grants;
    policy.place({&entry, first, pages, initial}, ground_, grants);
    Pages placed;
    for (const policy::Grant& grant : grants) {
      placed.emplace_back(grant.tier, grant.pages);
      ground_.tiers[grant.tier].frames->take(grant.pages);
    }
    return placed;
  }
  Pages first_touch(policy::Policy& policy, stream::Role role, std::uint64_t pages) {
    return place(policy, role, pages, 0, pages, false);
  }
  Pages initial(policy::Policy& policy, stream::Role role, std::uint64_t pages) {
    return place(policy, role, pages, 0, pages, true);
  }

private:
  std::deque<memory::FrameAllocator> frames_;
  policy::Ground ground_{kPage, {}};
};

/// A policy as a scenario names it; faults are thrown.
inline std::unique_ptr<policy::Policy> make_policy(const std::string& json) {
  const JsonValue object = parse_json(json, "f.json");
  for (const policy::Kind& kind : policy::kinds()) {
    if (kind.info->name != "policy." + object.find(policy::kNameKey)->text()) continue;
    KeyContext context;
    auto policy = kind.make(object, context);
    context.throw_if_faulty();
    return policy;
  }
  return nullptr;
}

} // namespace umf::test
