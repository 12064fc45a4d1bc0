#include "app/verbs/verbs.h"

#include "app/tables/suites.h"

#include <fmt/format.h>

#include <memory>

/// Tables of a machine, without a trace.
namespace umf::app {

namespace {

std::string help_of_suites() {
  std::string help = "Which table";
  for (const Suite& suite : suites())
    help +=
        fmt::format("{} {}: {}", &suite == &suites().front() ? "." : ";", suite.name, suite.help);
  return help;
}

} // namespace

Action add_tables(CLI::App& app) {
  struct Options {
    std::string suite = "break-even", format = "table";
    TableOptions table;
  };
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("tables", "Tables of a machine, without a trace");
  verb->add_option("--suite", options->suite, help_of_suites())
      ->check(CLI::IsMember(suite_names()))
      ->capture_default_str();
  verb->add_option("--scenario", options->table.scenario, "Scenario file (JSON)")->required();
  verb->add_option("--set", options->table.sets, "POINTER=VALUE over the scenario; repeatable")
      ->take_all()
      ->allow_extra_args(false);
  verb->add_option("--tier", options->table.tiers,
                   "Only this tier, where tables have rows of tiers; repeatable")
      ->take_all()
      ->allow_extra_args(false);
  verb->add_option("--bytes", options->table.bytes, "Sizes to tabulate, such as 2MiB; repeatable")
      ->take_all()
      ->allow_extra_args(false)
      ->capture_default_str();
  verb->add_option("--format", options->format, "What stdout gets")
      ->check(CLI::IsMember({"table", "csv"}))
      ->capture_default_str();
  return [options] {
    const Table table = find_suite(options->suite)->make(options->table);
    print(options->format == "csv" ? to_csv(table) : to_terminal(table));
    return Exit::ok;
  };
}

} // namespace umf::app
