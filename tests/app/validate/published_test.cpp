#include "app/validate/published.h"

#include "tests/app/folder.h"
#include "tests/support/shared_data.h"

#include <catch2/catch.hpp>

using namespace umf;
using namespace umf::app;
using Catch::Contains;

namespace {

/// What read_published() says of the text as the file of a suite s; empty: nothing.
std::string fault_of(const std::string& text) {
  const test::Folder folder;
  folder.write("s.json", text);
  try {
    read_published(folder.path(), "s");
    return {};
  } catch (const UserError& error) {
    const std::string what = error.what();
    return what.substr(what.find("s.json"));
  }
}

} // namespace

TEST_CASE("the files of all suites read without faults") {
  for (const char* suite :
       {"dram-forms", "gpu-chase", "gpu-stream", "gpu-loaded", "relu", "gpt2", "decode"}) {
    CAPTURE(suite);
    const Published published = read_published(test::source_file("results/published"), suite);
    CHECK(published.suite == suite);
    CHECK_FALSE(published.gates.empty());
    CHECK_FALSE(published.title.empty());
  }
}

TEST_CASE("a fault of a suite's file is named by file, line, column and pointer") {
  struct Case {
    const char *text, *fault;
  };
  const Case c = GENERATE(values<Case>({
      {R"({"title":"t","source":"s"})", "s.json:1:1: no \"gates\", expected one"},
      {"{\"title\":\"t\",\n\"source\":\"s\",\n\"gates\":[{\"rows\":\"r\",\"limit\":0,\"of\":"
       "\"mean\"}]}",
       "s.json:3:30: /gates/0/limit: the number 0, expected one above 0"},
      {R"({"title":"t","source":"s","gates":[{"rows":"r","limit":0.1,"of":"most"}]})",
       "/gates/0/of: \"most\", expected \"mean\" or \"each\""},
      {R"({"title":"t","source":"s","gates":[],"rowz":[]})", "/rowz: an unknown key, did you mean"},
      {R"({"title":"t","source":"s","gates":[],"machines":{"m":{"scenario":"no.json"}}})",
       "/machines/m/scenario: no file"},
      {R"({"title":"t","source":"s","gates":[],"figures":{"f":{"value":1}}})",
       "/figures/f: no \"source\", expected one"},
      {R"({"title":5,"source":"s","gates":[]})", "/title: the number 5, expected a text"},
  }));
  CHECK_THAT(fault_of(c.text), Contains(c.fault));
}

TEST_CASE("an id that is there twice is a fault") {
  const std::string row = R"({"id":"a","group":"g","what":"w","value":1,"unit":"ns","source":"s"})";
  CHECK_THAT(fault_of(R"({"title":"t","source":"s","gates":[],"rows":[)" + row + "," + row + "]}"),
             Contains("/rows/1: \"a\" is there twice, expected an id a row"));
}

TEST_CASE("a machine that is changed says why") {
  const std::string scenario = test::source_file("scenarios/hardware/h100-pcie.json").string();
  const auto text = [&](const std::string& more) {
    return R"({"title":"t","source":"s","gates":[],"machines":{"m":{"scenario":")" + scenario +
           R"(","sets":["gpu.sms=1"])" + more + "}}}";
  };
  CHECK_THAT(fault_of(text("")), Contains("/machines/m: no \"why\", expected one"));
  CHECK(fault_of(text(R"(,"why":"one SM")")).empty());
}

TEST_CASE("fitted rows are named whole, by their beginning or by a range of numbers") {
  Published published;
  published.fits = {{"key", {"a/read/32", "b/*", "c/3..17"}}};
  CHECK(published.fitted("a/read/32"));
  CHECK_FALSE(published.fitted("a/read/320"));
  CHECK(published.fitted("b/anything"));
  CHECK(published.fitted("c/3"));
  CHECK(published.fitted("c/17"));
  CHECK_FALSE(published.fitted("c/18"));
  CHECK_FALSE(published.fitted("c/x"));
  CHECK_FALSE(published.fitted("d/5"));
}
