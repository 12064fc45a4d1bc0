#include "model/memory/address_space.h"

#include "model/base/error.h"
#include "model/base/json.h"

#include <algorithm>

namespace umf::memory {

Region region_of(stream::Role role) {
  switch (role) {
  case stream::Role::weight:
  case stream::Role::expert:
  case stream::Role::lora:
    return Region::weight;
  case stream::Role::kv_key:
  case stream::Role::kv_value:
    return Region::kv;
  case stream::Role::unknown:
  case stream::Role::activation:
  case stream::Role::workspace:
    return Region::activation;
  }
  return Region::activation;
}

std::string_view name_of(Region region) {
  constexpr std::array<std::string_view, kRegions> names = {"kv", "activation", "weight"};
  return names[static_cast<std::size_t>(region)];
}

namespace {
constexpr std::uint64_t kRegionBytes = std::uint64_t{1} << kRegionShift;
} // namespace

std::uint64_t AddressSpace::take_range(Region region, std::uint64_t bytes) {
  Ranges& ranges = ranges_[static_cast<std::size_t>(region)];
  if (const auto fit = ranges.by_size.lower_bound({bytes, 0}); fit != ranges.by_size.end()) {
    const auto [size, base] = *fit;
    take_hole(ranges, ranges.holes.find(base));
    if (size > bytes) give_range_back(region, base + bytes, size - bytes);
    return base;
  }
  ensure(bytes <= kRegionBytes - ranges.top, "unified address space is full");
  const std::uint64_t base = origin_of(region) + ranges.top;
  ranges.top += bytes;
  return base;
}

/// Joins the range with the holes beside it; one that reaches the top lowers the top.
void AddressSpace::give_range_back(Region region, std::uint64_t base, std::uint64_t bytes) {
  Ranges& ranges = ranges_[static_cast<std::size_t>(region)];
  auto next = ranges.holes.lower_bound(base);
  if (next != ranges.holes.end() && next->first == base + bytes) {
    bytes += next->second;
    next = take_hole(ranges, next);
  }
  if (next != ranges.holes.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == base) {
      base = before->first;
      bytes += before->second;
      take_hole(ranges, before);
    }
  }
  if (base + bytes == origin_of(region) + ranges.top) {
    ranges.top -= bytes;
    return;
  }
  ranges.holes.emplace(base, bytes);
  ranges.by_size.emplace(bytes, base);
}

AddressSpace::Hole AddressSpace::take_hole(Ranges& ranges, Hole hole) {
  ranges.by_size.erase({hole->second, hole->first});
  return ranges.holes.erase(hole);
}

const AddressSpace::Entry& AddressSpace::declare(const stream::Tensor& tensor) {
  auto [it, fresh] = entries_.try_emplace(tensor.id);
  ensure(fresh, "tensor declared twice");
  Entry& entry = it->second;
  entry.tensor = tensor;
  entry.region = region_of(tensor.role);
  entry.pages = tensor.bytes.count / page_.count + (tensor.bytes.count % page_.count != 0);
  if (entry.pages == 0) return entry;
  if (entry.pages > kRegionBytes / page_.count)
    throw UserError("tensor " + in_quotes(tensor.name) + " has " +
                    std::to_string(tensor.bytes.count) + " B, expected at most " +
                    std::to_string(kRegionBytes) + " B, a region of the unified address space");
  entry.base = take_range(entry.region, entry.pages * page_.count);
  holders_[static_cast<std::size_t>(entry.region)].insert(
      holder_at(entry), {entry.base, entry.base + entry.pages * page_.count, &entry});
  return entry;
}

void AddressSpace::release(stream::TensorId id) {
  const auto it = entries_.find(id);
  ensure(it != entries_.end(), "release of an unknown tensor");
  const Entry& entry = it->second;
  if (entry.pages > 0) {
    give_range_back(entry.region, entry.base, entry.pages * page_.count);
    holders_[static_cast<std::size_t>(entry.region)].erase(holder_at(entry));
  }
  entries_.erase(it);
}

const AddressSpace::Entry* AddressSpace::find(stream::TensorId id) const {
  const auto it = entries_.find(id);
  return it == entries_.end() ? nullptr : &it->second;
}

const AddressSpace::Entry& AddressSpace::at(stream::TensorId id) const {
  const Entry* entry = find(id);
  ensure(entry != nullptr, "access to a tensor that is not live");
  return *entry;
}

const AddressSpace::Entry* AddressSpace::holder(std::uint64_t address) const {
  const auto region = static_cast<std::size_t>(region_at(address));
  if (region >= kRegions) return nullptr;
  const auto& holders = holders_[region];
  const auto it =
      std::upper_bound(holders.begin(), holders.end(), address,
                       [](std::uint64_t at, const Holder& holder) { return at < holder.base; });
  if (it == holders.begin() || address >= std::prev(it)->end) return nullptr;
  return std::prev(it)->entry;
}

std::vector<AddressSpace::Holder>::iterator AddressSpace::holder_at(const Entry& entry) {
  auto& holders = holders_[static_cast<std::size_t>(entry.region)];
  return std::lower_bound(
      holders.begin(), holders.end(), entry.base,
      [](const Holder& holder, std::uint64_t base) { return holder.base < base; });
}

} // namespace umf::memory
