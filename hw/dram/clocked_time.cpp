#include "hw/dram/clocked_time.h"

#include <fmt/format.h>

#include <charconv>

namespace umf::hw::dram {

namespace {

constexpr std::string_view kClocks = "nCK";
constexpr std::string_view kExpected =
    "clocks, a time or the longer of both, such as \"4nCK\", \"14ns\" or \"max(4nCK, 7.5ns)\"";
constexpr std::size_t kMostDigits = 9; // times a clock of 100 ns it fits Femtoseconds

[[noreturn]] void fail(std::string_view text) {
  throw UserError(fmt::format("found the text {}, expected {}", in_quotes(text), kExpected));
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' '))
    text.remove_prefix(1);
  while (text.ends_with(' '))
    text.remove_suffix(1);
  return text;
}

Cycle parse_clocks(std::string_view number, std::string_view text) {
  Cycle clocks = 0;
  const bool digits = !number.empty() && number.size() <= kMostDigits &&
                      number.find_first_not_of("0123456789") == std::string_view::npos &&
                      (number == "0" || number.front() != '0');
  if (!digits) fail(text);
  std::from_chars(number.data(), number.data() + number.size(), clocks);
  return clocks;
}

ClockedTime parse_part(std::string_view part, std::string_view text) {
  if (part.ends_with(kClocks))
    return {.clocks = parse_clocks(part.substr(0, part.size() - kClocks.size()), text)};
  try {
    return {.time = parse_quantity<Femtoseconds>(part)};
  } catch (const UserError& fault) {
    throw UserError(fmt::format("{}; or clocks such as \"4nCK\"", fault.what()));
  }
}

} // namespace

ClockedTime parse_clocked_time(std::string_view text) {
  if (!text.starts_with("max(")) return parse_part(text, text);
  const std::size_t comma = text.find(',');
  if (!text.ends_with(')') || comma == std::string_view::npos) fail(text);
  const std::string_view first = trimmed(text.substr(4, comma - 4));
  const std::string_view second = trimmed(text.substr(comma + 1, text.size() - comma - 2));
  if (first.ends_with(kClocks) == second.ends_with(kClocks)) fail(text);
  const ClockedTime a = parse_part(first, text);
  const ClockedTime b = parse_part(second, text);
  return {a.clocks + b.clocks, a.time + b.time}; // each has one of the two
}

std::string print(ClockedTime least) {
  if (least.time.count == 0) return fmt::format("{}{}", least.clocks, kClocks);
  if (least.clocks == 0) return umf::print(least.time);
  return fmt::format("max({}{}, {})", least.clocks, kClocks, umf::print(least.time));
}

} // namespace umf::hw::dram

namespace umf {

KeyType LeafCodec<hw::dram::ClockedTime>::type() {
  // Without its anchors, the pattern of a time.
  std::string time = quantity_pattern(quantity_form<Femtoseconds>());
  time = time.substr(1, time.size() - 2);
  const std::string clocks = "(0|[1-9][0-9]{0,8})nCK";
  KeyType type;
  type.leaf = KeyType::Leaf::quantity;
  type.name = "clocks or time";
  type.example = "\"max(4nCK, 7.5ns)\"";
  type.expected = std::string(hw::dram::kExpected);
  type.pattern =
      fmt::format("^({0}|{1}|max[(] *{0} *, *{1} *[)]|max[(] *{1} *, *{0} *[)])$", clocks, time);
  return type;
}

hw::dram::ClockedTime LeafCodec<hw::dram::ClockedTime>::from(const JsonValue& value) {
  const std::string& text = text_from(value, type());
  try {
    return hw::dram::parse_clocked_time(text);
  } catch (const UserError& fault) {
    throw UserError(value.place(), fault.what());
  }
}

} // namespace umf
