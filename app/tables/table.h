#pragma once

#include <string>
#include <vector>

namespace umf::app {

/// A column of a table. Key columns name a row; the others are what a golden file is compared by.
struct Column {
  std::string name;    ///< in CSV, with its unit: "move_in_ns"
  std::string heading; ///< for people
  std::string unit;    ///< of the CSV's figures: "ns"; empty: none
  bool is_key = false;
  bool is_text = false; ///< set flush left for people
  double tolerance = 0; ///< share of the golden figure it may drift by, 0.005 for half a percent
};

struct Cell {
  std::string text;  ///< in CSV
  std::string shown; ///< for people; empty: as in CSV
};

struct Table {
  std::string title; ///< lines for people, without the last line's end
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows; ///< a cell a column
  std::string view{};                  ///< for people in place of the rows; empty: the rows
};

std::string to_csv(const Table& table);
/// The title and aligned columns, or the table's view.
std::string to_terminal(const Table& table);

} // namespace umf::app
