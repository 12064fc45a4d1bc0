#include "model/policy/policy.h"

#include "model/base/error.h"

#include <fmt/format.h>

namespace umf::policy {

const Tier* Ground::first(TierClass kind) const {
  for (const Tier& tier : tiers)
    if (tier.kind == kind) return &tier;
  return nullptr;
}

void refuse(const Need& need, const Ground& ground, const std::string& scope,
            std::uint64_t free_pages, std::uint64_t all_pages) {
  const auto bytes = [&](std::uint64_t pages) { return pages * ground.page.count; };
  throw UserError(fmt::format(
      "tensor '{}' does not fit: it needs {} B more in {}, which has {} B free of {} B; expected a "
      "larger capacity or a policy that spills",
      need.tensor->tensor.name, bytes(need.pages), scope, bytes(free_pages), bytes(all_pages)));
}

} // namespace umf::policy
