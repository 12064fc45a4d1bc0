#include "app/validate/report.h"
#include "app/validate/text.h"
#include "app/validate/verdict.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>

using namespace umf::app;
using Catch::Contains;

namespace {

Row row(const std::string& id, double reference, double simulated, const std::string& group = "g") {
  return {id, group, "a figure", "ns", reference, simulated};
}

SuiteResult judged(std::vector<Row> rows, std::vector<Gate> gates, bool partial = false) {
  SuiteResult result;
  result.published.suite = std::string(1, 's');
  result.published.gates = std::move(gates);
  result.published.fits = {{"key", {"fit"}}};
  result.rows = std::move(rows);
  judge(result, partial);
  return result;
}

constexpr auto kHeld = SuiteResult::Status::held;
constexpr auto kFailed = SuiteResult::Status::failed;

} // namespace

TEST_CASE("errors are relative to the reference, and the mean is of their sizes") {
  const SuiteResult result = judged({row("a", 100, 110), row("b", 100, 94)}, {});
  CHECK(result.rows[0].error() == Approx(0.1));
  CHECK(result.rows[1].error() == Approx(-0.06));
  CHECK(result.groups[0].all.value == Approx(0.08)); // (10 % + 6 %) / 2
  CHECK(result.rows[result.groups[0].worst].id == "a");
  CHECK(result.status == kHeld); // no gate
}

TEST_CASE("a mean gate is judged on all rows and on those nothing was fitted on") {
  // All: (0 + 8 %) / 2 = 4 %; unfitted alone 8 %.
  const std::vector<Row> rows = {row("fit", 100, 100), row("b", 100, 108)};
  CHECK(judged(rows, {{"g", 0.05, Gate::Of::mean, ""}}).status == kFailed);
  CHECK(judged(rows, {{"g", 0.08 + 1e-9, Gate::Of::mean, ""}}).status == kHeld);
  const SuiteResult result = judged(rows, {});
  CHECK(result.groups[0].fitted.rows == 1);
  CHECK(result.groups[0].unfitted.value == Approx(0.08));
}

TEST_CASE("a gate of each row fails with the first row beyond it, and counts them") {
  const SuiteResult result = judged({row("a", 100, 101), row("b", 100, 106), row("c", 100, 93)},
                                    {{"g", 0.05, Gate::Of::each, ""}});
  CHECK(result.status == kFailed);
  CHECK(result.groups[0].beyond == 2);
}

TEST_CASE("a gate is of its group alone") {
  const SuiteResult result =
      judged({row("a", 100, 100), row("b", 100, 200, "h")}, {{"g", 0.05, Gate::Of::each, ""}});
  CHECK(result.status == kHeld);
  CHECK(result.groups.size() == 2);
}

TEST_CASE("a gate whose group has no rows fails, unless only some rows are meant to be there") {
  const std::vector<Gate> gates = {{"h", 0.05, Gate::Of::mean, ""}};
  const SuiteResult result = judged({row("a", 100, 100)}, gates);
  CHECK(result.status == kFailed);
  CHECK_THAT(failure_lines(result).front(), Contains("no row of group h"));
  CHECK(judged({row("a", 100, 100)}, gates, true).status == kHeld);
}

TEST_CASE("a reference above the part's peak is marked and not judged") {
  std::vector<Row> rows = {row("a", 100, 100), row("b", 300, 100)};
  rows[1].peak = 200;
  const SuiteResult result = judged(rows, {{"g", 0.05, Gate::Of::each, ""}});
  CHECK(above_peak(result.rows[1]));
  CHECK(result.status == kHeld);
  CHECK(result.all.rows == 1);
  CHECK_THAT(failure_lines(result).front(), Contains("above the part's peak"));
  CHECK_THAT(to_csv(validation_rows({result})), Contains("b,g,a figure,300,ns,100,-0.6667,no,yes"));
}

TEST_CASE("a gate that fails prints its worst row and its reason") {
  const SuiteResult result =
      judged({row("a", 100, 150)}, {{"g", 0.05, Gate::Of::mean, "nobody knows"}});
  const std::string line = failure_lines(result).front();
  CHECK_THAT(line, Contains("worst a (a figure): 150 ns against 100"));
  CHECK_THAT(line, Contains("why: nobody knows"));
}

TEST_CASE("reports of many rows are thinned evenly and keep the worst of each group") {
  std::vector<Row> rows;
  for (int i = 0; i < 1000; ++i)
    rows.push_back(row(fmt::format("{}", i), 100 + i, i == 777 ? 1 : 100 + i));
  const SuiteResult result = judged(rows, {});
  const auto shown = shown_rows(result, 100);
  CHECK(shown.size() <= 101);
  CHECK(shown.size() > 90);
  CHECK(std::find(shown.begin(), shown.end(), 777U) != shown.end());
  CHECK(shown_rows(judged({row("a", 1, 1)}, {}), 100).size() == 1);
}

TEST_CASE("the scatter has a point a row and the gate's lines") {
  const SuiteResult result =
      judged({row("fit", 10, 11), row("b", 100, 90)}, {{"g", 0.05, Gate::Of::mean, ""}});
  const std::string svg = scatter_svg(result);
  const auto count = [&](const std::string& what) {
    std::size_t n = 0;
    for (auto at = svg.find(what); at != std::string::npos; at = svg.find(what, at + 1))
      ++n;
    return n;
  };
  CHECK(count("<circle") == 2);
  CHECK(count("fill=\"#2a2\"") == 1); // the fitted one
  CHECK(count("stroke-dasharray") == 2);
}
