#include "model/base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace umf {
namespace {

constexpr std::size_t longest_quote = 60;

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

std::string spelled(char c) {
  return fmt::format("\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
}

/// The length to cut at so that no UTF-8 character is split.
std::size_t cut_length(std::string_view text) {
  if (text.size() <= longest_quote) return text.size();
  std::size_t length = longest_quote;
  while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0U) == 0x80U)
    --length;
  return length;
}

} // namespace

JsonValue::JsonValue() = default;
JsonValue::JsonValue(const JsonValue& other) = default;
JsonValue::JsonValue(JsonValue&& other) noexcept = default;
JsonValue& JsonValue::operator=(const JsonValue& other) = default;
JsonValue& JsonValue::operator=(JsonValue&& other) noexcept = default;
JsonValue::~JsonValue() = default;

JsonValue JsonValue::scalar(Kind kind, std::string text, Place place) {
  JsonValue value;
  value.kind_ = kind;
  value.text_ = std::move(text);
  value.place_ = std::move(place);
  return value;
}

JsonValue JsonValue::array(std::vector<JsonValue> items, Place place) {
  JsonValue value = scalar(Kind::array, {}, std::move(place));
  value.items_ = std::move(items);
  return value;
}

JsonValue JsonValue::object(std::vector<Member> members, Place place) {
  JsonValue value = scalar(Kind::object, {}, std::move(place));
  value.members_ = std::move(members);
  return value;
}

JsonValue JsonValue::empty_object(Place place) {
  return object({}, std::move(place));
}

const JsonValue* JsonValue::find(std::string_view name) const {
  const auto at = std::find_if(members_.begin(), members_.end(),
                               [name](const Member& member) { return member.name == name; });
  return at == members_.end() ? nullptr : &at->value;
}

JsonValue* JsonValue::find(std::string_view name) {
  return const_cast<JsonValue*>(std::as_const(*this).find(name));
}

std::string JsonValue::found() const {
  switch (kind_) {
  case Kind::integer:
  case Kind::real:
    return "the number " + (text_.size() <= longest_quote ? text_ : text_.substr(0, 20) + "...");
  case Kind::text:
    return "the text " + in_quotes(text_);
  case Kind::array:
    return "an array";
  case Kind::object:
    return "an object";
  case Kind::null:
  case Kind::boolean:
    break;
  }
  return text_;
}

JsonValue read_json_file(const std::filesystem::path& path) {
  Place place;
  place.file = path.string();
  std::error_code unused;
  if (std::filesystem::is_directory(path, unused))
    throw UserError(place, "is a directory, expected a JSON file");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw UserError(place, "cannot be opened, expected a readable JSON file");
  std::ostringstream text;
  text << file.rdbuf();
  if (file.bad()) throw UserError(place, "cannot be read, expected a readable JSON file");
  return parse_json(text.view(), place.file);
}

std::string pointer_token(std::string_view name) {
  std::string token;
  for (const char c : name) {
    if (c == '~') {
      token += "~0";
    } else if (c == '/') {
      token += "~1";
    } else if (is_control(c)) {
      token += spelled(c);
    } else {
      token += c;
    }
  }
  return token;
}

std::string in_quotes(std::string_view text) {
  const std::size_t length = cut_length(text);
  std::string result = "\"";
  for (const char c : text.substr(0, length)) {
    if (is_control(c)) {
      result += spelled(c);
    } else {
      if (c == '"' || c == '\\') result += '\\';
      result += c;
    }
  }
  if (length < text.size()) result += "...";
  return result + '"';
}

} // namespace umf
