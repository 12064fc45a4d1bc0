#include "model/base/key_info.h"

#include <algorithm>

namespace umf {

const std::vector<std::string>& provenance_names() {
  static const std::vector<std::string> names = {"measured", "datasheet", "standard",
                                                 "claimed",  "fitted",    "derived"};
  return names;
}

std::string_view name_of(Provenance from) {
  return provenance_names().at(static_cast<std::size_t>(from));
}

std::optional<Provenance> provenance_named(std::string_view name) {
  const auto& names = provenance_names();
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end()) return std::nullopt;
  return static_cast<Provenance>(at - names.begin());
}

} // namespace umf
