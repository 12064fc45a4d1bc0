#pragma once

#include "app/tables/csv.h"
#include "app/tables/table.h"

#include <string>
#include <vector>

namespace umf::app {

/// What drifted between a golden file and the table as it is now, a line each: rows that are
/// missing or new, columns that are missing or new, and figures further off than their column's
/// tolerance. Rows are paired by their key columns, whatever their order. Figures that are no
/// numbers must be equal; a golden 0 must stay 0 whatever the tolerance.
/// Throws UserError, with the line, for a golden file without the table's key columns or with two
/// rows of one key.
std::vector<std::string> drifts(const Csv& golden, const Table& now);

} // namespace umf::app
