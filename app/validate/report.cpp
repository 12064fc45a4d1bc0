#include "app/validate/report.h"

#include "app/validate/text.h"
#include "model/base/error.h"
#include "traces/places.h"
#include "traces/whole_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <utility>

namespace umf::app {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostRows = 200; ///< of a suite's table

std::string group_table(const SuiteResult& result) {
  const auto mape = [](const Mape& m) { return m.rows == 0 ? "–" : percent(m.value); };
  std::string text =
      "| group | rows | MAPE | on fitted rows | on unfitted rows | worst row | gate | "
      "|\n|---|---|---|---|---|---|---|---|\n";
  for (const GroupResult& group : result.groups) {
    const Row& worst = result.rows[group.worst];
    text += fmt::format("| {} | {} | {} | {} | {} | `{}` ({}) {:+.1f} % | {} | {} |\n", group.group,
                        group.all.rows, mape(group.all), mape(group.fitted), mape(group.unfitted),
                        worst.id, worst.what, 100 * worst.error(), gate_text(group.gate),
                        verdict_text(group));
  }
  return text;
}

std::string section(const SuiteResult& result) {
  const Published& published = result.published;
  std::string text =
      fmt::format("\n## {}\n\n{}. {}\n\n", published.suite, published.title, published.source);
  if (result.status == SuiteResult::Status::skipped)
    return text + "Skipped: measured data not at hand.\n";
  text += group_table(result);
  for (const Fit& fit : published.fits) {
    std::string ids;
    for (const std::string& id : fit.rows)
      ids += (ids.empty() ? "`" : ", `") + id + "`";
    text += fmt::format("\nFitted: {}, on rows {}.\n", fit.parameter, ids.empty() ? "–" : ids);
  }
  for (const std::string& line : failure_lines(result))
    text += "\n* " + line + "\n";
  const std::size_t shown = shown_rows(result, kMostRows).size();
  text += fmt::format(
      "\n[rows]({}.csv){} · ![{}]({}.svg)\n", published.suite,
      shown == result.rows.size()
          ? std::string()
          : fmt::format(" ({} of {}, thinned evenly, the worst kept)", shown, result.rows.size()),
      published.suite, published.suite);
  return text;
}

SuiteResult thinned(const SuiteResult& result) {
  SuiteResult fewer = result;
  fewer.rows.clear();
  fewer.fitted.clear();
  for (const std::size_t i : shown_rows(result, kMostRows)) {
    fewer.rows.push_back(result.rows[i]);
    fewer.fitted.push_back(result.fitted[i]);
  }
  return fewer;
}

} // namespace

std::vector<std::size_t> shown_rows(const SuiteResult& result, std::size_t most) {
  std::vector<std::size_t> all;
  if (result.rows.size() <= most) {
    for (std::size_t i = 0; i < result.rows.size(); ++i)
      all.push_back(i);
    return all;
  }
  std::set<std::size_t> shown;
  const std::size_t each = std::max<std::size_t>(most / result.groups.size(), 2) - 1;
  for (const GroupResult& group : result.groups) {
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < result.rows.size(); ++i)
      if (result.rows[i].group == group.group) rows.push_back(i);
    std::stable_sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
      return result.rows[a].reference < result.rows[b].reference;
    });
    const std::size_t count = std::min(each, rows.size());
    for (std::size_t n = 0; n < count; ++n)
      shown.insert(rows[n * rows.size() / count]);
    shown.insert(group.worst);
  }
  return {shown.begin(), shown.end()};
}

void write_validation_report(const std::vector<SuiteResult>& results, const fs::path& folder) {
  std::string text =
      "# The model beside machines that exist\n\n"
      "Made by `umfsim validate --out results/validation`. Errors are simulated / "
      "reference − 1; a gate is judged on all\nrows of its group and on those nothing "
      "was fitted on. `app/validate/README.md` says how suites work.\n\n"
      "| suite | rows | MAPE | |\n|---|---|---|---|\n";
  traces::WholeFiles files;
  for (const SuiteResult& result : results) {
    const std::string& name = result.published.suite;
    text +=
        fmt::format("| [{}](#{}) | {} | {} | {} |\n", name, name, result.rows.size(),
                    result.all.rows == 0 ? "–" : percent(result.all.value), name_of(result.status));
    if (result.rows.empty()) continue;
    files.emplace_back(name + ".csv", to_csv(validation_rows({thinned(result)})));
    files.emplace_back(name + ".svg", scatter_svg(result));
  }
  for (const SuiteResult& result : results)
    text += section(result);
  files.emplace_back("README.md", text);
  traces::write_whole(folder, files);
}

} // namespace umf::app
