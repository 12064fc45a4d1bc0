#include "app/tables/suites.h"

#include <catch2/catch.hpp>

using namespace umf::app;

TEST_CASE("one table has a text for programs and one for people", "[app]") {
  Table table;
  table.title = "What?";
  table.columns = {{.name = "name", .heading = "name", .unit = "", .is_text = true},
                   {.name = "way_ns", .heading = "way", .unit = "ns"}};
  table.rows = {{{"a,b", {}}, {"1000", "1 us"}}, {{"longer", {}}, {"2", "2 ns"}}};
  CHECK(to_csv(table) == "name,way_ns\n\"a,b\",1000\nlonger,2\n");
  CHECK(to_terminal(table) == "What?\n\nname     way\na,b     1 us\nlonger  2 ns\n");
}

TEST_CASE("suites are found by name", "[app]") {
  for (const auto& name : suite_names())
    CHECK(find_suite(name)->name == name);
  CHECK(find_suite("none") == nullptr);
}
