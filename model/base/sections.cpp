#include "model/base/sections.h"

#include "model/base/key_reading.h"
#include "model/base/nearest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace umf {
namespace {

std::vector<std::string> kinds_of(const Section& section) {
  std::vector<std::string> kinds;
  for (const ComponentInfo* component : section.components)
    kinds.emplace_back(kind_of(*component));
  return kinds;
}

} // namespace

std::string_view kind_of(const ComponentInfo& component) {
  const std::string_view name = component.name;
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

const ComponentInfo* read_kind(const JsonValue& object, const Section& section,
                               KeyContext& context) {
  if (!require_object(object, context)) return nullptr;
  const std::vector<std::string> kinds = kinds_of(section);
  const std::string expected = fmt::format("expected one of {}", fmt::join(kinds, ", "));
  const JsonValue* given = object.find(section.kind_key);
  if (given == nullptr) {
    context.fault(object.place(),
                  fmt::format("key {} is missing, {}", in_quotes(section.kind_key), expected));
    return nullptr;
  }
  if (!given->is_text()) {
    context.fault(given->place(), fmt::format("found {}, {}", given->found(), expected));
    return nullptr;
  }
  const auto at = std::find(kinds.begin(), kinds.end(), given->text());
  if (at != kinds.end()) return section.components[static_cast<std::size_t>(at - kinds.begin())];
  context.fault(given->place(),
                fmt::format("unknown {} {}, {}{}", section.kind_key, in_quotes(given->text()),
                            expected, near_hint(given->text(), kinds)));
  return nullptr;
}

void report_unknown_sections(const JsonValue& scenario, std::span<const Section> sections,
                             KeyContext& context) {
  std::vector<std::string> names;
  for (const Section& section : sections)
    names.push_back(section.name);
  report_unknown_keys(scenario, names, context);
}

} // namespace umf
