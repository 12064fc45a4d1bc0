#include "model/shapes/format.h"

#include "model/base/error.h"
#include "model/base/json.h"
#include "model/base/nearest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

namespace umf::shapes {

namespace {

using stream::DType;

struct Known {
  std::string_view name, alias;
  Format format;
};

/// Integers narrower than 8 bits are widened before they are multiplied. No dtype of the records
/// is a 4-bit float: i4 has its width.
const std::vector<Known>& known_formats() {
  static const std::vector<Known> all = {
      {"bf16", "bfloat16", {"bf16", DType::bf16, DType::bf16, 16, 0, 0, 0}},
      {"f16", "fp16", {"f16", DType::f16, DType::f16, 16, 0, 0, 0}},
      {"f32", "fp32", {"f32", DType::f32, DType::f32, 32, 0, 0, 0}},
      {"f8", "fp8", {"f8", DType::f8, DType::f8, 8, 0, 0, 0}},
      {"f4", "fp4", {"f4", DType::i4, DType::f8, 4, 32, 8, 0}},
      {"i8", "int8", {"i8", DType::i8, DType::i8, 8, 128, 16, 0}},
      {"i4", "int4", {"i4", DType::i4, DType::bf16, 4, 128, 16, 0}},
      {"i3", "int3", {"i3", DType::i3, DType::bf16, 3, 128, 16, 0}},
      {"i2", "int2", {"i2", DType::i2, DType::bf16, 2, 128, 16, 0}},
  };
  return all;
}

const Format& base_of(std::string_view base, std::string_view what) {
  for (const Known& known : known_formats())
    if (known.name == base || known.alias == base) return known.format;
  throw UserError(fmt::format("unknown {} {}, expected one of {}{}", what, in_quotes(base),
                              fmt::join(format_names(), ", "), near_hint(base, format_names())));
}

} // namespace

const std::vector<std::string>& format_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const Known& known : known_formats())
      list.emplace_back(known.name);
    return list;
  }();
  return names;
}

Format parse_format(std::string_view text, std::string_view what) {
  std::size_t dash = std::min(text.find('-'), text.size());
  Format format = base_of(text.substr(0, dash), what);
  const auto refuse = [&](std::string_view part) {
    throw UserError(fmt::format("{} {}: the part {} is neither groups nor zero points, expected "
                                "such as \"{}-g64\" or \"{}-g32-z\"",
                                what, in_quotes(text), in_quotes(part), format.name, format.name));
  };
  while (dash < text.size()) {
    const std::size_t next = std::min(text.find('-', dash + 1), text.size());
    const std::string_view part = text.substr(dash + 1, next - dash - 1);
    if (part == "z" && format.group != 0) {
      format.zero_bits = 16;
    } else if (part.size() > 1 && part.front() == 'g') {
      const auto read = std::from_chars(part.data() + 1, part.data() + part.size(), format.group);
      if (read.ec != std::errc{} || read.ptr != part.data() + part.size() ||
          format.group > 1'000'000)
        refuse(part);
      if (format.group == 0)
        format.scale_bits = format.zero_bits = 0;
      else if (format.scale_bits == 0)
        format.scale_bits = 16;
    } else {
      refuse(part);
    }
    dash = next;
  }
  format.name = text;
  return format;
}

Bytes Format::bytes(std::uint64_t vectors, std::uint64_t length) const {
  const std::uint64_t groups = group == 0 ? 0 : (length + group - 1) / group;
  const std::uint64_t of_vector = length * bits + groups * (scale_bits + zero_bits);
  // Whole bytes first: vectors × bits may pass 64 bits.
  return {vectors / 8 * of_vector + (vectors % 8 * of_vector + 7) / 8};
}

std::uint64_t Format::millibits() const {
  if (group == 0) return std::uint64_t{bits} * 1000;
  return std::uint64_t{bits} * 1000 +
         (std::uint64_t{scale_bits + zero_bits} * 1000 + group / 2) / group;
}

} // namespace umf::shapes
