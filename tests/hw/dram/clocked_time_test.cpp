#include "hw/dram/clocked_time.h"
#include "model/base/keys.h"
#include "tests/base/error_of.h"

#include <catch2/catch.hpp>

#include <regex>

using namespace umf;
using namespace umf::hw::dram;
using umf::test::error_of;

namespace {

struct Holder {
  ClockedTime least{2, 5_ns};
};

const Component<Holder>& holder_keys() {
  static const auto keys =
      Component<Holder>("holder", "A key of the type.").key("least", &Holder::least, {.help = ""});
  return keys;
}

constexpr Femtoseconds kHbm3{625'000};

} // namespace

TEST_CASE("a minimum reads as JEDEC writes it and prints as it reads") {
  struct Row {
    const char* text;
    ClockedTime value;
    const char* printed;
  };
  const Row row = GENERATE(values<Row>({{"4nCK", {4, {}}, "4nCK"},
                                        {"0nCK", {}, "0nCK"},
                                        {"14ns", {0, 14_ns}, "14ns"},
                                        {"14166ps", {0, {14'166'000}}, "14166ps"},
                                        {"max(4nCK, 7.5ns)", {4, {7'500'000}}, "max(4nCK, 7.5ns)"},
                                        {"max(4nCK,7.5ns)", {4, {7'500'000}}, "max(4nCK, 7.5ns)"},
                                        {"max(10ns, 16nCK)", {16, 10_ns}, "max(16nCK, 10ns)"}}));
  CAPTURE(row.text);
  CHECK(parse_clocked_time(row.text) == row.value);
  const std::string printed = print(row.value);
  CHECK(parse_clocked_time(printed) == row.value);
  CHECK(printed == row.printed);
  CHECK(std::regex_match(row.text, std::regex(LeafCodec<ClockedTime>::type().pattern)));
}

TEST_CASE("what is neither clocks nor a time says what is expected") {
  const std::string text =
      GENERATE(as<std::string>{}, "4", "nCK", "-4nCK", "4.5nCK", "04nCK", "4CK", "max(4nCK)",
               "max(4nCK, 5nCK)", "max(4ns, 5ns)", "max(4nCK, 5ns", "1234567890nCK", "");
  CAPTURE(text);
  CHECK_THAT(error_of([&] { parse_clocked_time(text); }), Catch::Contains("\"4nCK\""));
  CHECK_FALSE(std::regex_match(text, std::regex(LeafCodec<ClockedTime>::type().pattern)));
}

TEST_CASE("a key of clocks or time reads, describes and complains") {
  KeyContext context;
  const JsonValue object =
      parse_json(R"json({"least": {"value": "max(4nCK, 7.5ns)", "from": "standard"}})json", "f");
  const Holder read = holder_keys().read(object, context, "");
  context.throw_if_faulty();
  CHECK(read.least == ClockedTime{4, {7'500'000}});
  CHECK(context.find("/least")->value == "max(4nCK, 7.5ns)");
  CHECK(holder_keys().info().keys.at(0).default_text == "max(2nCK, 5ns)");
  CHECK(error_of([] {
          KeyContext faulty;
          holder_keys().read(parse_json(R"({"least": 14})", "f"), faulty, "");
          faulty.throw_if_faulty();
        }) == "f:1:11: /least: the number 14 has no unit, expected clocks, a time or the longer of "
              "both, such as \"4nCK\", \"14ns\" or \"max(4nCK, 7.5ns)\"");
}

TEST_CASE("time becomes whole clocks that are never too short") {
  // 19.375 ns / 625 ps = 31 exactly; one femtosecond more needs another clock.
  CHECK(cycles({0, {19'375'000}}, kHbm3) == 31);
  CHECK(cycles({0, {19'375'001}}, kHbm3) == 32);
  CHECK(cycles({0, {1}}, kHbm3) == 1);
  CHECK(cycles({0, {}}, kHbm3) == 0);
  // Rounded to nearest, 4 ns at 833.334 ps would be 5 too, but 12 ns (14.4 clocks) would be 14.
  CHECK(cycles({0, 12_ns}, {833'334}) == 15);
  // max(4nCK, 7.5ns): 12 clocks of 625 ps, but 4 of 2 ns.
  CHECK(cycles({4, {7'500'000}}, kHbm3) == 12);
  CHECK(cycles({4, {7'500'000}}, 2_ns) == 4);
  CHECK(duration({4, {7'500'000}}, kHbm3) == Femtoseconds{7'500'000});
  CHECK(duration({4, {7'500'000}}, 2_ns) == 8_ns);
}
