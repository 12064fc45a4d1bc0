#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

/// The texts of the keys `mapping` and `hash`, taken apart; README.md has the syntax.
namespace umf::hw::dram {

enum class MapField : std::uint32_t { unit, bank, group, rank, column, row };

std::string_view name_of(MapField field);

/// "column" or "column:2".
struct MapEntry {
  MapField field = MapField::row;
  std::optional<std::uint32_t> bits{};
};

/// "target^source>>shift" or "target>>bit^source>>shift": the bits of `target` from `bit` up are
/// XORed with those of `source` from `shift` up.
struct MapHash {
  MapField target = MapField::bank, source = MapField::row;
  std::uint32_t bit = 0, shift = 0;
};

/// Both throw UserError (without place).
MapEntry parse_map_entry(std::string_view text);
MapHash parse_map_hash(std::string_view text);

} // namespace umf::hw::dram
