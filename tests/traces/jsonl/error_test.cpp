#include "model/base/error.h"
#include "traces/jsonl/reader.h"

#include <catch2/catch.hpp>

using namespace umf;
using namespace umf::stream;
using traces::jsonl::Reader;

namespace {

std::string error_of_file(const std::string& text) {
  try {
    Reader reader(traces::io::Input::from_memory("t", text));
    for (Record record; reader.next(record);) {
    }
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

std::string error_of(const std::string& line) {
  return error_of_file("{\"umfsim-stream\":1}\n" + line + "\n");
}

} // namespace

TEST_CASE("a wrong header is refused at its line") {
  REQUIRE(error_of_file("") == "t: an empty file, expected a header line");
  REQUIRE(error_of_file("\n{\"record\":\"mark\"}") ==
          "t:2: no \"umfsim-stream\", expected the header first");
  REQUIRE(error_of_file("{\"umfsim-stream\":2}") ==
          "t:1: /umfsim-stream: version 2 of the format, expected 1");
  REQUIRE(error_of_file("{\"umfsim-stream\":1,\"umfsim-stream\":1}") ==
          "t:1: /umfsim-stream: the same key twice, expected it once");
  REQUIRE(error_of_file("{\"umfsim-stream\":1,\"devices\":[{\"name\":\"x\"}]}") ==
          "t:1: /devices/0: no \"id\", expected one");
  REQUIRE_THAT(error_of_file("{\"umfsim-stream\":1,\"colour\":1}"),
               Catch::StartsWith("t:1: /colour: an unknown key, expected one of format, "));
}

TEST_CASE("only a first line with the header's key looks like this format") {
  using traces::jsonl::looks_like_jsonl;
  REQUIRE(looks_like_jsonl("{\"umfsim-stream\":1}"));
  REQUIRE(looks_like_jsonl("\n {\"source\":\"s\",\"umfsim-stream\":1}\n{}"));
  REQUIRE_FALSE(looks_like_jsonl("{\"a\":1}\n{\"umfsim-stream\":1}\n"));
  REQUIRE_FALSE(looks_like_jsonl("[{\"umfsim-stream\":1}]"));
  REQUIRE_FALSE(looks_like_jsonl(""));
}

TEST_CASE("each wrong record is refused at its line and pointer") {
  const auto [line, error] = GENERATE(table<std::string, std::string>({
      {R"({"id":1})", "t:2: no \"record\", expected one"},
      {R"({"record":"x"})", "t:2: /record: \"x\", expected one of tensor, kernel, copy, sync, "
                            "alloc, free, request, mark, oddity"},
      {R"({"record":3})", "t:2: /record: 3, expected text"},
      {R"({"record":"alloc"})", "t:2: no \"tensor\", expected one"},
      {R"({"record":"alloc","tensor":-1})",
       "t:2: /tensor: -1, expected a whole number from 0 to 4294967295"},
      {R"({"record":"alloc","tensor":4294967296})",
       "t:2: /tensor: 4294967296, expected a whole number from 0 to 4294967295"},
      {R"({"record":"alloc","tensor":1.5})",
       "t:2: /tensor: 1.5, expected a whole number from 0 to 4294967295"},
      {R"({"record":"alloc","tensor":"1"})",
       "t:2: /tensor: \"1\", expected a whole number from 0 to 4294967295"},
      {R"({"record":"alloc","tensor":1,"tensor":1})",
       "t:2: /tensor: the same key twice, expected it once"},
      {R"({"record":"alloc","record":"alloc","tensor":1})",
       "t:2: /record: the same key twice, expected it once"},
      {R"({"record":"alloc","tensor":1,"a/b~":1})",
       "t:2: /a~1b~0: an unknown key, expected one of tensor"},
      {R"({"record":"free","tensor":1,"length_bytes":0})",
       "t:2: a free of 0 bytes, expected 1 or more"},
      {R"({"record":"free","tensor":1,"offset_bytes":4})",
       "t:2: a free from byte 4 on without a length, expected both or neither"},
      {R"({"record":"free","tensor":1,"offset_bytes":18446744073709551615,"length_bytes":1})",
       "t:2: a free of 1 bytes from byte 18446744073709551615 on, expected an end below 2^64"},
      {R"({"record":"alloc","tensor":1} {})",
       "t:2: text after the object, expected the end of the line"},
      {R"({"record":"kernel","id":1,"launch":"slow"})",
       "t:2: /launch: \"slow\", expected one of eager, graph, programmatic"},
      {R"({"record":"kernel","id":1,"grid":[1,2]})", "t:2: /grid: 2 elements, expected 3"},
      {R"({"record":"kernel","id":1,"grid":[1,2,3,4]})",
       "t:2: /grid/3: one more element, expected 3"},
      {R"({"record":"kernel","id":1,"grid":7})", "t:2: /grid: 7, expected a list"},
      {R"({"record":"kernel","id":1,"flops":"many"})",
       "t:2: /flops: \"many\", expected a finite number"},
      {R"({"record":"kernel","id":1,"flops":NaN})",
       "t:2: /flops: broken JSON, expected a finite number"},
      {R"({"record":"kernel","id":1,"flops":-2})",
       "t:2: flops of -2, expected a finite number from 0 up"},
      {R"({"record":"kernel","id":1,"accesses":[{"tensor":1},{"tensor":1,"write":1}]})",
       "t:2: /accesses/1/write: 1, expected true or false"},
      {R"({"record":"kernel","id":1,"accesses":[{"tensor":1,"fraction":2}]})",
       "t:2: an access with fraction 2, expected above 0 and at most 1"},
      {R"({"record":"mark","time_ns":1,"name":{"hex":"0"}})",
       "t:2: /name/hex: an odd count of digits, expected two a byte"},
      {R"({"record":"mark","time_ns":1,"name":{"hex":"0G"}})",
       "t:2: /name/hex: \"0G\", expected digits from 0 to 9 and a to f"},
      {R"({"record":"mark","time_ns":1,"name":{}})", "t:2: /name: no \"hex\", expected one"},
      {R"({"record":"mark","time_ns":null})", "t:2: /time_ns: null, expected a whole number from "
                                              "-9223372036854775808 to 9223372036854775807"},
  }));
  REQUIRE(error_of(line) == error);
}

TEST_CASE("broken JSON is refused at its line") {
  const std::string line = GENERATE(
      as<std::string>{}, "{", "}", "[]", "1", "{\"record\":\"mark\"", "{\"record\" \"mark\"}",
      "{\"record\":\"mark\",}", "{\"record\":\"mark\",\"time_ns\":01}",
      "{\"record\":\"mark\",\"time_ns\":1 \"name\":\"\"}", "{\"record\":\"mark\",\"name\":\"\\x\"}",
      "{\"record\":\"mark\",\"name\":\"\xff\"}", "{\"record\":\"mark\",\"time_ns\":1}}",
      "{\"record\":\"mark\",\"time_ns\":1}{}", "{\"record\":\"mark\",\"time_ns\":+1}");
  INFO(line);
  REQUIRE_THAT(error_of(line), Catch::StartsWith("t:2: "));
}

TEST_CASE("a file cut within a line is refused") {
  const std::string text = "{\"umfsim-stream\":1,\"devices\":[{\"id\":0}]}\n"
                           "{\"record\":\"mark\",\"time_ns\":12,\"name\":\"a\"}";
  REQUIRE(error_of_file(text) == "no error");
  for (std::size_t length = 0; length < text.size(); ++length) {
    const bool whole_lines = length == text.find('\n') || length == text.find('\n') + 1;
    INFO(length);
    REQUIRE((error_of_file(text.substr(0, length)) == "no error") == whole_lines);
  }
}
