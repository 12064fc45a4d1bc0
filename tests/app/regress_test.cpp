#include "tests/app/child.h"
#include "tests/app/folder.h"
#include "tests/app/refusal.h"
#include "tests/app/samples.h"

#include <catch2/catch.hpp>

using namespace umf::test;
using Catch::Contains;
using Catch::EndsWith;
using Catch::StartsWith;

namespace {

/// suites.json of one break-even table with a row a way; `more`: further keys.
std::string entry(const std::string& more = "") {
  return R"({"g.csv":{"suite":"break-even","scenario":")" + preset("umf-small-hbm") +
         R"(","bytes":["1MiB"])" + more + "}}";
}

Ended regress(const Folder& folder, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "regress");
  return umfsim(arguments, folder.path());
}

/// A folder whose golden file is up to date.
void make_golden(const Folder& folder) {
  folder.write("suites.json", entry());
  const Ended ended = regress(folder, {"g.csv", "--update"});
  CAPTURE(ended.err);
  REQUIRE(ended.status == 0);
  CHECK(ended.out == "g.csv: break-even, 4 rows, written\n");
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

} // namespace

TEST_CASE("an updated golden file is the table, and regress finds nothing", "[app]") {
  Folder folder;
  make_golden(folder);
  CHECK(folder.read("g.csv") == umfsim({"tables", "--scenario", preset("umf-small-hbm"), "--bytes",
                                        "1MiB", "--format", "csv"},
                                       folder.path())
                                    .out);
  for (const std::string name : {"g.csv", "."}) {
    const Ended ended = regress(folder, {name});
    CHECK(ended.status == 0);
    CHECK_THAT(ended.out, EndsWith("g.csv: break-even, 4 rows, as they were\n"));
  }
  CHECK(folder.entries() == std::set<std::string>{"g.csv", "suites.json"});
}

TEST_CASE("a drift is listed with its place and exit status 1, unless tolerated", "[app]") {
  Folder folder;
  make_golden(folder);
  // The fields of the first row: the table is what it is, the golden figure is ours.
  const std::string good = folder.read("g.csv");
  const auto field = good.find("host,command,1048576,") + 21;
  const std::string figure = good.substr(field, good.find(',', field) - field);
  const double other = std::stod(figure) / 1.1; // now 10 % above
  folder.write("g.csv", replaced(good, figure, std::to_string(other)));
  const std::string drifted = folder.read("g.csv");

  const Ended strict = regress(folder, {"g.csv"});
  CHECK(strict.status == 1);
  CHECK_THAT(strict.out,
             StartsWith("g.csv:2: row host,command,1048576, column remote_read_ns: "
                        "golden " +
                        std::to_string(other) + " ns, now " + figure + " ns (+10 %)\n"));
  CHECK_THAT(strict.out, EndsWith("g.csv: break-even, 4 rows, 1 drift\n"));
  CHECK(regress(folder, {"g.csv", "--tolerance", "0.05"}).status == 1);
  CHECK(regress(folder, {"g.csv", "--tolerance", "0.11"}).status == 0);

  folder.write("suites.json", entry(R"(,"tolerance":{"remote_read_ns":0.11})"));
  CHECK(regress(folder, {"g.csv"}).status == 0);
  CHECK(regress(folder, {"g.csv", "--tolerance", "0"}).status == 1); // over that of suites.json
  CHECK(folder.read("g.csv") == drifted);
}

TEST_CASE("missing and new rows are drifts", "[app]") {
  Folder folder;
  make_golden(folder);
  folder.write("g.csv", replaced(folder.read("g.csv"), "host,command", "tape,command"));
  const Ended ended = regress(folder, {"g.csv"});
  CHECK(ended.status == 1);
  CHECK_THAT(ended.out,
             Contains("g.csv:2: row tape,command,1048576: missing from the table now\n"));
  CHECK_THAT(ended.out, Contains("g.csv: row host,command,1048576: new, not in the golden file\n"));
}

TEST_CASE("a golden file that is none is refused with its place", "[app]") {
  Folder folder;
  make_golden(folder);
  const std::string good = folder.read("g.csv");
  const auto error = [&](const std::vector<std::string>& arguments) {
    const Ended ended = regress(folder, arguments);
    CAPTURE(arguments, ended.err);
    check_refused(ended);
    return ended.err;
  };
  CHECK_THAT(error({"none.csv"}), StartsWith("none.csv: no such file"));
  folder.write("other.csv", good);
  CHECK_THAT(error({"other.csv"}), Contains("no entry \"other.csv\", expected how it is made"));
  CHECK_THAT(error({"."}), Contains("other.csv: no entry in suites.json"));
  folder.write("g.csv", good + "host,command\n");
  CHECK_THAT(error({"g.csv"}), StartsWith("g.csv:6: 2 fields, expected 9"));
  folder.write("g.csv", std::string("\x7f\0ELF", 5));
  CHECK_THAT(error({"g.csv"}), StartsWith("g.csv:1: "));
  folder.write("g.csv", "hello\n");
  CHECK_THAT(error({"g.csv"}), StartsWith("g.csv:1: no column \"tier\""));
  folder.write("g.csv", good);
  CHECK_THAT(error({"g.csv", "--tolerance", "-1"}), StartsWith("--tolerance: "));
  CHECK_THAT(error({"g.csv", "--tolerance", "nan"}), StartsWith("--tolerance: "));
}

TEST_CASE("an entry that does not say how a table is made is refused at its place", "[app]") {
  Folder folder;
  make_golden(folder);
  const auto [sidecar, said] = GENERATE(table<std::string, std::string>({
      {"[]", "suites.json:1:1: "},
      {R"({"g.csv":{"suite":"break-oven","scenario":"s.json"}})",
       "suites.json:1:19: /g.csv/suite: no suite \"break-oven\", did you mean \"break-even\"?"},
      {R"({"g.csv":{"suite":"break-even","scenario":"s.json"}})",
       "suites.json:1:43: /g.csv/scenario: no file \"s.json\""},
      {R"({"g.csv":{"scenario":"suites.json"}})", "suites.json:1:10: /g.csv: no \"suite\""},
      {R"({"g.csv":{"suite":"break-even"}})", "suites.json:1:10: /g.csv: no \"scenario\""},
      {R"({"g.csv":{"colour":1}})", "suites.json:1:11: /g.csv/colour: an unknown key"},
      {R"({"g.csv":{"sets":"x"}})", "suites.json:1:18: /g.csv/sets: "},
      {R"({"g.csv":{"tolerance":{"a":-1}}})", "suites.json:1:28: /g.csv/tolerance/a: "},
      {R"({"h.csv":{}})", "suites.json:1:1: no entry \"g.csv\""},
  }));
  folder.write("suites.json", sidecar);
  const Ended ended = regress(folder, {"g.csv"});
  check_refused(ended);
  CHECK_THAT(ended.err, StartsWith(said));
}

TEST_CASE("a tolerance for a column that the table has not is refused", "[app]") {
  Folder folder;
  make_golden(folder);
  folder.write("suites.json", entry(R"(,"tolerance":{"bytes":0.1})"));
  const Ended ended = regress(folder, {"g.csv"});
  check_refused(ended);
  CHECK_THAT(ended.err, StartsWith("g.csv: suites.json gives a tolerance for \"bytes\""));
}
