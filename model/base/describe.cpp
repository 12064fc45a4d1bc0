#include "model/base/nearest.h"
#include "model/base/sections.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace umf {
namespace {

using Row = std::array<std::string, 4>;

std::string range_text(const KeyInfo& key) {
  if (key.min_text.empty() && key.max_text.empty()) return "";
  return key.min_text + ".." + key.max_text;
}

std::string default_cell(const KeyInfo& key) {
  return key.required ? "(required)" : key.default_text;
}

std::string help_line(const KeyInfo& key) {
  std::string line = key.help;
  if (key.type.leaf == KeyType::Leaf::quantity)
    line += fmt::format("{}Such as {}.", line.empty() ? "" : " ", key.type.example);
  if (!key.required) {
    line += fmt::format("{}Default {}", line.empty() ? "" : " ", name_of(key.from));
    if (!key.source.empty()) line += ": " + key.source;
    line += '.';
  }
  return line;
}

std::string padded(const Row& row, const std::array<std::size_t, 4>& widths) {
  std::string line = " ";
  for (std::size_t i = 0; i < row.size(); ++i)
    line += fmt::format(" {:<{}} ", row[i], widths[i]);
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

/// Rows of a table with a line of help under each.
std::string key_table(const std::vector<const KeyInfo*>& keys) {
  std::vector<Row> rows = {{"key", "type", "default", "range"}};
  for (const KeyInfo* key : keys)
    rows.push_back({key->name, key->type.name, default_cell(*key), range_text(*key)});
  std::array<std::size_t, 4> widths{};
  for (const Row& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  std::string text = padded(rows.front(), widths);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    text += padded(rows[i + 1], widths);
    const std::string help = help_line(*keys[i]);
    if (!help.empty()) text += "      " + help + '\n';
  }
  return text;
}

std::string where_it_stands(const Section& section, const ComponentInfo& component) {
  switch (section.shape) {
  case Section::Shape::map_of_kinds:
    return fmt::format("Stands at /{}/NAME with \"{}\": \"{}\".", section.name, section.kind_key,
                       kind_of(component));
  case Section::Shape::kind_object:
    return fmt::format("Stands at /{} with \"{}\": \"{}\".", section.name, section.kind_key,
                       kind_of(component));
  case Section::Shape::object:
  case Section::Shape::value:
    break;
  }
  return fmt::format("Stands at /{}.", section.name);
}

std::vector<const KeyInfo*> keys_of(const Section& section, const ComponentInfo& component) {
  std::vector<const KeyInfo*> keys;
  for (const KeyInfo& key : component.keys)
    if (section.shape != Section::Shape::value || key.name == section.name) keys.push_back(&key);
  return keys;
}

/// A value section is called by its own name, the others by their component's.
std::string described_name(const Section& section, const ComponentInfo& component) {
  return section.shape == Section::Shape::value ? section.name : component.name;
}

std::string describe_one(const Section& section, const ComponentInfo& component) {
  const bool is_value = section.shape == Section::Shape::value;
  std::string text =
      fmt::format("{}: {}\n{}\n\n", described_name(section, component),
                  is_value ? section.help : component.help, where_it_stands(section, component));
  text += key_table(keys_of(section, component));
  if (!component.groups.empty() && !is_value) {
    text += "\nGroups:\n";
    for (const auto& [name, help] : component.groups)
      text += fmt::format("  {}: {}\n", name, help);
  }
  return text;
}

std::string describe_all(std::span<const Section> sections) {
  std::size_t width = 0;
  std::vector<std::pair<std::string, std::string>> lines;
  for (const Section& section : sections) {
    for (const ComponentInfo* component : section.components) {
      const bool is_value = section.shape == Section::Shape::value;
      lines.emplace_back(described_name(section, *component),
                         is_value ? section.help : component->help);
      width = std::max(width, lines.back().first.size());
    }
  }
  std::string text;
  for (const auto& [name, help] : lines)
    text += fmt::format("{:<{}}  {}\n", name, width, help);
  return text;
}

} // namespace

std::string describe(std::span<const Section> sections, std::string_view component) {
  if (component.empty()) return describe_all(sections);
  std::vector<std::string> names;
  for (const Section& section : sections) {
    for (const ComponentInfo* known : section.components) {
      names.push_back(described_name(section, *known));
      if (names.back() == component) return describe_one(section, *known);
    }
  }
  throw UserError(fmt::format("unknown component \"{}\", expected one of {}{}", component,
                              fmt::join(names, ", "), near_hint(component, names)));
}

} // namespace umf
