#include "model/base/key_codec.h"

#include "model/base/nearest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace umf {

KeyType whole_type() {
  KeyType type;
  type.leaf = KeyType::Leaf::whole;
  type.name = "whole number";
  type.example = "64";
  type.expected = "a whole number such as 64";
  return type;
}

KeyType number_type() {
  KeyType type;
  type.leaf = KeyType::Leaf::number;
  type.name = "number";
  type.example = "0.5";
  type.expected = "a plain number such as 0.5";
  return type;
}

KeyType boolean_type() {
  KeyType type;
  type.leaf = KeyType::Leaf::boolean;
  type.name = "true or false";
  type.example = "true";
  type.expected = "true or false";
  return type;
}

KeyType text_type() {
  KeyType type;
  type.name = "text";
  type.example = "\"name\"";
  type.expected = "a text such as \"name\"";
  return type;
}

KeyType choice_type(std::vector<std::string> names) {
  KeyType type;
  type.leaf = KeyType::Leaf::choice;
  type.name = fmt::format("{}", fmt::join(names, "|"));
  type.example = text_json(names.at(0));
  type.expected = fmt::format("one of {}", fmt::join(names, ", "));
  type.choices = std::move(names);
  return type;
}

KeyType quantity_type(const QuantityForm& form) {
  KeyType type;
  type.leaf = KeyType::Leaf::quantity;
  type.name = form.type;
  type.example = text_json(form.example);
  type.expected = form.expected;
  type.pattern = quantity_pattern(form);
  return type;
}

KeyType list_type(KeyType element) {
  KeyType type = std::move(element);
  type.container = KeyType::Container::list;
  type.name = "list of " + type.name;
  type.example = '[' + type.example + ']';
  type.expected = "a list such as " + type.example;
  return type;
}

KeyType shares_type() {
  KeyType type = number_type();
  type.container = KeyType::Container::shares;
  type.name = "numbers by name";
  type.example = "{\"weight\": 0.5}";
  type.expected = "an object of numbers such as {\"weight\": 0.5}";
  return type;
}

UserError type_fault(const JsonValue& value, const KeyType& type) {
  const bool unitless = type.leaf == KeyType::Leaf::quantity && value.is_number() &&
                        type.container == KeyType::Container::one;
  return {value.place(),
          fmt::format("{}{}, expected {}", unitless ? "" : "found ",
                      value.found() + (unitless ? " has no unit" : ""), type.expected)};
}

UserError range_fault(const JsonValue& value, const std::string& printed, const std::string& min,
                      const std::string& max) {
  const std::string expected = max.empty()   ? "at least " + min
                               : min.empty() ? "at most " + max
                                             : min + " to " + max;
  return {value.place(), fmt::format("{} is out of range, expected {}", printed, expected)};
}

std::uint64_t whole_from(const JsonValue& value, std::uint64_t most) {
  if (value.kind() != JsonValue::Kind::integer) throw type_fault(value, whole_type());
  const std::string& text = value.text();
  if (text.front() == '-' && text != "-0")
    throw UserError(value.place(), fmt::format("{} is negative, expected {}", value.found(),
                                               whole_type().expected));
  std::uint64_t result = 0;
  const char* first = text.data() + (text.front() == '-' ? 1 : 0);
  const auto [end, error] = std::from_chars(first, text.data() + text.size(), result);
  if (error != std::errc{} || result > most)
    throw UserError(value.place(),
                    fmt::format("{} is too large, expected at most {}", value.found(), most));
  return result;
}

double number_from(const JsonValue& value) {
  if (!value.is_number()) throw type_fault(value, number_type());
  const std::string& text = value.text();
  double result = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
  if (error != std::errc{} || !std::isfinite(result))
    throw UserError(value.place(), fmt::format("{} is out of the range of double precision, "
                                               "expected {}",
                                               value.found(), number_type().expected));
  return result;
}

bool boolean_from(const JsonValue& value) {
  if (value.kind() != JsonValue::Kind::boolean) throw type_fault(value, boolean_type());
  return value.boolean();
}

const std::string& text_from(const JsonValue& value, const KeyType& type) {
  if (!value.is_text()) throw type_fault(value, type);
  return value.text();
}

std::size_t choice_from(const JsonValue& value, const KeyType& type) {
  const std::string& text = text_from(value, type);
  const auto at = std::find(type.choices.begin(), type.choices.end(), text);
  if (at != type.choices.end()) return static_cast<std::size_t>(at - type.choices.begin());
  const std::string near = nearest(text, type.choices);
  const std::string hint = near.empty() ? "" : fmt::format(" (did you mean {}?)", in_quotes(near));
  throw UserError(value.place(), fmt::format("unknown choice {}, expected {}{}", in_quotes(text),
                                             type.expected, hint));
}

std::string print_number(double value) {
  return fmt::format("{}", value);
}

std::string number_json(double value) {
  ensure(std::isfinite(value), "a key's default or range is not finite: use an optional key");
  return print_number(value);
}

std::string text_json(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20) {
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
      continue;
    }
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

auto KeyCodec<std::map<std::string, double>>::read(const JsonValue& value,
                                                   const KeyRange<double>& range,
                                                   KeyContext& context) -> std::optional<Shares> {
  if (!value.is_object()) {
    context.fault(type_fault(value, type()));
    return std::nullopt;
  }
  Shares result;
  for (const auto& member : value.members())
    if (const auto share = KeyCodec<double>::read(member.value, range, context))
      result[member.name] = *share;
  if (result.size() != value.members().size()) return std::nullopt;
  return result;
}

std::string KeyCodec<std::map<std::string, double>>::print(const Shares& value) {
  std::string result;
  for (const auto& [name, share] : value)
    result += fmt::format("{}{}: {}", result.empty() ? "" : ", ", text_json(name), share);
  return '{' + result + '}';
}

} // namespace umf
