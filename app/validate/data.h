#pragma once

#include "app/tables/csv.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace umf::app {

/// Where measured curves and counters lie, which this repository does not copy.
class DataFolder {
public:
  /// Empty: $UMFSIM_SHARED/data, else ../shared/data beside the folder umfsim runs in.
  explicit DataFolder(const std::string& given);
  std::string path(const std::string& relative) const { return (root_ / relative).string(); }
  bool has(const std::string& relative) const;

private:
  std::filesystem::path root_;
};

/// A CSV file, compressed or not, whose lines may be comments with '#' in front, and may end early.
Csv read_data(const std::string& file);

/// A column of `csv` by its name. Throws UserError where there is none.
class DataColumn {
public:
  DataColumn(const Csv& csv, std::string_view name);
  const std::string& text(const Csv::Row& row) const { return row.fields[at_]; }
  /// Throws UserError with the line where it is no finite number.
  double number(const Csv::Row& row) const;

private:
  const Csv& csv_;
  std::string name_;
  std::size_t at_ = 0;
};

} // namespace umf::app
