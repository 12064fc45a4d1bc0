#pragma once

#include "app/validate/data.h"
#include "app/validate/published.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace umf::app {

/// One figure of a machine that exists beside the model's.
struct Row {
  std::string id;    ///< of its suite, and no other row's
  std::string group; ///< what gates are for
  std::string what;
  std::string unit;
  double reference = 0, simulated = 0;
  std::optional<double> peak{}; ///< of the part, in the same unit: a reference above it is suspect

  double error() const { return simulated / reference - 1; } ///< relative
};

/// What a suite runs on.
struct Study {
  const Published& published;
  const DataFolder& data;

  std::string file(const std::string& name) const; ///< of published.data
};

/// Rows of the model against rows of machines. `run` may fork for machines of its own (run_apart);
/// it is not called where one of its data files is absent.
struct ValidationSuite {
  std::string name;                      ///< and that of its file in results/published/
  std::string help;                      ///< what is held against what, in a few words
  std::vector<Row> (*run)(const Study&); ///< throws UserError
};

/// Every suite, in the order that reports show them.
std::span<const ValidationSuite> validation_suites();
std::vector<std::string> validation_suite_names();

} // namespace umf::app
