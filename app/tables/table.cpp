#include "app/tables/table.h"

#include "app/report/figures.h"

#include <fmt/format.h>

#include <algorithm>

namespace umf::app {

namespace {

const std::string& shown(const Cell& cell) {
  return cell.shown.empty() ? cell.text : cell.shown;
}

} // namespace

std::string to_csv(const Table& table) {
  std::string text;
  const auto add = [&](bool first, const std::string& field) {
    if (!first) text += ',';
    text += csv_field(field);
  };
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    add(i == 0, table.columns[i].name);
  text += '\n';
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i)
      add(i == 0, row[i].text);
    text += '\n';
  }
  return text;
}

std::string to_terminal(const Table& table) {
  if (!table.view.empty()) return table.title + "\n\n" + table.view;
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    widths.push_back(table.columns[i].heading.size());
    for (const auto& row : table.rows)
      widths[i] = std::max(widths[i], shown(row[i]).size());
  }
  std::string text = table.title + "\n\n";
  const auto line = [&](const auto& field) {
    std::string cells;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      cells += i == 0 ? "" : "  ";
      cells += table.columns[i].is_text ? fmt::format("{:<{}}", field(i), widths[i])
                                        : fmt::format("{:>{}}", field(i), widths[i]);
    }
    text += cells.substr(0, cells.find_last_not_of(' ') + 1) + '\n';
  };
  line([&](std::size_t i) { return table.columns[i].heading; });
  for (const auto& row : table.rows)
    line([&](std::size_t i) { return shown(row[i]); });
  return text;
}

} // namespace umf::app
