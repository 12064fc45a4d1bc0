#pragma once

#include "model/base/error.h"

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace umf {

/// A JSON document that remembers where every value and every member name
/// stands, so that any later complaint can point at it.
class JsonValue {
public:
  enum class Kind { null, boolean, integer, real, text, array, object };
  struct Member;

  // Defined where Member is complete.
  JsonValue();
  JsonValue(const JsonValue& other);
  JsonValue(JsonValue&& other) noexcept;
  JsonValue& operator=(const JsonValue& other);
  JsonValue& operator=(JsonValue&& other) noexcept;
  ~JsonValue();

  static JsonValue scalar(Kind kind, std::string text, Place place);
  static JsonValue array(std::vector<JsonValue> items, Place place);
  static JsonValue object(std::vector<Member> members, Place place);
  /// For a section the user left out: every key takes its default.
  static JsonValue empty_object(Place place);

  Kind kind() const { return kind_; }
  bool is_object() const { return kind_ == Kind::object; }
  bool is_array() const { return kind_ == Kind::array; }
  bool is_text() const { return kind_ == Kind::text; }
  bool is_number() const { return kind_ == Kind::integer || kind_ == Kind::real; }
  bool is_null() const { return kind_ == Kind::null; }

  bool boolean() const { return text_ == "true"; }
  /// The characters of a text, or the exact spelling of a number, boolean or null.
  const std::string& text() const { return text_; }
  const std::vector<JsonValue>& items() const { return items_; }
  std::vector<JsonValue>& items() { return items_; }
  const std::vector<Member>& members() const { return members_; } ///< in file order
  std::vector<Member>& members() { return members_; }
  /// The member's value, or null.
  const JsonValue* find(std::string_view name) const;
  JsonValue* find(std::string_view name);

  const Place& place() const { return place_; }
  Place& place() { return place_; }

  /// What a complaint calls it: `the number 5`, `the text "abc"`, `an object`.
  std::string found() const;

private:
  Kind kind_ = Kind::null;
  std::string text_ = "null";
  std::vector<JsonValue> items_;
  std::vector<Member> members_;
  Place place_;
};

struct JsonValue::Member {
  std::string name;
  Place place; ///< of the name
  JsonValue value;
};

/// Strict JSON (RFC 8259). Throws UserError at the fault; duplicate member
/// names and nesting beyond 100 levels are faults.
JsonValue parse_json(std::string_view text, const std::string& file);

/// Throws UserError when the file cannot be read or is no JSON.
JsonValue read_json_file(const std::filesystem::path& path);

/// Reads a scenario: resolves `"include": [files]` relative to the including
/// file (which overrides what it includes, objects merged member by member),
/// then applies `--set` overlays, `/json/pointer=VALUE` or `dotted.path=VALUE`,
/// where VALUE is JSON if it parses as such, else a text.
JsonValue load_scenario(const std::filesystem::path& path, std::span<const std::string> sets);

/// One part of a JSON pointer: `~` and `/` escaped; control characters
/// spelled out, since pointers are printed on one line.
std::string pointer_token(std::string_view name);

/// In double quotes on one line: control characters escaped, long texts cut.
std::string in_quotes(std::string_view text);

} // namespace umf
