#include "model/policy/policy.h"

#include "model/base/error.h"
#include "model/base/json.h"

#include <fmt/format.h>

#include <algorithm>

namespace umf::policy {

const Tier* Ground::first(TierClass kind) const {
  for (const Tier& tier : tiers)
    if (tier.kind == kind) return &tier;
  return nullptr;
}

std::uint64_t Ground::free_pages(TierClass kind) const {
  std::uint64_t pages = 0;
  for (const Tier& tier : tiers)
    if (tier.kind == kind) pages += tier.frames->free();
  return pages;
}

std::uint64_t Ground::all_pages(TierClass kind) const {
  std::uint64_t pages = 0;
  for (const Tier& tier : tiers)
    if (tier.kind == kind) pages += tier.frames->frames();
  return pages;
}

void grant(const Ground& ground, TierClass kind, std::uint64_t pages, std::vector<Grant>& grants) {
  for (std::size_t t = 0; t < ground.tiers.size() && pages > 0; ++t) {
    if (ground.tiers[t].kind != kind) continue;
    const std::uint64_t part = std::min(pages, ground.tiers[t].frames->free());
    if (part > 0) grants.push_back({static_cast<TierIndex>(t), part});
    pages -= part;
  }
  ensure(pages == 0, "policy grants more than is free");
}

void refuse(const Need& need, const Ground& ground, const std::string& scope,
            std::uint64_t free_pages, std::uint64_t all_pages) {
  const auto bytes = [&](std::uint64_t pages) { return pages * ground.page.count; };
  throw UserError(fmt::format(
      "tensor {} does not fit: it needs {} B more in {}, which has {} B free of {} B; expected a "
      "larger capacity or a policy that spills",
      in_quotes(need.tensor->tensor.name), bytes(need.pages), scope, bytes(free_pages),
      bytes(all_pages)));
}

} // namespace umf::policy
