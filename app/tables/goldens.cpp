#include "app/tables/goldens.h"

#include "model/base/error.h"
#include "model/base/json.h"
#include "model/base/nearest.h"
#include "traces/places.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace umf::app {

namespace {

namespace fs = std::filesystem;

constexpr const char* kSidecar = "suites.json";

[[noreturn]] void wrong(const Place& place, const std::string& pointer, const std::string& what) {
  Place at = place;
  at.pointer = pointer;
  throw UserError(at, what);
}

std::string text_of(const JsonValue& value, const std::string& pointer) {
  if (!value.is_text()) wrong(value.place(), pointer, value.found() + ", expected a text");
  return value.text();
}

std::vector<std::string> texts_of(const JsonValue& value, const std::string& pointer) {
  if (!value.is_array())
    wrong(value.place(), pointer, value.found() + ", expected a list of texts");
  std::vector<std::string> texts;
  for (const auto& item : value.items())
    texts.push_back(text_of(item, pointer + "/" + std::to_string(texts.size())));
  return texts;
}

std::map<std::string, double> tolerances_of(const JsonValue& value, const std::string& pointer) {
  if (!value.is_object())
    wrong(value.place(), pointer, value.found() + ", expected an object: column to share");
  std::map<std::string, double> tolerances;
  for (const auto& [name, place, share] : value.members()) {
    double number = -1;
    const std::string& text = share.text();
    if (share.is_number()) std::from_chars(text.data(), text.data() + text.size(), number);
    if (!(number >= 0 && number <= 1))
      wrong(share.place(), pointer + "/" + pointer_token(name),
            share.found() + ", expected a share from 0 to 1, such as 0.005");
    tolerances[name] = number;
  }
  return tolerances;
}

std::string scenario_of(const JsonValue& value, const std::string& pointer,
                        const fs::path& beside) {
  const fs::path path = (beside / text_of(value, pointer)).lexically_normal();
  std::error_code error;
  if (!fs::is_regular_file(path, error))
    wrong(value.place(), pointer,
          fmt::format("no file {}, expected a scenario, named from this file's folder",
                      in_quotes(path.string())));
  return path.string();
}

Golden golden_of(const std::string& name, const JsonValue& entry, const fs::path& folder) {
  const std::string pointer = fmt::format("/{}", pointer_token(name));
  if (!entry.is_object())
    wrong(entry.place(), pointer, entry.found() + ", expected an object: how the table is made");
  Golden golden;
  golden.file = (folder / name).string();
  for (const auto& [key, place, value] : entry.members()) {
    const std::string at = fmt::format("{}/{}", pointer, pointer_token(key));
    if (key == "suite") {
      golden.suite = find_suite(text_of(value, at));
      if (golden.suite == nullptr)
        wrong(value.place(), at,
              fmt::format("no suite {}, {}", in_quotes(value.text()),
                          suggestion(value.text(), suite_names())));
    } else if (key == "scenario") {
      golden.options.scenario = scenario_of(value, at, folder);
    } else if (key == "sets") {
      golden.options.sets = texts_of(value, at);
    } else if (key == "tiers") {
      golden.options.tiers = texts_of(value, at);
    } else if (key == "bytes") {
      golden.options.bytes = texts_of(value, at);
    } else if (key == "tolerance") {
      golden.tolerance = tolerances_of(value, at);
    } else {
      wrong(place, at, "an unknown key, expected suite, scenario, sets, tiers, bytes or tolerance");
    }
  }
  if (golden.suite == nullptr) wrong(entry.place(), pointer, "no \"suite\", expected one");
  if (golden.options.scenario.empty())
    wrong(entry.place(), pointer, "no \"scenario\", expected one");
  return golden;
}

JsonValue sidecar_of(const fs::path& folder) {
  const fs::path path = folder / kSidecar;
  std::error_code error;
  if (!fs::is_regular_file(path, error))
    throw UserError(traces::place_of(path.string()),
                    "no such file, expected it beside golden files: how each is made");
  JsonValue document = read_json_file(path);
  if (!document.is_object())
    throw UserError(document.place(),
                    document.found() + ", expected an object: file to how it is made");
  return document;
}

void must_be_there(const Golden& golden) {
  std::error_code error;
  if (!fs::is_regular_file(golden.file, error))
    throw UserError(traces::place_of(golden.file),
                    "no such file, expected a golden CSV file (--update makes it)");
}

/// Every entry of a folder; every CSV file in it has one.
std::vector<Golden> in_folder(const fs::path& folder) {
  const JsonValue document = sidecar_of(folder);
  std::vector<Golden> goldens;
  for (const auto& member : document.members())
    goldens.push_back(golden_of(member.name, member.value, folder));
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() == ".csv" && document.find(name) == nullptr)
      throw UserError(traces::place_of(entry.path().string()),
                      fmt::format("no entry in {}, expected how it is made", kSidecar));
  }
  if (goldens.empty()) throw UserError(document.place(), "no golden files, expected at least one");
  return goldens;
}

} // namespace

std::vector<Golden> find_goldens(const std::vector<std::string>& names, bool to_be_made) {
  std::vector<Golden> goldens;
  for (const auto& name : names) {
    const fs::path path(name);
    std::error_code error;
    if (fs::is_directory(path, error)) {
      for (auto& golden : in_folder(path))
        goldens.push_back(std::move(golden));
      continue;
    }
    if (!to_be_made && !fs::exists(path, error))
      throw UserError(traces::place_of(name),
                      "no such file, expected a golden CSV file or a folder "
                      "of them");
    const fs::path folder = path.parent_path();
    const JsonValue document = sidecar_of(folder);
    const std::string file = path.filename().string();
    const JsonValue* entry = document.find(file);
    if (entry == nullptr)
      throw UserError(document.place(),
                      fmt::format("no entry {}, expected how it is made", in_quotes(file)));
    goldens.push_back(golden_of(file, *entry, folder));
    goldens.back().file = name;
  }
  if (!to_be_made) std::for_each(goldens.begin(), goldens.end(), must_be_there);
  return goldens;
}

Table make_table(const Golden& golden) {
  Table table = golden.suite->make(golden.options);
  for (const auto& [name, share] : golden.tolerance) {
    const auto column = std::find_if(table.columns.begin(), table.columns.end(),
                                     [&](const Column& one) { return one.name == name; });
    if (column == table.columns.end() || column->is_key)
      throw UserError(traces::place_of(golden.file),
                      fmt::format("{} gives a tolerance for {}, expected a column of figures of "
                                  "suite {}",
                                  kSidecar, in_quotes(name), golden.suite->name));
    column->tolerance = share;
  }
  return table;
}

} // namespace umf::app
