#include "app/verbs/verbs.h"

#include "app/report/printable.h"
#include "app/run/apart.h"
#include "app/run/trace_source.h"
#include "app/tables/compare.h"
#include "app/tables/csv.h"
#include "app/tables/goldens.h"
#include "model/base/error.h"
#include "traces/whole_file.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <memory>
#include <optional>

/// Golden tables, made again and compared.
namespace umf::app {

namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::vector<std::string> goldens;
  std::optional<double> tolerance;
  bool update = false;
};

/// What a child answers: the table as CSV, and what drifted from the golden file.
Json compared(const Golden& golden, const std::optional<Csv>& before,
              const std::optional<double>& tolerance) {
  Table table = make_table(golden);
  if (tolerance)
    for (Column& column : table.columns)
      column.tolerance = *tolerance;
  Json answer;
  answer["csv"] = to_csv(table);
  answer["rows"] = table.rows.size();
  answer["drifts"] = before ? drifts(*before, table) : std::vector<std::string>{};
  return answer;
}

std::vector<Json> answers_of(const std::vector<Golden>& goldens,
                             const std::vector<std::optional<Csv>>& before,
                             const Options& options) {
  std::vector<Job> jobs;
  for (std::size_t i = 0; i < goldens.size(); ++i)
    jobs.push_back({goldens[i].file, [&, i] {
                      const auto packed =
                          Json::to_msgpack(compared(goldens[i], before[i], options.tolerance));
                      return std::string(packed.begin(), packed.end());
                    }});
  std::vector<Json> answers;
  for (const Outcome& outcome : run_apart(jobs)) {
    if (outcome.refused) throw UserError(outcome.text);
    answers.push_back(Json::from_msgpack(outcome.text));
  }
  return answers;
}

void rewrite(const std::vector<Golden>& goldens, const std::vector<Json>& answers) {
  traces::WholeFiles files;
  for (std::size_t i = 0; i < goldens.size(); ++i)
    files.emplace_back(goldens[i].file, answers[i]["csv"].get<std::string>());
  traces::write_whole(files);
}

Exit regress(const Options& options) {
  if (options.tolerance && !(*options.tolerance >= 0 && std::isfinite(*options.tolerance)))
    throw UserError("--tolerance: expected a share from 0 up, such as 0.005");
  const auto goldens = find_goldens(options.goldens, options.update);
  std::vector<std::optional<Csv>> before(goldens.size());
  if (!options.update)
    for (std::size_t i = 0; i < goldens.size(); ++i)
      before[i] = read_csv(goldens[i].file);
  const auto answers = answers_of(goldens, before, options);
  if (stop_asked()) throw Interrupted{};
  if (options.update) rewrite(goldens, answers);

  std::string text;
  bool drifted = false;
  for (std::size_t i = 0; i < goldens.size(); ++i) {
    const auto& golden = goldens[i];
    const Json& found = answers[i]["drifts"];
    for (const auto& line : found)
      text += printable(line.get<std::string>()) + '\n';
    const std::string what =
        options.update  ? "written"
        : found.empty() ? "as they were"
                        : fmt::format("{} drift{}", found.size(), found.size() == 1 ? "" : "s");
    text += printable(fmt::format("{}: {}, {} rows, {}", golden.file, golden.suite->name,
                                  answers[i]["rows"].get<std::size_t>(), what)) +
            '\n';
    drifted = drifted || !found.empty();
  }
  print(text);
  return drifted ? Exit::check_failed : Exit::ok;
}

} // namespace

Action add_regress(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("regress", "Golden tables made again; lists what drifted");
  verb->add_option("GOLDEN", options->goldens,
                   "CSV file, or folder of them, with suites.json beside it; several")
      ->required();
  verb->add_option("--tolerance", options->tolerance,
                   "Share that any figure may drift by, such as 0.005, over those of suites.json");
  verb->add_flag("--update", options->update, "Write the tables as they are now instead");
  return [options] { return regress(*options); };
}

} // namespace umf::app
