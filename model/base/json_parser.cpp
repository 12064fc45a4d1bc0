#include "model/base/json.h"
#include "model/base/utf8.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace umf {
namespace {

constexpr int deepest = 100;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// Recursive descent over the text; the position is the only state besides the pointer.
class Parser {
public:
  Parser(std::string_view text, const std::string& file) : text_(text), file_(file) {
    if (text_.substr(0, 3) == "\xEF\xBB\xBF") at_ = 3; // byte-order mark
  }

  JsonValue document() {
    JsonValue value = any_value();
    skip_blanks();
    if (at_ < text_.size()) fail_here("the end of the file");
    return value;
  }

private:
  bool at_end() const { return at_ >= text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[at_]; }

  Place place_at(std::size_t offset) {
    for (; counted_ < offset; ++counted_) {
      if (text_[counted_] != '\n') continue;
      ++line_;
      line_start_ = counted_ + 1;
    }
    return Place{.file = file_,
                 .line = line_,
                 .column = static_cast<int>(offset - line_start_) + 1,
                 .pointer = pointer_};
  }

  [[noreturn]] void fail(std::size_t offset, const std::string& what) {
    Place place = place_at(offset);
    place.pointer.clear();
    throw UserError(std::move(place), what);
  }

  [[noreturn]] void fail_here(std::string_view expected) {
    if (at_end()) fail(at_, fmt::format("the file ends, expected {}", expected));
    if (is_letter(peek())) {
      std::size_t end = at_;
      while (end < text_.size() && is_letter(text_[end]))
        ++end;
      fail(at_, fmt::format("unexpected word {}, expected {}",
                            in_quotes(text_.substr(at_, end - at_)), expected));
    }
    const auto byte = static_cast<unsigned char>(peek());
    if (byte < 0x20 || byte >= 0x7f)
      fail(at_, fmt::format("unexpected byte 0x{:02x}, expected {}", byte, expected));
    fail(at_, fmt::format("unexpected '{}', expected {}", peek(), expected));
  }

  void skip_blanks() {
    while (!at_end() && (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r'))
      ++at_;
  }

  bool take(char c) {
    skip_blanks();
    if (at_end() || peek() != c) return false;
    ++at_;
    return true;
  }

  JsonValue any_value() {
    skip_blanks();
    const Place place = place_at(at_);
    const char c = peek();
    if (c == '{') return nested(place, &Parser::object);
    if (c == '[') return nested(place, &Parser::array);
    if (c == '"') return JsonValue::scalar(JsonValue::Kind::text, quoted_text(), place);
    if (c == '-' || is_digit(c)) return number(place);
    return word(place);
  }

  JsonValue nested(const Place& place, JsonValue (Parser::*read)(const Place&)) {
    if (++depth_ > deepest)
      fail(at_, fmt::format("nested too deep, expected at most {} levels", deepest));
    ++at_;
    JsonValue value = (this->*read)(place);
    --depth_;
    return value;
  }

  JsonValue word(const Place& place) {
    for (const std::string_view known : {"true", "false", "null"}) {
      if (text_.substr(at_, known.size()) != known) continue;
      const std::size_t end = at_ + known.size();
      if (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) break;
      at_ = end;
      const auto kind = known == "null" ? JsonValue::Kind::null : JsonValue::Kind::boolean;
      return JsonValue::scalar(kind, std::string(known), place);
    }
    fail_here("a value");
  }

  JsonValue array(const Place& place) {
    std::vector<JsonValue> items;
    if (take(']')) return JsonValue::array({}, place);
    const std::size_t parent = pointer_.size();
    do {
      pointer_ += fmt::format("/{}", items.size());
      items.push_back(any_value());
      pointer_.resize(parent);
    } while (take(','));
    if (!take(']')) fail_here("',' or ']'");
    return JsonValue::array(std::move(items), place);
  }

  JsonValue object(const Place& place) {
    std::vector<JsonValue::Member> members;
    std::unordered_map<std::string, int> lines;
    if (take('}')) return JsonValue::object({}, place);
    const std::size_t parent = pointer_.size();
    do {
      members.push_back(member(lines));
      pointer_.resize(parent);
    } while (take(','));
    if (!take('}')) fail_here("',' or '}'");
    return JsonValue::object(std::move(members), place);
  }

  JsonValue::Member member(std::unordered_map<std::string, int>& lines) {
    skip_blanks();
    if (peek() != '"') fail_here("a member name in double quotes");
    const std::size_t start = at_;
    std::string name = quoted_text();
    pointer_ += '/' + pointer_token(name);
    Place place = place_at(start);
    const auto [first, fresh] = lines.emplace(name, place.line);
    if (!fresh)
      throw UserError(std::move(place), fmt::format("duplicate key {}, expected it once (first on "
                                                    "line {})",
                                                    in_quotes(name), first->second));
    if (!take(':')) fail_here("':' after the member name");
    JsonValue value = any_value();
    return {std::move(name), std::move(place), std::move(value)};
  }

  void digits(std::string_view expected) {
    if (!is_digit(peek())) fail_here(expected);
    while (is_digit(peek()))
      ++at_;
  }

  JsonValue number(const Place& place) {
    const std::size_t start = at_;
    auto kind = JsonValue::Kind::integer;
    if (peek() == '-') ++at_;
    if (peek() == '0') {
      ++at_;
      if (is_digit(peek())) fail(start, "a number starts with 0, expected no leading zeros");
    } else {
      digits("a digit");
    }
    if (peek() == '.') {
      kind = JsonValue::Kind::real;
      ++at_;
      digits("a digit after the decimal point");
    }
    if (peek() == 'e' || peek() == 'E') {
      kind = JsonValue::Kind::real;
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      digits("a digit of the exponent");
    }
    return JsonValue::scalar(kind, std::string(text_.substr(start, at_ - start)), place);
  }

  std::string quoted_text() {
    const std::size_t start = at_++;
    std::string result;
    while (!at_end()) {
      const char c = peek();
      if (c == '"') {
        ++at_;
        return result;
      }
      if (c == '\\') {
        escape(result);
      } else if (c == '\n') {
        break;
      } else if (static_cast<unsigned char>(c) < 0x20) {
        fail_here("an escape such as \\n or \\u0001 inside a text");
      } else {
        plain_character(result);
      }
    }
    fail(start, "a text is not closed, expected '\"' on the same line");
  }

  void plain_character(std::string& result) {
    const std::size_t length = utf8_length(text_.substr(at_));
    if (length == 0) fail_here("UTF-8");
    result += text_.substr(at_, length);
    at_ += length;
  }

  void escape(std::string& result) {
    static constexpr std::string_view names = "\"\\/bfnrt";
    static constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
    const std::size_t start = at_++;
    const std::size_t index = at_end() ? std::string_view::npos : names.find(peek());
    if (index != std::string_view::npos) {
      ++at_;
      result += meanings[index];
      return;
    }
    if (peek() != 'u') fail_here("one of \" \\ / b f n r t u after a backslash");
    unsigned code = hex_escape();
    if (code >= 0xDC00 && code <= 0xDFFF)
      fail(start, "half a surrogate pair, expected both halves");
    if (code >= 0xD800 && code <= 0xDBFF) {
      if (text_.substr(at_, 2) != "\\u") fail(start, "half a surrogate pair, expected both halves");
      ++at_;
      const unsigned low = hex_escape();
      if (low < 0xDC00 || low > 0xDFFF) fail(start, "half a surrogate pair, expected both halves");
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    append_utf8(result, code);
  }

  /// At the `u`; leaves the position after the four digits.
  unsigned hex_escape() {
    ++at_;
    unsigned code = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const std::size_t digit = at_end() ? std::string_view::npos
                                         : std::string_view("0123456789abcdefABCDEF").find(peek());
      if (digit == std::string_view::npos) fail_here("four hexadecimal digits after \\u");
      code = code * 16 + static_cast<unsigned>(digit < 16 ? digit : digit - 6);
    }
    return code;
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
  std::size_t counted_ = 0; ///< newlines before here are in line_
  int line_ = 1;
  std::size_t line_start_ = 0;
  int depth_ = 0;
  std::string pointer_;
};

} // namespace

JsonValue parse_json(std::string_view text, const std::string& file) {
  return Parser(text, file).document();
}

} // namespace umf
