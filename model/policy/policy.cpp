#include "model/policy/policy.h"

#include "model/base/error.h"
#include "model/base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace umf::policy {

Collections& Collections::operator+=(const Collections& other) {
  runs += other.runs;
  scanned += other.scanned;
  freed += other.freed;
  regret += other.regret;
  faults += other.faults;
  waited += other.waited;
  return *this;
}

std::uint32_t Ground::packed_page(const stream::Tensor& tensor) const {
  if (memory::region_of(tensor.role) != memory::Region::kv) return 0;
  const Bytes packed = packing.packed(page, stream::bits_of(tensor.dtype));
  return packed < page ? static_cast<std::uint32_t>(packed.count) : 0;
}

const Tier* Ground::first(TierClass kind) const {
  for (const Tier& tier : tiers)
    if (tier.kind == kind && tier.in_reach()) return &tier;
  return nullptr;
}

std::optional<TierIndex> Ground::index(TierClass kind) const {
  const Tier* tier = first(kind);
  if (tier == nullptr) return std::nullopt;
  return static_cast<TierIndex>(tier - tiers.data());
}

std::uint64_t Ground::free_pages(TierClass kind) const {
  std::uint64_t pages = 0;
  for (const Tier& tier : tiers)
    if (tier.kind == kind) pages += free_pages(tier);
  return pages;
}

std::uint64_t Ground::all_pages(TierClass kind) const {
  std::uint64_t pages = 0;
  for (const Tier& tier : tiers)
    if (tier.kind == kind) pages += tier.frames->frames();
  return pages;
}

std::uint64_t Policy::room(const Ground& ground) const {
  return ground.free_pages(TierClass::hbm) + ground.free_pages(TierClass::pool) +
         ground.free_pages(TierClass::host);
}

void grant(const Ground& ground, TierClass kind, std::uint64_t pages, std::vector<Grant>& grants) {
  for (std::size_t t = 0; t < ground.tiers.size() && pages > 0; ++t) {
    if (ground.tiers[t].kind != kind) continue;
    const std::uint64_t part = std::min(pages, Ground::free_pages(ground.tiers[t]));
    if (part > 0) grants.push_back({static_cast<TierIndex>(t), part});
    pages -= part;
  }
  ensure(pages == 0, "policy grants more than is free");
}

std::uint64_t place_hbm_first(const Need& need, const Ground& ground, std::uint64_t kept,
                              const std::vector<TierClass>& then, std::vector<Grant>& grants) {
  const std::uint64_t free = ground.free_pages(TierClass::hbm);
  std::uint64_t outside = 0, all = ground.all_pages(TierClass::hbm);
  for (const TierClass kind : then) {
    outside += ground.free_pages(kind);
    all += ground.all_pages(kind);
  }
  if (free + outside < need.pages)
    refuse(need, ground, "HBM and the memories behind it", free + outside, all);
  std::uint64_t in_hbm = std::min(need.pages, free - std::min(free, kept));
  if (need.pages - in_hbm > outside) in_hbm = need.pages - outside;
  grant(ground, TierClass::hbm, in_hbm, grants);
  std::uint64_t rest = need.pages - in_hbm;
  for (const TierClass kind : then) {
    const std::uint64_t part = std::min(rest, ground.free_pages(kind));
    grant(ground, kind, part, grants);
    rest -= part;
  }
  return in_hbm;
}

std::uint64_t part_of(std::uint64_t pages, double share) {
  return static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(pages) * (1 - 1e-15)));
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
