#pragma once

#include "model/base/units.h"
#include "model/stream/records.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace umf::shapes {

/// How numbers are stored: their width and what a group of them shares. Nothing is rounded in
/// private: `bytes` is what lies in memory.
struct Format {
  std::string name = "bf16";
  stream::DType dtype = stream::DType::bf16;   ///< as records name it
  stream::DType compute = stream::DType::bf16; ///< of the products made with it
  std::uint32_t bits = 16;
  std::uint32_t group = 0;      ///< numbers that share a scale; 0: none do
  std::uint32_t scale_bits = 0; ///< of a group
  std::uint32_t zero_bits = 0;  ///< of a group: a zero point beside the scale

  bool operator==(const Format&) const = default;

  /// Of `vectors` vectors of `length` numbers each; groups end with their vector, and the whole
  /// ends on a byte.
  Bytes bytes(std::uint64_t vectors, std::uint64_t length) const;
  /// Bits a number takes with its share of the group's figures, in thousandths, rounded.
  std::uint64_t millibits() const;
};

/// "bf16", "f16", "f32", "f8", "f4", "i8", "i4", "i3", "i2" (or "fp8", "int4", ...), with "-gN" for
/// groups of N ("-g0": none) and "-z" for zero points: "int4-g64-z". Integers without "-g" have
/// groups of 128 with an f16 scale, f4 groups of 32 with an 8-bit one. Throws UserError; `what` is
/// what it is the format of.
Format parse_format(std::string_view text, std::string_view what);

/// Names parse_format takes, without groups.
const std::vector<std::string>& format_names();

} // namespace umf::shapes
