#pragma once

#include <bit>
#include <cstdint>

/// Sets of banks as words.
namespace umf::hw::dram {

constexpr std::uint64_t bit(std::uint32_t n) {
  return std::uint64_t{1} << n;
}

/// Calls `each` with the number of every bit set, the lowest first.
template <class Each>
void each_bit(std::uint64_t mask, Each each) {
  for (; mask != 0; mask &= mask - 1)
    each(static_cast<std::uint32_t>(std::countr_zero(mask)));
}

} // namespace umf::hw::dram
