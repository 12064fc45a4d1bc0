#include "model/base/scenario_overlay.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace umf {
namespace {

Place place_of_set(std::string pointer) {
  Place place;
  place.file = "--set";
  place.pointer = std::move(pointer);
  return place;
}

[[noreturn]] void fail_path(std::string_view path, std::string_view what) {
  throw UserError(place_of_set({}),
                  fmt::format("{} {}, expected a path such as tiers.hbm.capacity or "
                              "/tiers/hbm/capacity",
                              in_quotes(path), what));
}

std::string unescaped(std::string_view token, std::string_view path) {
  std::string name;
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (token[i] != '~') {
      name += token[i];
      continue;
    }
    if (++i == token.size() || (token[i] != '0' && token[i] != '1'))
      fail_path(path, "has a '~' that is neither ~0 nor ~1");
    name += token[i] == '0' ? '~' : '/';
  }
  return name;
}

std::vector<std::string> path_names(std::string_view path) {
  const bool is_pointer = path.starts_with('/');
  const char separator = is_pointer ? '/' : '.';
  std::string_view rest = is_pointer ? path.substr(1) : path;
  std::vector<std::string> names;
  while (true) {
    const std::size_t end = std::min(rest.find(separator), rest.size());
    const std::string_view token = rest.substr(0, end);
    if (token.empty()) fail_path(path, "has an empty part");
    names.push_back(is_pointer ? unescaped(token, path) : std::string(token));
    if (end == rest.size()) return names;
    rest.remove_prefix(end + 1);
  }
}

/// JSON if it is JSON, else a text.
JsonValue overlay_value(std::string_view text) {
  try {
    return parse_json(text, "--set");
  } catch (const UserError&) {
    return JsonValue::scalar(JsonValue::Kind::text, std::string(text), {});
  }
}

void relocate(JsonValue& value, const std::string& pointer) {
  value.place() = place_of_set(pointer);
  for (std::size_t i = 0; i < value.items().size(); ++i)
    relocate(value.items()[i], fmt::format("{}/{}", pointer, i));
  for (JsonValue::Member& member : value.members()) {
    member.place = place_of_set(pointer + '/' + pointer_token(member.name));
    relocate(member.value, member.place.pointer);
  }
}

JsonValue& item_at(JsonValue& list, const std::string& index, const Place& place) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(index.data(), index.data() + index.size(), number);
  if (error != std::errc{} || end != index.data() + index.size() || number >= list.items().size())
    throw UserError(place, fmt::format("no item {} in a list of {}, expected an index from 0",
                                       in_quotes(index), list.items().size()));
  return list.items()[number];
}

JsonValue& child(JsonValue& parent, const std::string& name, const Place& place) {
  if (parent.is_array()) return item_at(parent, name, place);
  if (!parent.is_object())
    throw UserError(place, fmt::format("{} is {}, expected an object to set {} in",
                                       parent.place().pointer, parent.found(), in_quotes(name)));
  if (JsonValue* present = parent.find(name)) return *present;
  parent.members().push_back({name, place, JsonValue::empty_object(place)});
  return parent.members().back().value;
}

} // namespace

void apply_overlay(JsonValue& scenario, std::string_view argument) {
  const std::size_t split = argument.find('=');
  if (split == std::string_view::npos)
    throw UserError(place_of_set({}), fmt::format("{} has no '=', expected PATH=VALUE such as "
                                                  "tiers.hbm.capacity=64GiB",
                                                  in_quotes(argument)));
  JsonValue* target = &scenario;
  std::string pointer;
  for (const std::string& name : path_names(argument.substr(0, split))) {
    pointer += '/' + pointer_token(name);
    target = &child(*target, name, place_of_set(pointer));
  }
  JsonValue value = overlay_value(argument.substr(split + 1));
  relocate(value, pointer);
  *target = std::move(value);
}

} // namespace umf
