#include "app/verbs/verbs.h"

#include "hw/platform/scenario.h"
#include "model/base/keys.h"
#include "model/shapes/model.h"
#include "traces/access/access.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <memory>

namespace umf::app {

namespace {

/// Those of scenarios, then of model files, then of what `generate` takes besides.
std::vector<Section> described_sections() {
  const auto scenarios = hw::scenario_sections(), models = shapes::model_sections();
  std::vector<Section> all(scenarios.begin(), scenarios.end());
  all.insert(all.end(), models.begin(), models.end());
  const auto access = traces::access::access_sections();
  all.insert(all.end(), access.begin(), access.end());
  return all;
}

} // namespace

Action add_describe(CLI::App& app) {
  auto component = std::make_shared<std::string>();
  CLI::App* verb = app.add_subcommand("describe", "Every component and key");
  verb->add_option("COMPONENT", *component, "Only this one, with all its keys");
  return [component] {
    print(describe(described_sections(), *component));
    return Exit::ok;
  };
}

Action add_schema(CLI::App& app) {
  app.add_subcommand("schema", "JSON Schema of a scenario, for editors");
  return [] {
    print(scenario_schema(hw::scenario_sections()).dump(2) + "\n");
    return Exit::ok;
  };
}

Action add_check(CLI::App& app) {
  struct Options {
    std::vector<std::string> files, sets;
  };
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("check", "Validate scenarios without running");
  verb->add_option("FILE", options->files, "Scenario files")->required();
  verb->add_option("--set", options->sets, "POINTER=VALUE over each scenario; repeatable")
      ->take_all()
      ->allow_extra_args(false);
  return [options] {
    Exit exit = Exit::ok;
    for (const std::string& file : options->files) {
      try {
        const hw::Scenario scenario = hw::read_scenario(load_scenario(file, options->sets));
        print(file + ": ok, " + scenario.general.name + "\n");
      } catch (const UserError& error) {
        std::fprintf(stderr, "%s\n", error.what());
        exit = Exit::user_error;
      }
    }
    return exit;
  };
}

} // namespace umf::app
