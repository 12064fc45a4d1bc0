#include "model/memory/address_space.h"

#include "model/base/error.h"

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
constexpr unsigned kRegionShift = 56;

std::uint64_t origin(Region region) {
  return (static_cast<std::uint64_t>(region) + 1) << kRegionShift;
}
} // namespace

std::uint64_t AddressSpace::take_range(Region region, std::uint64_t bytes) {
  const auto r = static_cast<std::size_t>(region);
  auto hole = holes_[r].lower_bound(bytes);
  if (hole != holes_[r].end() && hole->first <= 2 * bytes) {
    const auto [size, base] = *hole;
    holes_[r].erase(hole);
    if (size > bytes) holes_[r].emplace(size - bytes, base + bytes);
    return base;
  }
  const std::uint64_t base = origin(region) + top_[r];
  ensure(top_[r] + bytes < (std::uint64_t{1} << kRegionShift), "unified address space is full");
  top_[r] += bytes;
  return base;
}

const AddressSpace::Entry& AddressSpace::declare(const stream::Tensor& tensor) {
  auto [it, fresh] = entries_.try_emplace(tensor.id);
  ensure(fresh, "tensor declared twice");
  Entry& entry = it->second;
  entry.tensor = tensor;
  entry.region = region_of(tensor.role);
  entry.pages = (tensor.bytes.count + page_.count - 1) / page_.count;
  if (entry.pages == 0) return entry;
  entry.base = take_range(entry.region, entry.pages * page_.count);
  by_base_.emplace(entry.base, tensor.id);
  return entry;
}

void AddressSpace::release(stream::TensorId id) {
  const auto it = entries_.find(id);
  ensure(it != entries_.end(), "release of an unknown tensor");
  const Entry& entry = it->second;
  if (entry.pages > 0) {
    holes_[static_cast<std::size_t>(entry.region)].emplace(entry.pages * page_.count, entry.base);
    by_base_.erase(entry.base);
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
  auto it = by_base_.upper_bound(address);
  if (it == by_base_.begin()) return nullptr;
  const Entry& entry = entries_.at(std::prev(it)->second);
  return address < entry.base + entry.pages * page_.count ? &entry : nullptr;
}

} // namespace umf::memory
