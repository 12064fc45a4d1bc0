#include "tests/app/child.h"
#include "tests/app/folder.h"
#include "tests/app/samples.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <regex>
#include <sstream>

using namespace umf::test;
using Catch::Contains;
using Json = nlohmann::ordered_json;

namespace {

std::vector<std::filesystem::path> shipped(const std::string& below) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(source_file(below)))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

/// Parts are completed by the file that includes them.
bool is_part(const std::filesystem::path& file) {
  return file.parent_path().filename() == "parts";
}

bool is_quantity(const Json& value) {
  static const std::regex number("^[0-9].*");
  return value.is_number() ||
         (value.is_string() && std::regex_match(value.get<std::string>(), number));
}

bool is_annotated(const Json& value) {
  return value.is_object() && value.contains("value");
}

/// Pointers of figures that do not say where they are from.
void bare_figures(const Json& value, const std::string& pointer, std::vector<std::string>& found) {
  if (is_annotated(value)) {
    static const std::vector<std::string> origins = {"measured", "datasheet", "standard",
                                                     "claimed",  "fitted",    "derived"};
    const std::string from = value.value("from", "");
    if (std::find(origins.begin(), origins.end(), from) == origins.end() ||
        value.value("source", "").empty())
      found.push_back(pointer);
  } else if (value.is_object() || value.is_array()) {
    for (const auto& item : value.items())
      bare_figures(item.value(), pointer + "/" + item.key(), found);
  } else if (is_quantity(value) && pointer != "/gpus" && pointer != "/seed") {
    found.push_back(pointer); // how many GPUs a run has is a choice, not a figure
  }
}

} // namespace

TEST_CASE("every shipped scenario passes check", "[app]") {
  Folder folder;
  std::size_t checked = 0;
  for (const auto& file : shipped("scenarios")) {
    const auto folder_name = file.parent_path().filename();
    // Ways to memory at line resolution are no machines: tests of hw/link read them.
    if (is_part(file) || folder_name == "schema" || folder_name == "links") continue;
    const Ended ended = umfsim({"check", file.string()}, folder.path());
    CAPTURE(file, ended.err);
    CHECK(ended.status == 0);
    CHECK_THAT(ended.out, Contains(": ok, "));
    ++checked;
  }
  CHECK(checked >= 3);
}

TEST_CASE("a hardware preset is named like its file", "[app]") {
  for (const auto& file : shipped("scenarios/hardware"))
    if (!is_part(file)) CHECK(Json::parse(bytes_of(file)).at("name") == file.stem().string());
}

TEST_CASE("every figure of a hardware preset says what it is from and where", "[app]") {
  for (const auto& file : shipped("scenarios/hardware")) {
    std::vector<std::string> bare;
    bare_figures(Json::parse(bytes_of(file)), "", bare);
    CAPTURE(file);
    CHECK(bare == std::vector<std::string>{});
  }
}

TEST_CASE("describe lists every component, and each with all its keys", "[app]") {
  Folder folder;
  const std::string list = umfsim({"describe"}, folder.path()).out;
  for (const std::string component :
       {"name", "gpus", "seed", "gpu", "tier.hbm", "tier.cxl", "tier.host", "link.pcie", "link.cxl",
        "switch.pcie", "scheduler", "policy.hbm-only", "policy.static", "replay", "report"})
    CHECK_THAT(list, Contains(component + " "));

  std::istringstream lines(list);
  for (std::string line; std::getline(lines, line);) {
    const std::string component = line.substr(0, line.find(' '));
    const Ended one = umfsim({"describe", component}, folder.path());
    CAPTURE(component);
    CHECK(one.status == 0);
    CHECK_THAT(one.out, Catch::StartsWith(component + ": "));
    CHECK_THAT(one.out, Contains("Stands at /"));
  }
}

TEST_CASE("describe says unit, default, range, provenance and help of a key", "[app]") {
  Folder folder;
  const std::string hbm = umfsim({"describe", "tier.hbm"}, folder.path()).out;
  CHECK_THAT(hbm, Contains("capacity"));
  CHECK_THAT(hbm, Contains("size"));
  CHECK_THAT(hbm, Contains("80GiB"));
  CHECK_THAT(hbm, Contains("1MiB..1TiB"));
  CHECK_THAT(hbm, Contains("Default datasheet: "));
}

TEST_CASE("schema is JSON Schema with every section of a scenario", "[app]") {
  Folder folder;
  const Ended ended = umfsim({"schema"}, folder.path());
  REQUIRE(ended.status == 0);
  const Json schema = Json::parse(ended.out);
  CHECK_THAT(schema.at("$schema").get<std::string>(), Contains("json-schema.org"));
  for (const std::string section :
       {"name", "gpus", "gpu", "tiers", "links", "switches", "scheduler", "policy", "replay"})
    CHECK(schema.at("properties").contains(section));
}
