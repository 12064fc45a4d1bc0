#pragma once

#include <bit>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace umf::traces::kineto {

/// Finds the brace that closes a JSON object, 64 bytes a step: one bit per byte for
/// quotes, backslashes and braces, and the strings between quotes by a prefix exclusive or
/// (Langdale and Lemire, "Parsing gigabytes of JSON per second", VLDB Journal 28, 2019).
class BraceScan {
public:
  /// Scans 64 bytes. Returns how many belong to the object once it closes, else 0.
  int step(const char* bytes) {
    const Masks masks = classify(bytes);
    const std::uint64_t quotes = masks.quote & ~escaped(masks.backslash);
    const std::uint64_t in_string = prefix_xor(quotes) ^ in_string_;
    in_string_ = static_cast<std::uint64_t>(static_cast<std::int64_t>(in_string) >> 63);
    std::uint64_t braces = (masks.open | masks.close) & ~in_string;
    for (; braces != 0; braces &= braces - 1) {
      const std::uint64_t lowest = braces & (~braces + 1);
      depth_ += (masks.open & lowest) ? 1 : -1;
      if (depth_ == 0) return std::countr_zero(lowest) + 1;
    }
    return 0;
  }

private:
  struct Masks {
    std::uint64_t quote = 0, backslash = 0, open = 0, close = 0;
  };

#if defined(__SSE2__)
  static Masks classify(const char* bytes) {
    Masks masks;
    for (int part = 0; part < 4; ++part) {
      const __m128i text = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + 16 * part));
      const auto equal = [&](char c) {
        const int bits = _mm_movemask_epi8(_mm_cmpeq_epi8(text, _mm_set1_epi8(c)));
        return static_cast<std::uint64_t>(static_cast<std::uint32_t>(bits)) << (16 * part);
      };
      masks.quote |= equal('"');
      masks.backslash |= equal('\\');
      masks.open |= equal('{');
      masks.close |= equal('}');
    }
    return masks;
  }
#else
  static Masks classify(const char* bytes) {
    Masks masks;
    for (int i = 0; i < 64; ++i) {
      const std::uint64_t bit = std::uint64_t{1} << i;
      if (bytes[i] == '"') masks.quote |= bit;
      if (bytes[i] == '\\') masks.backslash |= bit;
      if (bytes[i] == '{') masks.open |= bit;
      if (bytes[i] == '}') masks.close |= bit;
    }
    return masks;
  }
#endif

  /// Bytes that follow an odd run of backslashes.
  std::uint64_t escaped(std::uint64_t backslash) {
    std::uint64_t result = escape_carried_ ? 1 : 0;
    if (backslash == 0 && !escape_carried_) return 0;
    std::uint64_t escaping = backslash & ~result;
    escape_carried_ = false;
    while (escaping != 0) {
      const std::uint64_t lowest = escaping & (~escaping + 1);
      if (lowest >> 63) escape_carried_ = true;
      result |= lowest << 1;
      escaping &= ~(lowest | lowest << 1);
    }
    return result;
  }

  static std::uint64_t prefix_xor(std::uint64_t bits) {
    for (int shift = 1; shift < 64; shift <<= 1)
      bits ^= bits << shift;
    return bits;
  }

  std::uint64_t in_string_ = 0;
  bool escape_carried_ = false;
  std::int64_t depth_ = 0;
};

} // namespace umf::traces::kineto
