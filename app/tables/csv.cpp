#include "app/tables/csv.h"

#include "model/base/json.h"
#include "traces/io/input.h"
#include "traces/places.h"

#include <fmt/format.h>

#include <algorithm>

namespace umf::app {

namespace {

class Fields {
public:
  Fields(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  /// The next line's fields, or false at the end; blank lines are skipped.
  bool next(Csv::Row& row) {
    while (at_ < text_.size() && ends_line())
      skip_end();
    row = {line_, {}};
    if (at_ == text_.size()) return false;
    for (;;) {
      row.fields.push_back(field());
      if (at_ < text_.size() && text_[at_] == ',') {
        ++at_;
        continue;
      }
      if (at_ < text_.size()) skip_end();
      return true;
    }
  }

  [[noreturn]] void fail(int line, const std::string& message) const {
    Place place = traces::place_of(file_);
    place.line = line;
    throw UserError(place, message);
  }

private:
  bool ends_line() const {
    return text_[at_] == '\n' || (text_[at_] == '\r' && text_.substr(at_ + 1, 1) == "\n");
  }

  void skip_end() {
    at_ += text_[at_] == '\r' ? 2 : 1;
    ++line_;
  }

  bool ends_field() const { return at_ == text_.size() || text_[at_] == ',' || ends_line(); }

  std::string field() {
    if (at_ < text_.size() && text_[at_] == '"') return quoted();
    const std::size_t begin = at_;
    for (; !ends_field(); ++at_)
      if (text_[at_] == '\0' || text_[at_] == '"')
        fail(line_, "a zero byte or a quote within a field, expected comma-separated text");
    return std::string(text_.substr(begin, at_ - begin));
  }

  std::string quoted() {
    const int opened = line_;
    std::string field;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '"') {
        if (text_.substr(at_ + 1, 1) != "\"") break;
        ++at_;
      }
      if (text_[at_] == '\n') ++line_;
      field += text_[at_];
    }
    if (at_ == text_.size()) fail(opened, "an open quote, expected one that closes it");
    ++at_;
    if (!ends_field()) fail(line_, "text behind a closing quote, expected a comma");
    return field;
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
  int line_ = 1;
};

} // namespace

Csv parse_csv(std::string_view text, const std::string& file, bool short_rows) {
  Fields fields(text, file);
  Csv csv;
  csv.file = file;
  Csv::Row row;
  if (!fields.next(row)) fields.fail(0, "an empty file, expected CSV: names of columns, then rows");
  csv.columns = row.fields;
  for (std::size_t i = 0; i < csv.columns.size(); ++i) {
    const auto& name = csv.columns[i];
    if (name.empty()) fields.fail(row.line, "a column without a name, expected one");
    if (std::find(csv.columns.begin(), csv.columns.begin() + static_cast<std::ptrdiff_t>(i),
                  name) != csv.columns.begin() + static_cast<std::ptrdiff_t>(i))
      fields.fail(row.line, fmt::format("column {} twice, expected it once", in_quotes(name)));
  }
  while (fields.next(row)) {
    if (short_rows && row.fields.size() < csv.columns.size()) row.fields.resize(csv.columns.size());
    if (row.fields.size() != csv.columns.size())
      fields.fail(row.line, fmt::format("{} fields, expected {} as in the first line",
                                        row.fields.size(), csv.columns.size()));
    csv.rows.push_back(row);
  }
  return csv;
}

Csv read_csv(const std::string& file) {
  traces::io::Input input = traces::io::Input::open(file);
  std::string text;
  char part[1 << 16];
  while (const std::size_t got = input.read(part, sizeof part))
    text.append(part, got);
  return parse_csv(text, file);
}

} // namespace umf::app
