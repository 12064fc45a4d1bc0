#include "app/tables/csv.h"
#include "tests/base/error_of.h"

#include <catch2/catch.hpp>

using namespace umf;
using namespace umf::app;

TEST_CASE("CSV is read with quotes, either end of line and the line of each row", "[app]") {
  const Csv csv = parse_csv("a,b\r\n1,\"x,\"\"y\"\"\nz\"\n\n,2", "t.csv");
  CHECK(csv.columns == std::vector<std::string>{"a", "b"});
  REQUIRE(csv.rows.size() == 2);
  CHECK(csv.rows[0].fields == std::vector<std::string>{"1", "x,\"y\"\nz"});
  CHECK(csv.rows[0].line == 2);
  CHECK(csv.rows[1].fields == std::vector<std::string>{"", "2"});
  CHECK(csv.rows[1].line == 5);
}

TEST_CASE("malformed CSV is refused at its line", "[app]") {
  const auto [text, error] = GENERATE(table<std::string, std::string>({
      {"", "t.csv: an empty file, expected CSV: names of columns, then rows"},
      {"\n\n", "t.csv: an empty file, expected CSV: names of columns, then rows"},
      {"a,b\n1,2\n3\n", "t.csv:3: 1 fields, expected 2 as in the first line"},
      {"a,b\n1,2,3\n", "t.csv:2: 3 fields, expected 2 as in the first line"},
      {"a,b\n1,\"2\n", "t.csv:2: an open quote, expected one that closes it"},
      {"a,b\n1,\"2\"3\n", "t.csv:2: text behind a closing quote, expected a comma"},
      {"a,b\n1,2\"3\"\n",
       "t.csv:2: a zero byte or a quote within a field, expected comma-separated text"},
      {"a,a\n", "t.csv:1: column \"a\" twice, expected it once"},
      {"a,,b\n", "t.csv:1: a column without a name, expected one"},
  }));
  const std::string given = text;
  CHECK(test::error_of([&] { parse_csv(given, "t.csv"); }) == error);
}
