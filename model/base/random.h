#pragma once

#include <cstdint>
#include <string_view>

namespace umf {

/// The output function of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): a
/// bijection of 64 bits in which every input bit flips half of the output bits.
constexpr std::uint64_t mix_bits(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

/// FNV-1a, the same on every machine.
constexpr std::uint64_t name_hash(std::string_view name) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const char c : name)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  return hash;
}

/// Random numbers that are a pure function of (seed, name, counter): who draws
/// first, or how many others draw, changes nothing. Give every user a name.
class RandomStream {
public:
  constexpr RandomStream(std::uint64_t seed, std::string_view name)
      : key_(mix_bits(mix_bits(seed + golden) ^ name_hash(name))) {}

  /// The number at one position; any order, any number of times.
  constexpr std::uint64_t at(std::uint64_t counter) const {
    return mix_bits(mix_bits(counter * golden + key_) ^ key_);
  }
  constexpr std::uint64_t next() { return at(counter_++); }

  /// In [0, 1), all 53 bits of it.
  constexpr double unit_at(std::uint64_t counter) const { return to_unit(at(counter)); }
  constexpr double next_unit() { return to_unit(next()); }

  /// In [0, limit); uniform to within limit / 2^64. `limit` > 0.
  constexpr std::uint64_t next_below(std::uint64_t limit) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((Wide{next()} * limit) >> 64);
  }

private:
  static constexpr std::uint64_t golden = 0x9E3779B97F4A7C15U; ///< 2^64 / golden ratio, odd
  static constexpr double to_unit(std::uint64_t bits) {
    return static_cast<double>(bits >> 11) * 0x1p-53;
  }

  std::uint64_t key_;
  std::uint64_t counter_ = 0;
};

} // namespace umf
