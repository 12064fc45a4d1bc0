#include "traces/access/kinds.h"

#include "model/base/nearest.h"
#include "model/base/scenario_overlay.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace umf::traces::access {

namespace {

const std::vector<PageKind>& page_kinds() {
  static const std::vector<PageKind> all = {dense_pages(), sinks_pages(), top_k_pages()};
  return all;
}

const std::vector<ExpertKind>& expert_kinds() {
  static const std::vector<ExpertKind> all = {uniform_experts(), power_law_experts(),
                                              local_experts(), scattered_experts()};
  return all;
}

template <class Kind>
std::vector<const ComponentInfo*> components(const std::vector<Kind>& kinds) {
  std::vector<const ComponentInfo*> all;
  for (const Kind& kind : kinds)
    all.push_back(kind.info);
  return all;
}

template <class Kind>
std::vector<std::string> names(const std::vector<Kind>& kinds) {
  std::vector<std::string> all;
  for (const Kind& kind : kinds)
    all.emplace_back(kind_of(*kind.info));
  return all;
}

template <class Kind>
const Kind& kind_named(const std::vector<Kind>& kinds, std::string_view name,
                       std::string_view what) {
  for (const Kind& kind : kinds)
    if (kind_of(*kind.info) == name) return kind;
  throw UserError(fmt::format("unknown {} {}, expected one of {}{}", what, in_quotes(name),
                              fmt::join(names(kinds), ", "), near_hint(name, names(kinds))));
}

bool concerns(std::string_view set, std::string_view section) {
  if (set.starts_with('/')) set.remove_prefix(1);
  return set.size() > section.size() && set.starts_with(section) &&
         (set[section.size()] == '.' || set[section.size()] == '/');
}

/// The section with what the sets say of it.
JsonValue section(std::string_view name, std::span<const std::string> sets) {
  Place place;
  place.file = "--set";
  JsonValue all = JsonValue::empty_object(place);
  for (const std::string& set : sets) {
    if (!concerns(set, "access") && !concerns(set, "routing"))
      throw UserError(fmt::format("--set: {} is no key of access or routing, expected such as "
                                  "access.budget=1024",
                                  in_quotes(set)));
    if (concerns(set, name)) apply_overlay(all, set);
  }
  const JsonValue* found = all.find(name);
  place.pointer = fmt::format("/{}", name);
  return found != nullptr ? *found : JsonValue::empty_object(place);
}

} // namespace

std::span<const Section> access_sections() {
  static const std::vector<Section> sections = {
      {"access", "generate --access: which pages of a context are read.",
       Section::Shape::kind_object, components(page_kinds()), std::string(kNameKey)},
      {"routing", "generate --routing: which experts tokens take.", Section::Shape::kind_object,
       components(expert_kinds()), std::string(kNameKey)}};
  return sections;
}

std::vector<std::string> access_names() {
  return names(page_kinds());
}

std::vector<std::string> routing_names() {
  return names(expert_kinds());
}

std::unique_ptr<PageChooser> make_pages(std::string_view name, std::span<const std::string> sets,
                                        std::uint64_t seed) {
  KeyContext context;
  auto chooser =
      kind_named(page_kinds(), name, "access").make(section("access", sets), context, seed);
  context.throw_if_faulty();
  return chooser;
}

std::unique_ptr<ExpertChooser> make_experts(std::string_view name,
                                            std::span<const std::string> sets,
                                            const Experts& experts, std::uint64_t seed) {
  KeyContext context;
  auto chooser = kind_named(expert_kinds(), name, "routing")
                     .make(section("routing", sets), context, experts, seed);
  context.throw_if_faulty();
  return chooser;
}

} // namespace umf::traces::access
