#include "model/base/sections.h"

#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace umf {
namespace {

using Json = nlohmann::ordered_json;

Json scalar_schema(const KeyInfo& key) {
  switch (key.type.leaf) {
  case KeyType::Leaf::whole:
  case KeyType::Leaf::number: {
    Json schema = {{"type", key.type.leaf == KeyType::Leaf::whole ? "integer" : "number"}};
    if (key.type.leaf == KeyType::Leaf::whole) schema["minimum"] = 0;
    if (!key.min_json.empty()) schema["minimum"] = Json::parse(key.min_json);
    if (!key.max_json.empty()) schema["maximum"] = Json::parse(key.max_json);
    return schema;
  }
  case KeyType::Leaf::boolean:
    return {{"type", "boolean"}};
  case KeyType::Leaf::choice:
    return {{"enum", key.type.choices}};
  case KeyType::Leaf::quantity:
    return {{"type", "string"}, {"pattern", key.type.pattern}};
  case KeyType::Leaf::text:
    break;
  }
  return {{"type", "string"}};
}

Json value_schema(const KeyInfo& key) {
  const Json scalar = scalar_schema(key);
  switch (key.type.container) {
  case KeyType::Container::list:
    return {{"type", "array"}, {"items", scalar}};
  case KeyType::Container::shares:
    return {{"type", "object"}, {"additionalProperties", scalar}};
  case KeyType::Container::one:
    break;
  }
  return scalar;
}

std::string description(const KeyInfo& key) {
  std::string text = key.help;
  if (!key.min_text.empty() || !key.max_text.empty())
    text += fmt::format("{}Range {}..{}.", text.empty() ? "" : " ", key.min_text, key.max_text);
  if (!key.required && !key.source.empty())
    text +=
        fmt::format("{}Default {}: {}.", text.empty() ? "" : " ", name_of(key.from), key.source);
  return text;
}

/// A plain value, or the same with where it comes from.
Json key_schema(const KeyInfo& key) {
  Json plain = value_schema(key);
  if (key.optional) plain = {{"anyOf", {plain, {{"type", "null"}}}}};
  Json annotated = {{"type", "object"},
                    {"properties",
                     {{"value", plain},
                      {"from", {{"$ref", "#/$defs/provenance"}}},
                      {"source", {{"type", "string"}}},
                      {"override", {{"type", "boolean"}}}}},
                    {"required", Json::array({"value"})},
                    {"additionalProperties", false}};
  Json schema;
  if (std::string text = description(key); !text.empty()) schema["description"] = std::move(text);
  if (!key.default_json.empty()) schema["default"] = Json::parse(key.default_json);
  schema["examples"] = Json::array({Json::parse(key.type.example)});
  schema["anyOf"] = Json::array({std::move(plain), std::move(annotated)});
  return schema;
}

Json object_schema(const std::string& help) {
  Json schema = {{"type", "object"}};
  if (!help.empty()) schema["description"] = help;
  schema["properties"] = Json::object();
  schema["additionalProperties"] = false;
  return schema;
}

const std::string& group_help(const ComponentInfo& component, const std::string& dotted) {
  static const std::string none;
  for (const auto& [name, help] : component.groups)
    if (name == dotted) return help;
  return none;
}

void require(Json& object, const std::string& name) {
  Json& names = object["required"];
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

/// Inserts a key under its dotted name; a group with a required key is required itself.
void insert_key(Json& object, const ComponentInfo& component, const KeyInfo& key,
                std::size_t from = 0) {
  const std::size_t dot = key.name.find('.', from);
  const std::string name = key.name.substr(from, dot - from);
  if (key.required) require(object, name);
  if (dot == std::string::npos) {
    object["properties"][name] = key_schema(key);
    return;
  }
  if (!object["properties"].contains(name))
    object["properties"][name] = object_schema(group_help(component, key.name.substr(0, dot)));
  insert_key(object["properties"][name], component, key, dot + 1);
}

Json component_schema(const ComponentInfo& component) {
  Json schema = object_schema(component.help);
  for (const KeyInfo& key : component.keys)
    insert_key(schema, component, key);
  return schema;
}

Json reference(const ComponentInfo& component) {
  return {{"$ref", "#/$defs/" + component.name}};
}

/// An object whose discriminator picks the component: one condition for each,
/// so that an editor names the fault instead of "matches none of".
Json choice_of_kind(const Section& section) {
  Json kinds = Json::array();
  Json conditions = Json::array();
  for (const ComponentInfo* component : section.components) {
    kinds.push_back(kind_of(*component));
    const Json is_kind = {{"properties", {{section.kind_key, {{"const", kind_of(*component)}}}}},
                          {"required", Json::array({section.kind_key})}};
    conditions.push_back({{"if", is_kind}, {"then", reference(*component)}});
  }
  return {{"type", "object"},
          {"properties", {{section.kind_key, {{"enum", kinds}}}}},
          {"required", Json::array({section.kind_key})},
          {"allOf", conditions}};
}

Json section_schema(const Section& section) {
  Json schema;
  switch (section.shape) {
  case Section::Shape::object:
    schema = reference(*section.components.at(0));
    break;
  case Section::Shape::kind_object:
    schema = choice_of_kind(section);
    break;
  case Section::Shape::map_of_kinds:
    schema = {{"type", "object"}, {"additionalProperties", choice_of_kind(section)}};
    break;
  case Section::Shape::value:
    for (const KeyInfo& key : section.components.at(0)->keys)
      if (key.name == section.name) return key_schema(key);
    throw InvariantError("a value section has no key of its name");
  }
  if (!section.help.empty()) schema["description"] = section.help;
  return schema;
}

void add_definitions(Json& definitions, const Section& section) {
  if (section.shape == Section::Shape::value) return;
  const bool has_kind = section.shape != Section::Shape::object;
  for (const ComponentInfo* component : section.components) {
    Json schema = component_schema(*component);
    if (has_kind) schema["properties"][section.kind_key] = {{"const", kind_of(*component)}};
    definitions[component->name] = std::move(schema);
  }
}

} // namespace

Json scenario_schema(std::span<const Section> sections) {
  Json root = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
               {"title", "umfsim scenario"}};
  root.update(object_schema("A simulated machine, with its includes resolved."));
  root["properties"]["include"] = {
      {"description", "Files, relative to this one, whose members this file overrides."},
      {"type", "array"},
      {"items", {{"type", "string"}}}};
  root["$defs"]["provenance"] = {{"enum", provenance_names()}};
  for (const Section& section : sections) {
    root["properties"][section.name] = section_schema(section);
    add_definitions(root["$defs"], section);
  }
  return root;
}

} // namespace umf
