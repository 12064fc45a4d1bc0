#include "model/base/json.h"
#include "model/base/key_reading.h"
#include "model/base/scenario_overlay.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace umf {
namespace {

namespace fs = std::filesystem;

bool merges(const JsonValue& below, const JsonValue& above) {
  return below.is_object() && above.is_object() && !is_annotated_leaf(below) &&
         !is_annotated_leaf(above);
}

/// Objects merge member by member; anything else, annotated leaves included, is replaced whole.
void merge(JsonValue& below, JsonValue above) {
  if (!merges(below, above)) {
    below = std::move(above);
    return;
  }
  below.place() = above.place();
  for (JsonValue::Member& member : above.members()) {
    if (JsonValue* present = below.find(member.name)) {
      merge(*present, std::move(member.value));
    } else {
      below.members().push_back(std::move(member));
    }
  }
}

fs::path identity(const fs::path& path) {
  std::error_code error;
  fs::path canonical = fs::weakly_canonical(path, error);
  return error ? path.lexically_normal() : canonical;
}

/// Loads files with what they include; `open_` is the chain from the first to the present one.
class Loader {
public:
  JsonValue load(const fs::path& path) {
    open_.push_back(identity(path));
    JsonValue own = read_json_file(path);
    if (!own.is_object())
      throw UserError(own.place(), fmt::format("found {}, expected an object", own.found()));
    JsonValue result = JsonValue::empty_object(own.place());
    for (const JsonValue& name : take_includes(own))
      merge(result, included(path, name));
    merge(result, std::move(own));
    open_.pop_back();
    return result;
  }

private:
  static std::vector<JsonValue> take_includes(JsonValue& own) {
    JsonValue* list = own.find("include");
    if (list == nullptr) return {};
    if (!list->is_array())
      throw UserError(list->place(), fmt::format("found {}, expected a list of files such as "
                                                 "[\"parts/gpu.json\"]",
                                                 list->found()));
    std::vector<JsonValue> names = std::move(list->items());
    std::erase_if(own.members(), [](const auto& member) { return member.name == "include"; });
    return names;
  }

  JsonValue included(const fs::path& from, const JsonValue& name) {
    if (!name.is_text())
      throw UserError(name.place(), fmt::format("found {}, expected the name of a file such as "
                                                "\"parts/gpu.json\"",
                                                name.found()));
    const fs::path path = (from.parent_path() / name.text()).lexically_normal();
    std::error_code unused;
    if (!fs::is_regular_file(path, unused))
      throw UserError(name.place(), fmt::format("no file {}, expected a file relative to this one",
                                                in_quotes(path.string())));
    if (std::find(open_.begin(), open_.end(), identity(path)) != open_.end())
      throw UserError(name.place(),
                      fmt::format("{} includes itself, expected no circle of includes",
                                  in_quotes(path.string())));
    return load(path);
  }

  std::vector<fs::path> open_;
};

} // namespace

JsonValue load_scenario(const fs::path& path, std::span<const std::string> sets) {
  JsonValue scenario = Loader().load(path);
  for (const std::string& set : sets)
    apply_overlay(scenario, set);
  return scenario;
}

} // namespace umf
