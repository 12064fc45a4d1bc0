#pragma once

#include "app/tables/suites.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace umf::app {

/// A golden CSV file and how it was made, as suites.json beside it says.
struct Golden {
  std::string file;
  const Suite* suite = nullptr;
  TableOptions options;
  std::map<std::string, double> tolerance; ///< of columns, over those of the suite
};

/// The golden files that `names` stand for, each a CSV file or a folder of them, in their order
/// (of a folder: that of suites.json). Throws UserError, with the place, for a file or folder
/// that is not there, one without suites.json or without an entry in it, and for an entry with an
/// unknown key or suite, or a scenario that is not there. `to_be_made`: files may lack.
std::vector<Golden> find_goldens(const std::vector<std::string>& names, bool to_be_made);

/// The table of a golden file as it is now, with the tolerances of suites.json, in this process.
/// Throws UserError for a tolerance of a column it does not have.
Table make_table(const Golden& golden);

} // namespace umf::app
