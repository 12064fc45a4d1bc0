#include "tests/base/schema_check.h"

#include <algorithm>
#include <regex>

namespace umf::test {

bool SchemaCheck::accepts(const Json& value, const Json& schema) const {
  if (schema.is_boolean()) return schema.get<bool>();
  if (schema.contains("$ref")) {
    const std::string pointer = schema["$ref"].get<std::string>().substr(1); // "#/…"
    if (!accepts(value, root_.at(Json::json_pointer(pointer)))) return false;
  }
  return type_fits(value, schema) && bounds_fit(value, schema) && members_fit(value, schema) &&
         combinations_fit(value, schema);
}

bool SchemaCheck::type_fits(const Json& value, const Json& schema) const {
  if (schema.contains("const") && value != schema["const"]) return false;
  if (schema.contains("enum")) {
    const Json& choices = schema["enum"];
    if (std::find(choices.begin(), choices.end(), value) == choices.end()) return false;
  }
  if (!schema.contains("type")) return true;
  const std::string type = schema["type"];
  return type == "object"    ? value.is_object()
         : type == "array"   ? value.is_array()
         : type == "string"  ? value.is_string()
         : type == "boolean" ? value.is_boolean()
         : type == "integer" ? value.is_number_integer()
         : type == "number"  ? value.is_number()
                             : value.is_null();
}

bool SchemaCheck::bounds_fit(const Json& value, const Json& schema) const {
  if (value.is_number()) {
    if (schema.contains("minimum") && value < schema["minimum"]) return false;
    if (schema.contains("maximum") && value > schema["maximum"]) return false;
  }
  if (value.is_string() && schema.contains("pattern"))
    return std::regex_search(value.get<std::string>(),
                             std::regex(schema["pattern"].get<std::string>()));
  return true;
}

bool SchemaCheck::members_fit(const Json& value, const Json& schema) const {
  if (value.is_array() && schema.contains("items"))
    return std::all_of(value.begin(), value.end(),
                       [&](const Json& item) { return accepts(item, schema["items"]); });
  if (!value.is_object()) return true;
  if (schema.contains("required"))
    for (const Json& name : schema["required"])
      if (!value.contains(name.get<std::string>())) return false;
  const Json none = Json::object();
  const Json& known = schema.contains("properties") ? schema["properties"] : none;
  for (const auto& [name, member] : value.items()) {
    if (known.contains(name)) {
      if (!accepts(member, known[name])) return false;
    } else if (schema.contains("additionalProperties") &&
               !accepts(member, schema["additionalProperties"])) {
      return false;
    }
  }
  return true;
}

bool SchemaCheck::combinations_fit(const Json& value, const Json& schema) const {
  const auto fits = [&](const Json& part) { return accepts(value, part); };
  if (schema.contains("anyOf") &&
      !std::any_of(schema["anyOf"].begin(), schema["anyOf"].end(), fits))
    return false;
  if (schema.contains("allOf") &&
      !std::all_of(schema["allOf"].begin(), schema["allOf"].end(), fits))
    return false;
  return !schema.contains("if") || !fits(schema["if"]) || fits(schema["then"]);
}

} // namespace umf::test
