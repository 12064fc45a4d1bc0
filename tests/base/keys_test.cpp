#include "tests/base/error_of.h"
#include "tests/base/sample_keys.h"

#include <catch2/catch.hpp>

using namespace umf;
using namespace umf::test;

namespace {

/// The faults of one object that is to be a tier.
std::string faults(const std::string& text) {
  return error_of([&] {
    KeyContext context;
    tier_keys().read(parse_json(text, "f.json"), context);
    context.throw_if_faulty();
  });
}

/// The faults of one key; the required one stands after it.
std::string fault_of(const std::string& member) {
  return faults("{" + member + ", \"capacity\": \"1GiB\"}");
}

} // namespace

TEST_CASE("keys left out keep the member initialisers") {
  KeyContext context;
  const Tier tier = tier_keys().read(parse_json(R"({"capacity": "96GiB"})", "f"), context);
  context.throw_if_faulty();
  CHECK(tier.capacity == 96_GiB);
  CHECK(tier.bandwidth == BytesPerSecond{2.4e12});
  CHECK(tier.row == Row::open);
  CHECK_FALSE(tier.limit);
  CHECK(tier.cache.capacity == 50_MiB); // the tier's, not the cache's own 40 MiB
}

TEST_CASE("every type of key reads its value") {
  KeyContext context;
  const Tier tier = tier_keys().read(parse_json(R"({
    "kind": "hbm", "capacity": "80GB", "bandwidth": "1.5GiB/s", "latency": "312.5ps",
    "clock": "1.755GHz", "compute": "1PFLOP/s", "energy": "250fJ/bit", "temperature": "-5C",
    "banks": 64, "channels": 4, "reserve_ratio": 1, "refresh": false, "behind": "sw1",
    "row": "closed", "limit": "1KiB", "steps": ["3ns"], "shares": {"kv": 0.25, "value": 1},
    "cache": {"capacity": "1MiB"}})",
                                                "f"),
                                     context);
  context.throw_if_faulty();
  CHECK(tier.capacity == Bytes{80'000'000'000});
  CHECK(tier.bandwidth == BytesPerSecond{1610612736.0});
  CHECK(tier.latency == Femtoseconds{312'500});
  CHECK(tier.clock == Hertz{1.755e9});
  CHECK(tier.compute == FlopsPerSecond{1e15});
  CHECK(tier.energy == PicojoulesPerBit{0.25});
  CHECK(tier.temperature == Celsius{-5});
  CHECK(tier.banks == 64);
  CHECK(tier.channels == 4);
  CHECK(tier.reserve_ratio == 1.0);
  CHECK_FALSE(tier.refresh);
  CHECK(tier.behind == "sw1");
  CHECK(tier.row == Row::closed);
  CHECK(tier.limit == 1_KiB);
  CHECK(tier.steps == std::vector<Femtoseconds>{3_ns});
  CHECK(tier.shares == std::map<std::string, double>{{"kv", 0.25}, {"value", 1.0}});
  CHECK(tier.cache.capacity == 1_MiB);
  CHECK(tier.cache.slice_bandwidth == BytesPerClock{64});
}

TEST_CASE("the context remembers value, place and provenance of every key") {
  KeyContext context;
  tier_keys().read(
      parse_json("{\"capacity\": \"1GiB\",\n \"latency\": {\"value\": \"100ns\", "
                 "\"from\": \"measured\", \"source\": \"bench\", \"override\": true},\n"
                 " \"shares\": {\"value\": {\"kv\": 1}, \"from\": \"fitted\"},\n"
                 " \"limit\": null, \"cache\": {}}",
                 "f.json"),
      context);
  context.throw_if_faulty();
  CHECK(context.records().size() == tier_keys().info().keys.size());
  const KeyRecord* latency = context.find("/latency");
  REQUIRE(latency != nullptr);
  CHECK(latency->value == "100ns");
  CHECK(latency->given);
  CHECK(latency->from == Provenance::measured);
  CHECK(latency->source == "bench");
  CHECK(context.overridden("/latency"));
  CHECK_FALSE(context.overridden("/capacity"));
  CHECK_FALSE(context.overridden("/nothing"));
  CHECK(context.place_of("/latency").text() == "f.json:2:23: /latency");
  CHECK(context.place_of("/cache/capacity").text() == "f.json:4:26: /cache/capacity");
  CHECK(context.place_of("/nothing").text() == "/nothing");
  CHECK(context.find("/capacity")->from == std::nullopt);
  CHECK(context.find("/shares")->value == "{\"kv\": 1}");
  CHECK(context.find("/limit")->value == "none");
  const KeyRecord* bandwidth = context.find("/bandwidth");
  CHECK_FALSE(bandwidth->given);
  CHECK(bandwidth->value == "2.4TB/s");
  CHECK(bandwidth->from == Provenance::claimed);
  CHECK(bandwidth->source == "table 1");
}

TEST_CASE("each wrong value is named with what was expected") {
  const std::vector<std::pair<std::string, std::string>> table = {
      {R"("limit": 64)",
       R"(f.json:1:11: /limit: the number 64 has no unit, expected a size such as "64GiB")"},
      {R"("limit": true)", R"(f.json:1:11: /limit: found true, expected a size such as "64GiB")"},
      {R"("limit": "1ns")",
       "f.json:1:11: /limit: unknown unit \"ns\" in \"1ns\", expected a size such as \"64GiB\" "
       "(units: B, kB, MB, GB, TB, PB, KiB, MiB, GiB, TiB, PiB)"},
      {R"("latency": null)",
       R"(f.json:1:13: /latency: found null, expected a time such as "95ns")"},
      {R"("latency": "1ms")", "f.json:1:13: /latency: 1ms is out of range, expected at most 1us"},
      {R"("clock": "1Hz")", "f.json:1:11: /clock: 1Hz is out of range, expected at least 1MHz"},
      {R"("banks": 0)", "f.json:1:11: /banks: 0 is out of range, expected 1 to 1024"},
      {R"("banks": 1.5)",
       "f.json:1:11: /banks: found the number 1.5, expected a whole number such as 64"},
      {R"("banks": -4)",
       "f.json:1:11: /banks: the number -4 is negative, expected a whole number such as 64"},
      {R"("banks": "4")",
       "f.json:1:11: /banks: found the text \"4\", expected a whole number such as 64"},
      {R"("channels": 4294967296)",
       "f.json:1:14: /channels: the number 4294967296 is too large, expected at most 4294967295"},
      {R"("reserve_ratio": "10%")", "f.json:1:19: /reserve_ratio: found the text \"10%\", expected "
                                    "a plain number such as 0.5"},
      {R"("reserve_ratio": 1.5)",
       "f.json:1:19: /reserve_ratio: 1.5 is out of range, expected 0 to 1"},
      {R"("reserve_ratio": 1e999)",
       "f.json:1:19: /reserve_ratio: the number 1e999 is out of the range of double precision, "
       "expected a plain number such as 0.5"},
      {R"("refresh": 1)", "f.json:1:13: /refresh: found the number 1, expected true or false"},
      {R"("behind": 3)",
       "f.json:1:12: /behind: found the number 3, expected a text such as \"name\""},
      {R"("row": "opne")", "f.json:1:9: /row: unknown choice \"opne\", expected one of open, "
                           "closed (did you mean \"open\"?)"},
      {R"("row": 1)", "f.json:1:9: /row: found the number 1, expected one of open, closed"},
      {R"("steps": "1ns")",
       R"(f.json:1:11: /steps: found the text "1ns", expected a list such as ["95ns"])"},
      {R"("steps": ["1ns", 2])",
       R"(f.json:1:19: /steps/1: the number 2 has no unit, expected a time such as "95ns")"},
      {R"("steps": ["0.5ns"])",
       "f.json:1:12: /steps/0: 500ps is out of range, expected at least 1ns"},
      {R"("shares": 1)", "f.json:1:12: /shares: found the number 1, expected an object of numbers "
                         "such as {\"weight\": 0.5}"},
      {R"("shares": {"kv": 2})", "f.json:1:19: /shares/kv: 2 is out of range, expected 0 to 1"},
      {R"("cache": 5)", "f.json:1:11: /cache: found the number 5, expected an object"},
      {R"("cache": {"capacity": "1B"})",
       "f.json:1:24: /cache/capacity: 1B is out of range, expected at least 1KiB"},
      {R"("bandwith": "1TB/s")",
       "f.json:1:2: /bandwith: unknown key \"bandwith\", did you mean \"bandwidth\"?"},
      {R"("cache": {"ways": 1})", "f.json:1:12: /cache/ways: unknown key \"ways\", expected one of "
                                  "capacity, slice_bandwidth"},
      {R"("limit": {"value": "1GiB", "form": "measured"})",
       "f.json:1:29: /limit/form: unknown key \"form\", did you mean \"from\"?"},
      {R"("limit": {"value": "1GiB", "from": "guess"})",
       "f.json:1:37: /limit/from: found the text \"guess\", expected one of measured, datasheet, "
       "standard, claimed, fitted, derived"},
      {R"("limit": {"value": "1GiB", "source": 1})",
       "f.json:1:39: /limit/source: found the number 1, expected a text that names the source"},
      {R"("limit": {"value": "1GiB", "override": 1})",
       "f.json:1:41: /limit/override: found the number 1, expected true or false"},
      {R"("limit": {"from": "measured"})",
       "f.json:1:11: /limit: found an object without \"value\", expected a plain value or "
       "{\"value\": ..., \"from\": ..., \"source\": ...}"},
      {R"("limit": {"value": 3})",
       R"(f.json:1:21: /limit/value: the number 3 has no unit, expected a size such as "64GiB")"},
  };
  for (const auto& [member, expected] : table)
    CHECK(fault_of(member) == expected);
}

TEST_CASE("a missing required key is an error at its object") {
  CHECK(faults("\n  {}") ==
        "f.json:2:3: key \"capacity\" is missing, expected a size such as \"64GiB\"");
  CHECK(faults("[]") == "f.json:1:1: found an array, expected an object");
}

TEST_CASE("all faults of a file come in one go, in the order of the file") {
  const std::string text = faults("{ \"banks\": 0,\n  \"clok\": 1,\n  \"capacity\": 5 }");
  CHECK(text == "f.json:1:12: /banks: 0 is out of range, expected 1 to 1024\n"
                "f.json:2:3: /clok: unknown key \"clok\", did you mean \"clock\"?\n"
                "f.json:3:15: /capacity: the number 5 has no unit, expected a size such as "
                "\"64GiB\"");
}

TEST_CASE("the discriminator is the registry's, and only where there is one") {
  KeyContext context;
  const JsonValue object = parse_json(R"({"kind": "hbm", "capacity": "1GiB"})", "f.json");
  tier_keys().read(object, context);
  CHECK_FALSE(context.faulty());
  tier_keys().read(object, context, "");
  CHECK(context.faulty());
}

TEST_CASE("a declaration that contradicts itself is a broken invariant") {
  Component<Cache> keys("cache", "");
  keys.key("capacity", &Cache::capacity, {});
  CHECK_THROWS_AS(keys.key("capacity", &Cache::capacity, {}), InvariantError);
  CHECK_THROWS_AS(keys.key("other", &Cache::capacity, {.max = 1_KiB}), InvariantError);
}
