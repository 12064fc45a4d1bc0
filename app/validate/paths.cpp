#include "app/validate/suites.h"
#include "hw/link/measure.h"
#include "model/base/error.h"
#include "model/base/json.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

/// Links packet by packet beside measured ones: copies, switched pools, NVLink, the DMA engine of a
/// network card, a CXL expander, copies beyond the reach of address translation.
namespace umf::app {

namespace {

using namespace hw::link;

PathConfig path_of(const Published::Machine& machine) {
  return read_path_file(machine.scenario, machine.sets);
}

double gigabytes(BytesPerSecond rate) {
  return rate.value / 1e9;
}

/// MACHINE/REST of a row's id.
std::pair<std::string, std::string> parts_of(const std::string& id) {
  const std::size_t slash = id.find('/');
  return {id.substr(0, slash), slash == std::string::npos ? std::string{} : id.substr(slash + 1)};
}

Row row_of(const PublishedRow& given, double simulated) {
  return {given.id, given.group, given.what, given.unit, given.value, simulated, given.peak};
}

Measure measure_of(const Published& published) {
  Measure how;
  how.size = {static_cast<std::uint64_t>(published.figure("size_bytes"))};
  how.outstanding = static_cast<std::uint32_t>(published.figure("outstanding"));
  how.transactions = static_cast<std::uint64_t>(published.figure("transactions"));
  return how;
}

/// MACHINE/WAY of lines beside blocks: how many times the latency of lines alone, one at a time;
/// the bandwidth that they lose by it; the blocks' part where as many lines as blocks are
/// outstanding.
std::optional<double> shared_by(const Published& published, const PathConfig& path,
                                const std::string& way) {
  if (way != "read-latency" && way != "write-latency" && way != "lost" && way != "share")
    return std::nullopt;
  Beside how;
  how.write = way == "write-latency";
  how.blocks = static_cast<std::uint32_t>(published.figure("blocks"));
  how.block = {static_cast<std::uint64_t>(published.figure("block_bytes"))};
  if (way == "share") how.lines = how.blocks;
  const Shared shared = beside(path, how);
  if (way == "lost") return 100 * (1 - shared.lines.value / shared.alone.value);
  if (way == "share") return 100 * shared.blocks.value / (shared.blocks.value + shared.lines.value);
  return shared.nanoseconds / shared.alone_nanoseconds;
}

/// Rows MACHINE/read, /write: one way; /both: reads and writes at once; /exchange: each end writes
/// to the other, which share nothing; /unloaded: nanoseconds of a lone line; those of shared_by().
std::vector<Row> run_paths(const Study& study) {
  std::vector<Row> rows;
  for (const PublishedRow& given : study.published.rows) {
    const auto [name, way] = parts_of(given.id);
    const PathConfig path = path_of(study.published.machine(name));
    if (way == "unloaded") {
      rows.push_back(row_of(given, unloaded_read(path)));
      continue;
    }
    if (const auto shared = shared_by(study.published, path, way)) {
      rows.push_back(row_of(given, *shared));
      continue;
    }
    if (way != "read" && way != "write" && way != "both" && way != "exchange")
      throw UserError(
          given.place,
          fmt::format("a row {}, expected MACHINE/ and read, write, both, exchange, unloaded, "
                      "read-latency, write-latency, lost or share",
                      in_quotes(given.id)));
    Measure how = measure_of(study.published);
    how.duplex = way == "both";
    how.writes = way == "write" || way == "exchange" ? 1 : 0;
    const double rate = gigabytes(measure(path, how).both());
    rows.push_back(row_of(given, way == "exchange" ? 2 * rate : rate));
  }
  return rows;
}

/// Rows MACHINE/MIB: reads at random places of a footprint.
std::vector<Row> run_translation(const Study& study) {
  std::vector<Row> rows;
  for (const PublishedRow& given : study.published.rows) {
    const auto [name, mebibytes] = parts_of(given.id);
    std::uint64_t size = 0;
    const char* end = mebibytes.data() + mebibytes.size();
    if (std::from_chars(mebibytes.data(), end, size).ptr != end || size == 0)
      throw UserError(given.place,
                      fmt::format("a row {}, expected MACHINE/MIB", in_quotes(given.id)));
    Measure how = measure_of(study.published);
    how.footprint = {size << 20};
    how.random = true;
    rows.push_back(
        row_of(given, gigabytes(measure(path_of(study.published.machine(name)), how).reads)));
  }
  return rows;
}

std::vector<Row> run_dma(const Study& study) {
  const PathConfig path = path_of(study.published.machine("nic"));
  const Csv csv = read_data(study.file("sweep"));
  const DataColumn test(csv, "Test"), size(csv, "SZ"), rate(csv, "BW (GB/s)");
  std::vector<Row> rows;
  for (const Csv::Row& line : csv.rows) {
    const std::string kind = test.text(line);
    if (kind != "BW_DMA_RD" && kind != "BW_DMA_WR") continue;
    const bool write = kind == "BW_DMA_WR";
    const Bytes bytes{static_cast<std::uint64_t>(size.number(line))};
    const char* group = bytes.count < 64    ? "below 64 B"
                        : bytes.count < 256 ? "from 64 B"
                                            : "from 256 B";
    // The column is headed GB/s and holds Gb/s.
    rows.push_back({fmt::format("{}/{}", write ? "write" : "read", bytes.count), group,
                    fmt::format("DMA {} of {} B", write ? "writes" : "reads", bytes.count), "Gb/s",
                    rate.number(line), 8 * gigabytes(dma_rate(path, write, bytes))});
  }
  return rows;
}

/// Each curve: closed loop where it ends, then the latency of reads at every rate it has. At rates
/// that come near its end an open loop has no latency to speak of.
std::vector<Row> run_expander(const Study& study) {
  const PathConfig path = path_of(study.published.machine("expander"));
  std::vector<Row> rows;
  for (const int percent : {90, 60, 2}) {
    const std::string name = fmt::format("{}", percent);
    const Csv csv = read_data(study.file(name));
    const DataColumn rate(csv, "MBps"), latency(csv, "latency_ns");
    Measure how;
    how.size = Bytes{64};
    how.period = 50;
    how.writes = static_cast<std::uint32_t>(50 - percent / 2);
    double most = 0;
    for (std::size_t i = 0; i < csv.rows.size(); ++i) {
      const double offered = rate.number(csv.rows[i]) / 1e3;
      if (i == 0) {
        most = offered;
        how.outstanding = static_cast<std::uint32_t>(study.published.figure("outstanding"));
        how.transactions = 100'000;
        rows.push_back({name + "/saturated", "bandwidth",
                        fmt::format("{} % reads, closed loop", percent), "GB/s", offered,
                        gigabytes(measure(path, how).both())});
        continue;
      }
      how.outstanding = 1000;
      how.rate = BytesPerSecond{offered * 1e9};
      how.transactions = std::max<std::uint64_t>(2000, static_cast<std::uint64_t>(offered * 1500));
      const bool below = offered < study.published.figure("saturated_from") * most;
      rows.push_back({fmt::format("{}/{:.2f}", percent, offered),
                      below ? "latency" : "at saturation",
                      fmt::format("{} % reads at {:.2f} GB/s", percent, offered), "ns",
                      latency.number(csv.rows[i]), measure(path, how).read_nanoseconds});
    }
  }
  return rows;
}

} // namespace

ValidationSuite pcie_dma_suite() {
  return {"pcie-dma", "DMA of a Gen3 x8 network card by size of transfer", run_dma};
}
ValidationSuite copies_suite() {
  return {"copies", "copies between host and GPU over PCIe Gen3 to Gen5", run_paths};
}
ValidationSuite translation_suite() {
  return {"translation", "copies from host memory against the reach of translation",
          run_translation};
}
ValidationSuite cxl_expander_suite() {
  return {"cxl-expander", "bandwidth and latency of a CXL expander at three read shares",
          run_expander};
}
ValidationSuite pools_suite() {
  return {"pools", "CXL pools behind a switch, as two groups measured them", run_paths};
}
ValidationSuite nvlink_suite() {
  return {"nvlink", "copies and SM traffic over NVLink 3 and 4", run_paths};
}

} // namespace umf::app
