#pragma once

#include "app/validate/suites.h"

#include <cstddef>
#include <string>
#include <vector>

/// What a suite's rows come to, and whether its gates hold.
namespace umf::app {

/// Mean absolute relative error of some rows.
struct Mape {
  std::size_t rows = 0;
  double value = 0; ///< 0 without rows
};

struct GroupResult {
  std::string group;
  Mape all, fitted, unfitted;
  std::size_t worst = 0;      ///< index of the row with the largest error
  std::size_t beyond = 0;     ///< rows beyond the limit of their gate
  const Gate* gate = nullptr; ///< null: none for this group
  bool holds = true;          ///< of its gate
};

struct SuiteResult {
  enum class Status { held, failed, skipped };
  Published published;
  std::vector<Row> rows;
  std::vector<bool> fitted; ///< of each row
  std::vector<GroupResult> groups;
  Mape all;
  Status status = Status::held;
  std::string message; ///< why it was skipped
};

/// True where the reference is above what the part can do: a figure to doubt.
inline bool above_peak(const Row& row) {
  return row.peak && row.reference > *row.peak;
}

/// Sorts rows into groups, in order of first appearance, and judges. Rows whose reference is above
/// the part's peak are shown but not judged. A gate whose group has no rows fails, unless
/// `partial`: then only some rows are there on purpose.
void judge(SuiteResult& result, bool partial);

const char* name_of(SuiteResult::Status status);

} // namespace umf::app
