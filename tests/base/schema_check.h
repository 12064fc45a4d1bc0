#pragma once

#include <nlohmann/json.hpp>

namespace umf::test {

using Json = nlohmann::ordered_json;

/// As much of JSON Schema 2020-12 as the published schema uses.
class SchemaCheck {
public:
  explicit SchemaCheck(const Json& root) : root_(root) {}
  bool accepts(const Json& value, const Json& schema) const;

private:
  bool type_fits(const Json& value, const Json& schema) const;
  bool bounds_fit(const Json& value, const Json& schema) const;
  bool members_fit(const Json& value, const Json& schema) const;
  bool combinations_fit(const Json& value, const Json& schema) const;

  const Json& root_;
};

} // namespace umf::test
