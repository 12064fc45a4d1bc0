#pragma once

#include "traces/places.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace umf::traces::address {

/// How the lines of a trace are written (README.md).
enum class Form : std::uint8_t { dramsim3, load_store, read_write, instructions, vector };

std::string_view name_of(Form);

/// The words of a line; one more than any form has, so that too many are seen.
struct Words {
  std::array<std::string_view, 4> at;
  std::size_t count = 0;
};
Words words_of(std::string_view line);

/// True for blank lines and those that begin with '#'.
bool is_no_request(std::string_view line);

/// The form that a line has or is meant to have; nothing when it is none.
std::optional<Form> form_of(const Words&);

enum class Direction : std::uint8_t { read, write };
/// Of "READ", "P_MEM_WR" and so on, upper or lower case; nothing for what is none of them.
std::optional<Direction> direction_of_operation(std::string_view);
/// What those may be, for errors.
std::string_view known_operations();
/// Whether `word` is `upper`, in whatever case.
bool is_word(std::string_view word, std::string_view upper);

/// True when a text is an address trace, or is meant as one, by its first line that counts.
bool looks_like_address(std::string_view first_bytes);

Place place_in(const std::string& file, std::uint64_t line);

} // namespace umf::traces::address
