#include "model/base/json.h"
#include "tests/base/error_of.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <fstream>

using namespace umf;
using umf::test::error_of;
namespace fs = std::filesystem;

namespace {

/// A folder of its own that goes away with the test.
class Folder {
public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "umf-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code unused;
    fs::remove_all(path_, unused);
  }

  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
  }
  JsonValue load(const std::string& name, std::vector<std::string> sets = {}) const {
    return load_scenario(path_ / name, sets);
  }
  /// The error with this folder's path taken out.
  std::string fault(const std::string& name, const std::vector<std::string>& sets = {}) const {
    std::string text = error_of([&] { load(name, sets); });
    const std::string prefix = path_.string() + '/';
    for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix))
      text.erase(at, prefix.size());
    return text;
  }
  std::string path(const std::string& name) const { return (path_ / name).string(); }

private:
  fs::path path_;
};

const JsonValue& at(const JsonValue& root, std::initializer_list<const char*> names) {
  const JsonValue* value = &root;
  for (const char* name : names) {
    value = value->find(name);
    REQUIRE(value != nullptr);
  }
  return *value;
}

constexpr const char* machine = R"({ "include": ["parts/hbm.json"],
  "gpus": 1,
  "tiers": { "hbm": { "capacity": "80GB" } } })";
constexpr const char* part = R"({ "gpus": 8, "list": [1, 2],
  "tiers": { "hbm": { "kind": "hbm", "capacity": "96GiB",
    "bandwidth": { "value": "2.4TB/s", "from": "claimed", "source": "table 1" } } } })";

} // namespace

TEST_CASE("a file overrides what it includes, member by member, and places stay true") {
  const Folder folder;
  folder.write("m.json", machine);
  folder.write("parts/hbm.json", part);
  const JsonValue root = folder.load("m.json");
  CHECK(root.find("include") == nullptr);
  CHECK(at(root, {"gpus"}).text() == "1");
  CHECK(at(root, {"tiers", "hbm", "capacity"}).text() == "80GB");
  CHECK(at(root, {"tiers", "hbm", "kind"}).text() == "hbm");
  CHECK(at(root, {"tiers", "hbm", "capacity"}).place().text() ==
        folder.path("m.json") + ":3:35: /tiers/hbm/capacity");
  CHECK(at(root, {"tiers", "hbm", "kind"}).place().text() ==
        folder.path("parts/hbm.json") + ":2:31: /tiers/hbm/kind");
}

TEST_CASE("later includes override earlier ones, lists and annotated leaves are replaced whole") {
  const Folder folder;
  folder.write("a.json", part);
  folder.write("b.json", R"({"list": [3], "tiers": {"hbm": {"bandwidth": {"value": "3TB/s"}}}})");
  folder.write("m.json", R"({"include": ["a.json", "b.json"]})");
  const JsonValue root = folder.load("m.json");
  CHECK(at(root, {"list"}).items().size() == 1);
  const JsonValue& bandwidth = at(root, {"tiers", "hbm", "bandwidth"});
  CHECK(bandwidth.find("value")->text() == "3TB/s");
  CHECK(bandwidth.find("source") == nullptr); // 3 TB/s does not come from table 1
}

TEST_CASE("a part may be included twice, but not by itself") {
  const Folder folder;
  folder.write("leaf.json", R"({"gpus": 2})");
  folder.write("a.json", R"({"include": ["leaf.json"]})");
  folder.write("b.json", R"({"include": ["leaf.json", "a.json"]})");
  CHECK(at(folder.load("b.json"), {"gpus"}).text() == "2");
  folder.write("x.json", "{\n \"include\": [\"sub/y.json\"]}");
  folder.write("sub/y.json", R"({"include": ["../x.json"]})");
  CHECK(folder.fault("x.json") ==
        "sub/y.json:1:14: /include/0: \"x.json\" includes itself, expected no circle of includes");
}

TEST_CASE("a wrong include is complained about where it stands") {
  const Folder folder;
  folder.write("a.json", R"({"include": ["b.json"]})");
  CHECK(folder.fault("a.json") == "a.json:1:14: /include/0: no file \"b.json\", expected a file "
                                  "relative to this one");
  folder.write("b.json", "[]");
  CHECK(folder.fault("a.json") == "b.json:1:1: found an array, expected an object");
  folder.write("a.json", R"({"include": "b.json"})");
  CHECK(folder.fault("a.json") ==
        "a.json:1:13: /include: found the text \"b.json\", expected a list of files such as "
        "[\"parts/gpu.json\"]");
  folder.write("a.json", R"({"include": [1]})");
  CHECK(folder.fault("a.json") == "a.json:1:14: /include/0: found the number 1, expected the name "
                                  "of a file such as \"parts/gpu.json\"");
}

TEST_CASE("an overlay by --set takes pointers and dotted paths, JSON and bare texts") {
  const Folder folder;
  folder.write("m.json", R"({"tiers": {"hbm": {"capacity": "96GiB",
    "bandwidth": {"value": "1TB/s", "from": "claimed"}}}, "list": [1, 2]})");
  const JsonValue root =
      folder.load("m.json", {"/tiers/hbm/capacity=64GiB", "tiers.hbm.bandwidth=2TB/s",
                             "links.gpu-sw0.count=8", "/links/a.b~1c/on=true",
                             "list.1={\"x\": [5]}", "name=a=b", "note=\"8\"", "empty="});
  CHECK(at(root, {"tiers", "hbm", "capacity"}).text() == "64GiB");
  CHECK(at(root, {"tiers", "hbm", "bandwidth"}).is_text());
  CHECK(at(root, {"links", "gpu-sw0", "count"}).kind() == JsonValue::Kind::integer);
  CHECK(at(root, {"links", "a.b/c", "on"}).boolean());
  CHECK(at(root, {"name"}).text() == "a=b");
  CHECK(at(root, {"note"}).is_text());
  CHECK(at(root, {"empty"}).text().empty());
  CHECK(at(root, {"tiers", "hbm", "capacity"}).place().text() == "--set: /tiers/hbm/capacity");
  CHECK(at(root, {"list"}).items()[1].find("x")->items()[0].place().text() == "--set: /list/1/x/0");
}

TEST_CASE("a malformed --set says what one looks like") {
  const Folder folder;
  folder.write("m.json", R"({"gpus": 1, "list": [1]})");
  const std::string path = ", expected a path such as tiers.hbm.capacity or /tiers/hbm/capacity";
  const std::vector<std::pair<std::string, std::string>> table = {
      {"gpus", "--set: \"gpus\" has no '=', expected PATH=VALUE such as tiers.hbm.capacity=64GiB"},
      {"=1", "--set: \"\" has an empty part" + path},
      {"/=1", "--set: \"/\" has an empty part" + path},
      {"a..b=1", "--set: \"a..b\" has an empty part" + path},
      {"a.=1", "--set: \"a.\" has an empty part" + path},
      {"/a~2=1", "--set: \"/a~2\" has a '~' that is neither ~0 nor ~1" + path},
      {"/a~=1", "--set: \"/a~\" has a '~' that is neither ~0 nor ~1" + path},
      {"gpus.x=1", "--set: /gpus/x: /gpus is the number 1, expected an object to set \"x\" in"},
      {"list.1=1", "--set: /list/1: no item \"1\" in a list of 1, expected an index from 0"},
      {"list.x=1", "--set: /list/x: no item \"x\" in a list of 1, expected an index from 0"}};
  for (const auto& [set, expected] : table)
    CHECK(folder.fault("m.json", {set}) == expected);
}
