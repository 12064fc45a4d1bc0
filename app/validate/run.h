#pragma once

#include "app/validate/verdict.h"

#include <string>
#include <vector>

namespace umf::app {

struct ValidationRequest {
  std::vector<std::string> suites;             ///< names; none: all
  std::string published = "results/published"; ///< folder
  std::string data;                            ///< folder; empty: as DataFolder finds it
  std::string against;                         ///< CSV with other references; empty: none
};

/// Runs the suites, each in a process of its own. Throws UserError: unknown suite, broken file of
/// a suite, of data or of references.
std::vector<SuiteResult> validate(const ValidationRequest& request);

} // namespace umf::app
