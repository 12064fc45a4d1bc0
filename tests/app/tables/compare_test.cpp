#include "app/tables/compare.h"
#include "tests/base/error_of.h"

#include <catch2/catch.hpp>

using namespace umf;
using namespace umf::app;

namespace {

/// Keys a and b; v of tolerance 1 %, w exact.
Table made(const std::vector<std::vector<std::string>>& rows) {
  Table table;
  table.columns = {{.name = "a", .heading = "a", .unit = "", .is_key = true},
                   {.name = "b", .heading = "b", .unit = "", .is_key = true},
                   {.name = "v", .heading = "v", .unit = "ns", .tolerance = 0.01},
                   {.name = "w", .heading = "w", .unit = ""}};
  for (const auto& row : rows) {
    table.rows.emplace_back();
    for (const auto& text : row)
      table.rows.back().push_back({text, {}});
  }
  return table;
}

std::vector<std::string> drifts_of(const std::string& golden,
                                   const std::vector<std::vector<std::string>>& now) {
  return drifts(parse_csv(golden, "g.csv"), made(now));
}

using Lines = std::vector<std::string>;

} // namespace

TEST_CASE("a figure drifts when it is further off than its column's tolerance", "[app]") {
  const std::string golden = "a,b,v,w\nx,1,100,7\n";
  const auto [v, w, found] = GENERATE(table<std::string, std::string, Lines>({
      {"100", "7", {}},
      {"101", "7", {}}, // 1 % of 100 is 1
      {"99", "7", {}},
      {"100.0", "7.0", {}}, // the same numbers, written otherwise
      {"101.5", "7", {"g.csv:2: row x,1, column v: golden 100 ns, now 101.5 ns (+1.5 %)"}},
      {"98", "7", {"g.csv:2: row x,1, column v: golden 100 ns, now 98 ns (-2 %)"}},
      {"100", "7.007", {"g.csv:2: row x,1, column w: golden 7, now 7.007 (+0.1 %)"}},
      {"100", "never", {"g.csv:2: row x,1, column w: golden 7, now never"}},
      {"nan", "7", {"g.csv:2: row x,1, column v: golden 100, now nan"}},
  }));
  CHECK(drifts_of(golden, {{"x", "1", v, w}}) == found);
}

TEST_CASE("a golden zero must stay zero", "[app]") {
  CHECK(drifts_of("a,b,v,w\nx,1,0,0\n", {{"x", "1", "0.000", "-0"}}).empty());
  CHECK(drifts_of("a,b,v,w\nx,1,0,0\n", {{"x", "1", "0.001", "0"}}) ==
        Lines{"g.csv:2: row x,1, column v: golden 0 ns, now 0.001 ns"});
}

TEST_CASE("rows are paired by their keys, whatever their order", "[app]") {
  const std::string golden = "a,b,v,w\nx,1,100,7\nx,2,200,8\n";
  CHECK(drifts_of(golden, {{"x", "2", "200", "8"}, {"x", "1", "100", "7"}}).empty());
  CHECK(drifts_of(golden, {{"x", "2", "200", "8"}, {"y", "1", "100", "7"}}) ==
        Lines{"g.csv:2: row x,1: missing from the table now",
              "g.csv: row y,1: new, not in the golden file"});
}

TEST_CASE("columns that come or go are drifts, their order is none", "[app]") {
  CHECK(drifts_of("w,b,a,v\n7,1,x,100\n", {{"x", "1", "100", "7"}}).empty());
  CHECK(drifts_of("a,b,v,old\nx,1,100,7\n", {{"x", "1", "100", "7"}}) ==
        Lines{"g.csv:1: column w: new, not in the golden file",
              "g.csv:1: column old: missing from the table now"});
}

TEST_CASE("a file that is no golden file of the table is refused", "[app]") {
  const auto error = [](const std::string& golden) {
    return test::error_of([&] { drifts_of(golden, {{"x", "1", "100", "7"}}); });
  };
  CHECK(error("hello\n") == "g.csv:1: no column \"a\", expected it: it tells the rows apart");
  CHECK(error("a,b,v,w\nx,1,100,7\nx,1,100,7\n") ==
        "g.csv:3: row x,1 twice, expected it once (line 2)");
}
