#include "app/tables/compare.h"

#include "model/base/json.h"
#include "traces/places.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>

namespace umf::app {

namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

std::size_t index_of(const std::vector<std::string>& names, const std::string& name) {
  const auto at = std::find(names.begin(), names.end(), name);
  return at == names.end() ? kNone : static_cast<std::size_t>(at - names.begin());
}

std::optional<double> number(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, fault] = std::from_chars(text.data(), end, value);
  if (fault != std::errc{} || stop != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// Nothing while within the tolerance, else what an error says behind the column's name.
std::optional<std::string> drift(const Column& column, const std::string& golden,
                                 const std::string& now) {
  if (golden == now) return std::nullopt;
  const auto before = number(golden);
  const auto after = number(now);
  const std::string unit = column.unit.empty() ? "" : " " + column.unit;
  if (!before || !after) return fmt::format("golden {}, now {}", golden, now);
  if (std::abs(*after - *before) <= column.tolerance * std::abs(*before)) return std::nullopt;
  const std::string share =
      *before == 0 ? "" : fmt::format(" ({:+.3g} %)", (*after / *before - 1) * 100);
  return fmt::format("golden {}{}, now {}{}{}", golden, unit, now, unit, share);
}

[[noreturn]] void wrong(const Csv& golden, int line, const std::string& message) {
  Place place = traces::place_of(golden.file);
  place.line = line;
  throw UserError(place, message);
}

} // namespace

std::vector<std::string> drifts(const Csv& golden, const Table& now) {
  std::vector<std::string> found, names;
  std::vector<std::size_t> in_golden; ///< index of each of the table's columns
  for (const Column& column : now.columns) {
    names.push_back(column.name);
    in_golden.push_back(index_of(golden.columns, column.name));
    if (in_golden.back() != kNone) continue;
    if (column.is_key)
      wrong(golden, 1,
            fmt::format("no column {}, expected it: it tells the rows apart",
                        in_quotes(column.name)));
    found.push_back(
        fmt::format("{}:1: column {}: new, not in the golden file", golden.file, column.name));
  }
  for (const auto& name : golden.columns)
    if (index_of(names, name) == kNone)
      found.push_back(
          fmt::format("{}:1: column {}: missing from the table now", golden.file, name));

  using Key = std::vector<std::string>;
  std::map<Key, std::size_t> rows; ///< of the table now
  for (std::size_t r = 0; r < now.rows.size(); ++r) {
    Key key;
    for (std::size_t c = 0; c < now.columns.size(); ++c)
      if (now.columns[c].is_key) key.push_back(now.rows[r][c].text);
    ensure(rows.emplace(key, r).second, "two rows of a table have one key");
  }
  std::map<Key, int> lines; ///< of the golden file
  for (const auto& row : golden.rows) {
    Key key;
    for (std::size_t c = 0; c < now.columns.size(); ++c)
      if (now.columns[c].is_key) key.push_back(row.fields[in_golden[c]]);
    const std::string named = fmt::format("{}", fmt::join(key, ","));
    if (const auto [at, first] = lines.emplace(key, row.line); !first)
      wrong(golden, row.line,
            fmt::format("row {} twice, expected it once (line {})", named, at->second));
    const auto pair = rows.find(key);
    if (pair == rows.end()) {
      found.push_back(
          fmt::format("{}:{}: row {}: missing from the table now", golden.file, row.line, named));
      continue;
    }
    for (std::size_t c = 0; c < now.columns.size(); ++c) {
      if (now.columns[c].is_key || in_golden[c] == kNone) continue;
      const auto what =
          drift(now.columns[c], row.fields[in_golden[c]], now.rows[pair->second][c].text);
      if (what)
        found.push_back(fmt::format("{}:{}: row {}, column {}: {}", golden.file, row.line, named,
                                    names[c], *what));
    }
  }
  for (const auto& [key, row] : rows)
    if (!lines.contains(key))
      found.push_back(
          fmt::format("{}: row {}: new, not in the golden file", golden.file, fmt::join(key, ",")));
  return found;
}

} // namespace umf::app
