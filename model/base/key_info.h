#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace umf {

/// Where a figure comes from.
enum class Provenance { measured, datasheet, standard, claimed, fitted, derived };

std::string_view name_of(Provenance from);
std::optional<Provenance> provenance_named(std::string_view name);
const std::vector<std::string>& provenance_names();

/// How a key's value is written.
struct KeyType {
  enum class Leaf { whole, number, boolean, text, choice, quantity };
  enum class Container { one, list, shares }; ///< shares: object of name -> number

  Leaf leaf = Leaf::text;
  Container container = Container::one;
  std::string name;                 ///< "size", "whole number", "list of sizes" …
  std::string example;              ///< as JSON: "\"64GiB\"", "64"
  std::string expected;             ///< for errors: `a size such as "64GiB"`
  std::string pattern;              ///< quantities: a regular expression
  std::vector<std::string> choices; ///< choices alone
};

/// One key of a component, without its C++ type: for describe and schema.
struct KeyInfo {
  std::string name; ///< dotted below the component: "l2.capacity"
  KeyType type;
  std::string default_text; ///< "none" for optional keys; empty when required
  std::string default_json; ///< empty when there is none
  std::string min_text, max_text;
  std::string min_json, max_json; ///< of whole numbers and numbers, else empty
  std::string help;
  Provenance from = Provenance::derived; ///< of the default
  std::string source;                    ///< of the default
  bool required = false;
  bool optional = false; ///< absent (or null) means none
};

struct ComponentInfo {
  std::string name; ///< as in `describe`: "gpu", "tier.hbm"
  std::string help;
  std::vector<KeyInfo> keys;                               ///< in order of declaration
  std::vector<std::pair<std::string, std::string>> groups; ///< dotted name, help
};

/// What a key's value turned out to be in one scenario.
struct KeyRecord {
  std::string pointer;
  std::string value; ///< as describe prints it
  std::optional<Provenance> from;
  std::string source;
  bool given = false;
  bool overridden = false; ///< marked `override`: physical bounds do not apply
};

} // namespace umf
