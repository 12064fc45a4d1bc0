#include "model/base/json.h"
#include "tests/base/error_of.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace umf;
using umf::test::error_of;

namespace {

std::string fault(const std::string& text) {
  return error_of([&] { parse_json(text, "f.json"); });
}

std::string where(const Place& place) {
  return place.text();
}

} // namespace

TEST_CASE("every value and every member name knows where it stands") {
  const JsonValue root = parse_json("{ \"a\": 1,\n"
                                    "  \"b\": [true, \"x\", {\"c\": null}],\n"
                                    "\t\"d/e~\" : -2.50e3 }",
                                    "f.json");
  CHECK(where(root.place()) == "f.json:1:1");
  CHECK(where(root.members()[0].place) == "f.json:1:3: /a");
  CHECK(where(root.find("a")->place()) == "f.json:1:8: /a");
  const JsonValue& b = *root.find("b");
  CHECK(where(root.members()[1].place) == "f.json:2:3: /b");
  CHECK(where(b.place()) == "f.json:2:8: /b");
  CHECK(where(b.items()[0].place()) == "f.json:2:9: /b/0");
  CHECK(where(b.items()[1].place()) == "f.json:2:15: /b/1");
  CHECK(where(b.items()[2].place()) == "f.json:2:20: /b/2");
  CHECK(where(b.items()[2].members()[0].place) == "f.json:2:21: /b/2/c");
  CHECK(where(b.items()[2].find("c")->place()) == "f.json:2:26: /b/2/c");
  CHECK(where(root.members()[2].place) == "f.json:3:2: /d~1e~0");
  CHECK(where(root.find("d/e~")->place()) == "f.json:3:11: /d~1e~0");
}

TEST_CASE("kinds are told apart and numbers keep their spelling") {
  using Kind = JsonValue::Kind;
  const JsonValue list = parse_json(R"([null, false, 0, -12, 1.50, 1e3, "t", [], {}])", "f");
  const std::vector<std::pair<Kind, std::string>> expected = {
      {Kind::null, "null"},   {Kind::boolean, "false"}, {Kind::integer, "0"},
      {Kind::integer, "-12"}, {Kind::real, "1.50"},     {Kind::real, "1e3"},
      {Kind::text, "t"},      {Kind::array, ""},        {Kind::object, ""}};
  REQUIRE(list.items().size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(list.items()[i].kind() == expected[i].first);
    CHECK(list.items()[i].text() == expected[i].second);
  }
  CHECK_FALSE(list.items()[1].boolean());
}

TEST_CASE("escapes decode to UTF-8") {
  CHECK(parse_json(R"("\"\\\/\b\f\n\r\t")", "f").text() == "\"\\/\b\f\n\r\t");
  CHECK(parse_json(R"("\u0041\u00e9\u20AC\ud83d\ude00")", "f").text() ==
        "A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
  CHECK(parse_json("\xEF\xBB\xBF[1]", "f").items().size() == 1); // byte-order mark
}

TEST_CASE("a duplicate key is an error that names the first") {
  CHECK(fault("{\"tiers\": {\n  \"hbm\": 1,\n  \"sram\": 2,\n  \"hbm\": 3 }}") ==
        "f.json:4:3: /tiers/hbm: duplicate key \"hbm\", expected it once (first on line 2)");
  CHECK(fault(R"({"a": 1, "\u0061": 2})") ==
        "f.json:1:10: /a: duplicate key \"a\", expected it once (first on line 1)");
}

TEST_CASE("syntax errors say what was found and what was expected") {
  const std::vector<std::pair<std::string, std::string>> table = {
      {"", "f.json:1:1: the file ends, expected a value"},
      {"{\n  \"a\": 1,\n}", "f.json:3:1: unexpected '}', expected a member name in double quotes"},
      {"{\"a\" 1}", "f.json:1:6: unexpected '1', expected ':' after the member name"},
      {"{\"a\": 1 \"b\": 2}", "f.json:1:9: unexpected '\"', expected ',' or '}'"},
      {"{\"a\": 1", "f.json:1:8: the file ends, expected ',' or '}'"},
      {"{a: 1}", "f.json:1:2: unexpected word \"a\", expected a member name in double quotes"},
      {"[1 2]", "f.json:1:4: unexpected '2', expected ',' or ']'"},
      {"[1,]", "f.json:1:4: unexpected ']', expected a value"},
      {"[NaN]", "f.json:1:2: unexpected word \"NaN\", expected a value"},
      {"[truely]", "f.json:1:2: unexpected word \"truely\", expected a value"},
      {"// no\n1", "f.json:1:1: unexpected '/', expected a value"},
      {"1 2", "f.json:1:3: unexpected '2', expected the end of the file"},
      {"64GiB", "f.json:1:3: unexpected word \"GiB\", expected the end of the file"},
      {"01", "f.json:1:1: a number starts with 0, expected no leading zeros"},
      {"-", "f.json:1:2: the file ends, expected a digit"},
      {"1.", "f.json:1:3: the file ends, expected a digit after the decimal point"},
      {"1e+", "f.json:1:4: the file ends, expected a digit of the exponent"},
      {"\"abc", "f.json:1:1: a text is not closed, expected '\"' on the same line"},
      {"\"a\nb\"", "f.json:1:1: a text is not closed, expected '\"' on the same line"},
      {"\"a\tb\"",
       "f.json:1:3: unexpected byte 0x09, expected an escape such as \\n or \\u0001 inside a text"},
      {"\"\\x\"", "f.json:1:3: unexpected word \"x\", expected one of \" \\ / b f n r t u after a "
                  "backslash"},
      {"\"\\u12g4\"", "f.json:1:6: unexpected word \"g\", expected four hexadecimal digits after "
                      "\\u"},
      {"\"\\ud800x\"", "f.json:1:2: half a surrogate pair, expected both halves"},
      {"\"\\ud800\\u0041\"", "f.json:1:2: half a surrogate pair, expected both halves"},
      {"\"\\udc00\"", "f.json:1:2: half a surrogate pair, expected both halves"},
      {"\"\xC0\x80\"", "f.json:1:2: unexpected byte 0xc0, expected UTF-8"},
      {"\"\xED\xA0\x80\"", "f.json:1:2: unexpected byte 0xed, expected UTF-8"},
      {"\xFF", "f.json:1:1: unexpected byte 0xff, expected a value"},
  };
  for (const auto& [text, expected] : table)
    CHECK(fault(text) == expected);
}

TEST_CASE("nesting has a limit instead of a stack overflow") {
  CHECK(fault(std::string(100, '[') + std::string(100, ']')).empty());
  CHECK(fault(std::string(101, '[')) ==
        "f.json:1:101: nested too deep, expected at most 100 levels");
}

TEST_CASE("files that cannot be read are the user's error") {
  CHECK(error_of([] { read_json_file("no/such.json"); }) ==
        "no/such.json: cannot be opened, expected a readable JSON file");
  CHECK(error_of([] { read_json_file("."); }) == ".: is a directory, expected a JSON file");
}

TEST_CASE("quoting keeps a message on one short line") {
  CHECK(in_quotes("a\"b\\c\n\x7f") == R"("a\"b\\c\u000a\u007f")");
  const std::string most = std::string(59, 'x');
  CHECK(in_quotes(most + "xx") == fmt::format("\"{}x...\"", most));
  CHECK(in_quotes(most + "\xC3\xA9") == fmt::format("\"{}...\"", most));
}
