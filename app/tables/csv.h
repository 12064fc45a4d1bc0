#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace umf::app {

/// A CSV file as it was read: texts, and the line each row began in.
struct Csv {
  struct Row {
    int line = 0; ///< from 1
    std::vector<std::string> fields;
  };
  std::string file;
  std::vector<std::string> columns;
  std::vector<Row> rows;
};

/// Reads a comma-separated text with one line of names first; fields in quotes may hold commas,
/// doubled quotes and ends of lines. Throws UserError with the line of the fault: no text, an
/// open quote, text behind a quote, a name that is empty or there twice, a row of another length.
/// `short_rows`: rows of fewer fields than names end in empty ones.
Csv parse_csv(std::string_view text, const std::string& file, bool short_rows = false);
/// Also throws UserError when the file cannot be read.
Csv read_csv(const std::string& file);

} // namespace umf::app
