#pragma once

#include "model/base/error.h"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// What was measured on machines that exist, and what a suite must reach against it: a file of
/// results/published/, named after its suite.
namespace umf::app {

/// How far the model may be off. It is judged on all rows of its group, and on those that nothing
/// was fitted on.
struct Gate {
  enum class Of { mean, each };
  std::string rows;   ///< of this group
  double limit = 0;   ///< share: 0.05 is 5 %
  Of of = Of::mean;   ///< the mean absolute error, or every row's
  std::string reason; ///< where the model as it is cannot reach it: why; printed with the failure
};

/// A key of the machine that was fitted, and the rows it was fitted on.
struct Fit {
  std::string parameter;
  /// Ids; "NAME*" are all that begin so, "NAME/3..17" those with these numbers.
  std::vector<std::string> rows;
};

/// A figure of the file itself; those of data files are read by the suite.
struct PublishedRow {
  std::string id, group, what, unit, source;
  double value = 0;
  std::optional<double> peak; ///< of the part, in the same unit
  Place place;
};

struct Published {
  std::string suite, file, title, source;
  std::map<std::string, std::string> data; ///< name to path below the data folder
  struct Machine {
    std::string scenario;
    std::vector<std::string> sets;
  };
  std::map<std::string, Machine> machines;
  std::map<std::string, double> figures; ///< further ones the suite needs, each with its source
  std::vector<Gate> gates;
  std::vector<Fit> fits;
  std::vector<PublishedRow> rows;

  bool fitted(const std::string& id) const;
  /// Throws UserError, which names the file, where it has none of that name.
  const Machine& machine(const std::string& name) const;
  double figure(const std::string& name) const;
};

/// Reads FOLDER/SUITE.json. Throws UserError with file:line:column and the pointer: an unknown or
/// missing key, a wrong value, a scenario that is not there, an id there twice, a gate without
/// limit.
Published read_published(const std::filesystem::path& folder, const std::string& suite);

} // namespace umf::app
