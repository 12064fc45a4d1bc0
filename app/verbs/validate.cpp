#include "app/verbs/verbs.h"

#include "app/run/trace_source.h"
#include "app/validate/report.h"
#include "app/validate/run.h"
#include "app/validate/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

/// The model against measured hardware.
namespace umf::app {

namespace {

std::string help_of_validation_suites() {
  std::string help = "Only this suite; repeatable";
  for (const ValidationSuite& suite : validation_suites())
    help += fmt::format("{} {}: {}", &suite == &validation_suites().front() ? "." : ";", suite.name,
                        suite.help);
  return help;
}

} // namespace

Action add_validate(CLI::App& app) {
  struct Options {
    ValidationRequest request;
    std::string format = "table", out;
  };
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand(
      "validate", "The model against published hardware: error per row, MAPE per suite");
  verb->add_option("--suite", options->request.suites, help_of_validation_suites())
      ->check(CLI::IsMember(validation_suite_names()))
      ->take_all()
      ->allow_extra_args(false);
  verb->add_option("--against", options->request.against,
                   "CSV with columns suite, id, reference: figures of your own in place of the "
                   "published ones; only their rows are compared");
  verb->add_option("--published", options->request.published,
                   "Folder with the published figures and gates, a file a suite")
      ->capture_default_str();
  verb->add_option("--data", options->request.data,
                   "Folder with measured curves and counters; suites that lack theirs are skipped "
                   "(default: $UMFSIM_SHARED/data, else ../shared/data)");
  verb->add_option("--out", options->out, "Also writes a report, tables and pictures here");
  verb->add_option("--format", options->format, "What stdout gets")
      ->check(CLI::IsMember({"table", "json", "csv"}))
      ->capture_default_str();
  return [options] {
    const std::vector<SuiteResult> results = validate(options->request);
    if (stop_asked()) throw Interrupted{};
    if (!options->out.empty()) write_validation_report(results, options->out);
    print(options->format == "json"  ? validation_json(results).dump(2) + "\n"
          : options->format == "csv" ? to_csv(validation_rows(results))
                                     : validation_text(results));
    const bool failed = std::any_of(results.begin(), results.end(), [](const SuiteResult& result) {
      return result.status == SuiteResult::Status::failed;
    });
    return failed ? Exit::check_failed : Exit::ok;
  };
}

} // namespace umf::app
