#include "traces/jsonl/object_reader.h"

#include <algorithm>
#include <fmt/format.h>

namespace umf::traces::jsonl {

namespace json = simdjson::ondemand;

std::string printable(std::string_view text) {
  constexpr std::size_t kMost = 60;
  std::string out(text.substr(0, kMost));
  std::replace_if(
      out.begin(), out.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, '?');
  return out;
}

std::string Path::pointer() const {
  if (up == nullptr) return {};
  std::string out = up->pointer() + '/';
  if (index) return out + std::to_string(*index);
  for (const char c : printable(key)) {
    if (c == '~')
      out += "~0";
    else if (c == '/')
      out += "~1";
    else
      out += c;
  }
  return out;
}

void fail(const Path& path, std::string message) {
  throw LineFault{path.pointer(), std::move(message)};
}

void check(simdjson::error_code error, const Path& path) {
  if (error == simdjson::SUCCESS) return;
  fail(path,
       fmt::format("broken JSON ({}), expected one object a line", simdjson::error_message(error)));
}

namespace {

/// What stands where something else was expected.
std::string found(Value value) {
  json::json_type type{};
  if (value.type().get(type) != simdjson::SUCCESS) return "broken JSON";
  switch (type) {
  case json::json_type::array:
    return "a list";
  case json::json_type::object:
    return "an object";
  default:
    break;
  }
  std::string token = printable(value.raw_json_token());
  while (!token.empty() && token.back() == ' ')
    token.pop_back();
  return token;
}

} // namespace

std::uint64_t read_unsigned(Value value, std::uint64_t highest, const Path& path) {
  std::uint64_t number = 0;
  if (value.get_uint64().get(number) != simdjson::SUCCESS || number > highest)
    fail(path, fmt::format("{}, expected a whole number from 0 to {}", found(value), highest));
  return number;
}

std::int64_t read_signed(Value value, std::int64_t lowest, std::int64_t highest, const Path& path) {
  std::int64_t number = 0;
  if (value.get_int64().get(number) != simdjson::SUCCESS || number < lowest || number > highest)
    fail(path,
         fmt::format("{}, expected a whole number from {} to {}", found(value), lowest, highest));
  return number;
}

double read_real(Value value, const Path& path) {
  double number = 0;
  if (value.get_double().get(number) != simdjson::SUCCESS)
    fail(path, fmt::format("{}, expected a finite number", found(value)));
  return number;
}

bool read_flag(Value value, const Path& path) {
  bool flag = false;
  if (value.get_bool().get(flag) != simdjson::SUCCESS)
    fail(path, fmt::format("{}, expected true or false", found(value)));
  return flag;
}

Object read_braces(Value value, const Path& path) {
  Object object;
  if (value.get_object().get(object) != simdjson::SUCCESS)
    fail(path, fmt::format("{}, expected an object", found(value)));
  return object;
}

json::array read_brackets(Value value, const Path& path) {
  json::array list;
  if (value.get_array().get(list) != simdjson::SUCCESS)
    fail(path, fmt::format("{}, expected a list", found(value)));
  return list;
}

namespace {

std::optional<unsigned> hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  return std::nullopt;
}

std::string from_hex(std::string_view digits, const Path& path) {
  if (digits.size() % 2 != 0) fail(path, "an odd count of digits, expected two a byte");
  std::string bytes;
  bytes.reserve(digits.size() / 2);
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const auto high = hex_digit(digits[i]);
    const auto low = hex_digit(digits[i + 1]);
    if (!high || !low)
      fail(path, fmt::format("\"{}\", expected digits from 0 to 9 and a to f",
                             printable(digits.substr(i, 2))));
    bytes.push_back(static_cast<char>(*high << 4 | *low));
  }
  return bytes;
}

std::string_view read_string(Value value, const Path& path) {
  std::string_view text;
  const auto error = value.get_string().get(text);
  if (error == simdjson::INCORRECT_TYPE) fail(path, found(value) + ", expected text");
  check(error, path);
  return text;
}

std::string read_hex(Value value, const Path& path) {
  std::optional<std::string> bytes;
  for (auto field : read_braces(value, path)) {
    check(field.error(), path);
    std::string_view key;
    check(field.unescaped_key().get(key), path);
    const Path step{.up = &path, .key = key};
    if (key != "hex") fail(step, "an unknown key, expected hex");
    if (bytes) fail(step, "the same key twice, expected it once");
    bytes = from_hex(read_string(field.value(), step), step);
  }
  if (!bytes) fail(path, "no \"hex\", expected one");
  return *bytes;
}

} // namespace

std::string read_text(Value value, const Path& path) {
  json::json_type type{};
  check(value.type().get(type), path);
  if (type == json::json_type::object) return read_hex(value, path);
  return std::string(read_string(value, path));
}

void skip_scalar(Value value, const Path& path) {
  json::json_type type{};
  check(value.type().get(type), path);
  if (type == json::json_type::string)
    read_string(value, path);
  else
    read_real(value, path);
}

} // namespace umf::traces::jsonl
