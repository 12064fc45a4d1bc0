#include "app/validate/data.h"

#include "model/base/error.h"
#include "model/base/json.h"
#include "traces/io/input.h"
#include "traces/places.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace umf::app {

namespace fs = std::filesystem;

DataFolder::DataFolder(const std::string& given) : root_(given) {
  if (!given.empty()) return;
  const char* shared = std::getenv("UMFSIM_SHARED");
  root_ = (shared != nullptr ? fs::path(shared) : fs::path("../shared")) / "data";
}

bool DataFolder::has(const std::string& relative) const {
  std::error_code error;
  return fs::is_regular_file(root_ / relative, error);
}

Csv read_data(const std::string& file) {
  traces::io::Input input = traces::io::Input::open(file);
  std::string text;
  char part[1 << 16];
  while (const std::size_t got = input.read(part, sizeof part))
    text.append(part, got);
  // A comment becomes a blank line, so that later lines keep their numbers.
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (text[at] == '#') {
      text.erase(at, end - at);
      ++at;
    } else {
      at = end + 1;
    }
  }
  return parse_csv(text, file, true);
}

DataColumn::DataColumn(const Csv& csv, std::string_view name) : csv_(csv), name_(name) {
  const auto found = std::find(csv.columns.begin(), csv.columns.end(), name);
  if (found == csv.columns.end())
    throw UserError(traces::place_of(csv.file),
                    fmt::format("no column {}, expected one", in_quotes(name)));
  at_ = static_cast<std::size_t>(found - csv.columns.begin());
}

double DataColumn::number(const Csv::Row& row) const {
  std::string field = row.fields[at_];
  std::erase(field, ','); // thousands
  double value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error != std::errc{} || end != field.data() + field.size() || !std::isfinite(value)) {
    Place place = traces::place_of(csv_.file);
    place.line = row.line;
    throw UserError(place, fmt::format("{} of column {}, expected a number",
                                       in_quotes(row.fields[at_]), in_quotes(name_)));
  }
  return value;
}

} // namespace umf::app
