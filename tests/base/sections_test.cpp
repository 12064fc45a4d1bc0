#include "tests/base/error_of.h"
#include "tests/base/sample_keys.h"

#include <catch2/catch.hpp>

using namespace umf;
using namespace umf::test;

namespace {

std::string kind_fault(const std::string& text) {
  return error_of([&] {
    KeyContext context;
    const ComponentInfo* info =
        read_kind(parse_json(text, "f.json"), sample_sections().back(), context);
    CHECK(info == nullptr);
    context.throw_if_faulty();
  });
}

} // namespace

TEST_CASE("the discriminator picks the component") {
  KeyContext context;
  const auto sections = sample_sections();
  const ComponentInfo* tier =
      read_kind(parse_json(R"({"kind": "hbm"})", "f"), sections[3], context);
  REQUIRE(tier != nullptr);
  CHECK(tier->name == "tier.hbm");
  CHECK(kind_fault("{}") == "f.json:1:1: key \"name\" is missing, expected one of static, lru");
  CHECK(kind_fault(R"({"name": 1})") ==
        "f.json:1:10: /name: found the number 1, expected one of static, lru");
  CHECK(kind_fault(R"({"name": "lro"})") == "f.json:1:10: /name: unknown name \"lro\", expected "
                                            "one of static, lru (did you mean \"lru\"?)");
  CHECK(kind_fault("3") == "f.json:1:1: found the number 3, expected an object");
}

TEST_CASE("a member that is no section is unknown") {
  KeyContext context;
  const auto sections = sample_sections();
  report_unknown_sections(parse_json(R"({"gpu": {}, "teirs": {}})", "f.json"), sections, context);
  CHECK(error_of([&] { context.throw_if_faulty(); }) ==
        "f.json:1:13: /teirs: unknown key \"teirs\", did you mean \"tiers\"?");
}

TEST_CASE("describe lists the components") {
  CHECK(describe(sample_sections(), "") == "name           What it is called.\n"
                                           "gpus           How many GPUs.\n"
                                           "gpu            A GPU.\n"
                                           "tier.hbm       Stacks of HBM.\n"
                                           "policy.static  Never moves anything.\n"
                                           "policy.lru     Moves the oldest.\n");
}

TEST_CASE("describe shows every key with type, default, range, help and source") {
  const std::string text = describe(sample_sections(), "tier.hbm");
  INFO(text);
  for (const KeyInfo& key : tier_keys().info().keys) {
    INFO(key.name);
    CHECK(text.find("  " + key.name + ' ') != std::string::npos);
    CHECK(text.find(key.type.name) != std::string::npos);
    CHECK(text.find(key.default_text) != std::string::npos);
    CHECK(text.find(key.min_text) != std::string::npos);
    CHECK(text.find(key.max_text) != std::string::npos);
    CHECK(text.find(key.help) != std::string::npos);
  }
  CHECK(text.find("Stands at /tiers/NAME with \"kind\": \"hbm\".") != std::string::npos);
  CHECK(text.find("Default claimed: table 1.") != std::string::npos);
  CHECK(text.find("(required)") != std::string::npos);
  CHECK(text.find("1MiB..1TiB") != std::string::npos);
  CHECK(text.find("cache: A cache in front.") != std::string::npos);
}

TEST_CASE("describe shows a value section as its one key") {
  CHECK(describe(sample_sections(), "gpus") == "gpus: How many GPUs.\n"
                                               "Stands at /gpus.\n"
                                               "\n"
                                               "  key   type          default  range\n"
                                               "  gpus  whole number  1        1..\n"
                                               "      How many GPUs. Default derived.\n");
}

TEST_CASE("describe names the component the user meant") {
  CHECK(error_of([] { describe(sample_sections(), "tier.hmb"); }) ==
        "unknown component \"tier.hmb\", expected one of name, gpus, gpu, tier.hbm, "
        "policy.static, policy.lru (did you mean \"tier.hbm\"?)");
}
