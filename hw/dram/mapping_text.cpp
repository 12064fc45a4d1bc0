#include "hw/dram/mapping_text.h"

#include "model/base/json.h"
#include "model/base/nearest.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <string>
#include <vector>

namespace umf::hw::dram {

namespace {

constexpr std::array<std::string_view, 6> kNames = {"unit", "bank",   "group",
                                                    "rank", "column", "row"};
constexpr std::uint32_t kMostBits = 32;

MapField field_named(std::string_view name) {
  for (std::uint32_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == name) return MapField{i};
  const std::vector<std::string> known(kNames.begin(), kNames.end());
  throw UserError(fmt::format("unknown field {}, {}", in_quotes(name), suggestion(name, known)));
}

std::uint32_t bits_from(std::string_view number, std::string_view text) {
  std::uint32_t bits = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), bits);
  if (error != std::errc{} || end != number.data() + number.size() || bits > kMostBits)
    throw UserError(fmt::format("found {} in {}, expected a number of bits up to {}",
                                in_quotes(number), in_quotes(text), kMostBits));
  return bits;
}

/// "field" or "field>>number".
std::uint32_t shifted_field(std::string_view part, std::string_view text, MapField& field) {
  const std::size_t arrow = part.find(">>");
  field = field_named(part.substr(0, arrow));
  return arrow == std::string_view::npos ? 0 : bits_from(part.substr(arrow + 2), text);
}

} // namespace

std::string_view name_of(MapField field) {
  return kNames.at(static_cast<std::size_t>(field));
}

MapEntry parse_map_entry(std::string_view text) {
  const std::size_t colon = text.find(':');
  MapEntry entry;
  entry.field = field_named(text.substr(0, colon));
  if (colon == std::string_view::npos) return entry;
  entry.bits = bits_from(text.substr(colon + 1), text);
  if (*entry.bits == 0)
    throw UserError(fmt::format("{} takes no bits, expected at least 1", in_quotes(text)));
  return entry;
}

MapHash parse_map_hash(std::string_view text) {
  const std::size_t caret = text.find('^');
  if (caret == std::string_view::npos)
    throw UserError(
        fmt::format("found the text {}, expected such as \"bank^row>>2\"", in_quotes(text)));
  MapHash hash;
  hash.bit = shifted_field(text.substr(0, caret), text, hash.target);
  hash.shift = shifted_field(text.substr(caret + 1), text, hash.source);
  if (hash.target == hash.source)
    throw UserError(
        fmt::format("{} hashes a field with itself, expected two different ones", in_quotes(text)));
  if (hash.target == MapField::row)
    throw UserError(fmt::format("{} changes the row, expected one of unit, rank, group, bank, "
                                "column before the ^",
                                in_quotes(text)));
  return hash;
}

} // namespace umf::hw::dram
