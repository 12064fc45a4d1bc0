#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace umf::memory {

/// S1: the unified address space is carved into three regions, told apart by the top bits.
enum class Region : std::uint8_t { kv, activation, weight };
inline constexpr std::size_t kRegions = 3;

std::string_view name_of(Region region);

/// Unified addresses of a region begin at (its place + 1) << kRegionShift; what lies below the
/// first is no unified address.
inline constexpr unsigned kRegionShift = 56;
inline constexpr std::uint64_t origin_of(Region region) {
  return (static_cast<std::uint64_t>(region) + 1) << kRegionShift;
}
inline constexpr Region region_at(std::uint64_t address) {
  return static_cast<Region>((address >> kRegionShift) - 1);
}

} // namespace umf::memory
