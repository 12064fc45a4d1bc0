#include "tests/base/error_of.h"
#include "tests/base/sample_keys.h"
#include "tests/base/schema_check.h"

#include <nlohmann/json.hpp>

#include <catch2/catch.hpp>

using namespace umf;
using namespace umf::test;

namespace {

bool satisfies(const std::string& scenario) {
  const Json schema = scenario_schema(sample_sections());
  return SchemaCheck(schema).accepts(Json::parse(scenario), schema);
}

/// A scenario with one more member in its tier.
std::string with_tier_member(const std::string& member) {
  return R"({"name": "n", "gpus": 2, "gpu": {"capacity": "1MiB"}, "policy": {"name": "lru"},
    "tiers": {"hbm": {"kind": "hbm", "capacity": "96GiB")" +
         (member.empty() ? "" : ", " + member) + "}}}";
}

} // namespace

TEST_CASE("the schema accepts what reads and refuses what does not") {
  const std::vector<std::pair<std::string, bool>> table = {
      {"", true},
      {R"("bandwidth": "2.4TB/s", "banks": 4, "row": "closed", "refresh": false)", true},
      {R"("bandwidth": {"value": "2.4TB/s", "from": "claimed", "source": "t", "override": true})",
       true},
      {R"("limit": null, "steps": ["1ns"], "shares": {"kv": 0.5}, "temperature": "-5C")", true},
      {R"("steps": {"value": ["1ns"], "from": "fitted"}, "cache": {"capacity": "1MiB"})", true},
      {R"("shares": {"value": {"kv": 1}})", true},
      {R"("bandwith": "1TB/s")", false},
      {R"("bandwidth": 5)", false},
      {R"("bandwidth": "2.4TB")", false},
      {R"("bandwidth": {"value": "1TB/s", "form": "claimed"})", false},
      {R"("bandwidth": {"value": "1TB/s", "from": "guess"})", false},
      {R"("bandwidth": {"from": "claimed"})", false},
      {R"("bandwidth": null)", false},
      {R"("banks": 0)", false},
      {R"("banks": 1025)", false},
      {R"("banks": 1.5)", false},
      {R"("row": "ajar")", false},
      {R"("steps": ["1"])", false},
      {R"("cache": {"ways": 4})", false},
  };
  for (const auto& [member, good] : table) {
    const std::string text = with_tier_member(member);
    INFO(text);
    CHECK(satisfies(text) == good);
    KeyContext context;
    const JsonValue root = parse_json(text, "f");
    tier_keys().read(*root.find("tiers")->find("hbm"), context);
    CHECK(context.faulty() == !good);
  }
}

TEST_CASE("the schema knows the scenario's outline") {
  CHECK(satisfies(R"({"include": ["a.json"]})"));
  CHECK_FALSE(satisfies(R"({"include": "a.json"})"));
  CHECK_FALSE(satisfies(R"({"teirs": {}})"));
  CHECK_FALSE(satisfies(R"({"gpu": {}})")); // capacity is required
  CHECK_FALSE(satisfies(R"({"gpus": 0})"));
  CHECK_FALSE(satisfies(R"({"tiers": {"hbm": {"capacity": "1GiB"}}})")); // no kind
  CHECK_FALSE(satisfies(R"({"tiers": {"hbm": {"kind": "hmb", "capacity": "1GiB"}}})"));
  CHECK_FALSE(satisfies(R"({"policy": {"name": "lru", "extra": 1}})"));
}

TEST_CASE("the schema carries descriptions and defaults") {
  const Json schema = scenario_schema(sample_sections());
  CHECK(schema["$schema"] == "https://json-schema.org/draft/2020-12/schema");
  const Json& tier = schema["$defs"]["tier.hbm"];
  CHECK(tier["properties"]["kind"]["const"] == "hbm");
  CHECK(tier["required"] == Json::array({"capacity"}));
  CHECK(tier["additionalProperties"] == false);
  const Json& bandwidth = tier["properties"]["bandwidth"];
  CHECK(bandwidth["description"] == "Peak, reads. Default claimed: table 1.");
  CHECK(bandwidth["default"] == "2.4TB/s");
  CHECK(tier["properties"]["capacity"]["description"] == "All stacks together. Range 1MiB..1TiB.");
  CHECK(tier["properties"]["banks"]["default"] == 16);
  CHECK(tier["properties"]["steps"]["default"] == Json::array({"1ns", "2ns"}));
  CHECK_FALSE(tier["properties"]["limit"].contains("default"));
  CHECK(tier["properties"]["cache"]["properties"]["capacity"]["default"] == "50MiB");
}
