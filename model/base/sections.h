#pragma once

#include "model/base/json.h"
#include "model/base/key_context.h"
#include "model/base/key_info.h"

#include <nlohmann/json_fwd.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace umf {

/// One member of the scenario's top-level object, without C++ types.
struct Section {
  enum class Shape {
    object,       ///< one component's keys
    map_of_kinds, ///< free names -> objects whose `kind_key` picks the component
    kind_object,  ///< one object whose `kind_key` picks the component
    value         ///< one key: that of the same name in components[0]
  };
  std::string name; ///< "tiers"
  std::string help;
  Shape shape = Shape::object;
  /// The kind of "tier.hbm" is what follows the last dot: "hbm".
  std::vector<const ComponentInfo*> components;
  std::string kind_key = "kind";
};

/// What `kind_key` must say to pick the component.
std::string_view kind_of(const ComponentInfo& component);

/// The component that the object's discriminator names; null after a fault
/// (missing, no text, or unknown, with "did you mean").
const ComponentInfo* read_kind(const JsonValue& object, const Section& section,
                               KeyContext& context);

/// Reports members of the scenario that are no section.
void report_unknown_sections(const JsonValue& scenario, std::span<const Section> sections,
                             KeyContext& context);

/// Terminal text: every key of one component, or a short list of all when the
/// name is empty. Throws UserError for a name that is none.
std::string describe(std::span<const Section> sections, std::string_view component);

/// JSON Schema (draft 2020-12) of a whole scenario, includes resolved.
nlohmann::ordered_json scenario_schema(std::span<const Section> sections);

} // namespace umf
