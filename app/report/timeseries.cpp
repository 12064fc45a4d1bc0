#include "app/report/timeseries.h"

#include "app/report/figures.h"

namespace umf::app {

std::string timeseries_csv(const ReplayRun& run) {
  const hw::Windows& windows = run.platform->sampler().windows();
  std::string csv = "start_ns,duration_ns";
  for (const auto& column : windows.columns()) {
    csv += ',';
    csv += csv_field(column.name);
  }
  csv += '\n';
  const std::size_t columns = windows.columns().size();
  csv.reserve(csv.size() + windows.rows() * columns * 4);
  for (std::size_t row = 0; row < windows.rows(); ++row) {
    append_ns(csv, windows.start(row));
    csv += ',';
    append_ns(csv, windows.length(row));
    for (std::size_t c = 0; c < columns; ++c) {
      csv += ',';
      const std::uint64_t value = windows.at(row, c);
      const auto kind = windows.columns()[c].kind;
      if (kind == hw::Windows::Kind::spread || kind == hw::Windows::Kind::elapsed) // femtoseconds
        append_ns(csv, {static_cast<std::int64_t>(value)});
      else
        append_whole(csv, value);
    }
    csv += '\n';
  }
  return csv;
}

} // namespace umf::app
