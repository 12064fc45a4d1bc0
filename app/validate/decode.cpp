#include "app/validate/replayed.h"
#include "app/validate/suites.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

/// Decode attention: one query a request over its keys and values, timed on a warm L2.
namespace umf::app {

namespace {

struct Decode {
  std::uint64_t batch, heads, kv_heads, head, length, window, element;
  double microseconds;

  /// Tokens that a query sees.
  std::uint64_t seen() const { return window == 0 ? length : std::min(window, length); }
  std::uint64_t kv_bytes() const { return 2 * batch * seen() * kv_heads * head * element; }
  std::uint64_t query_bytes() const { return batch * heads * head * 2; }
};

std::vector<Decode> read_table(const std::string& file) {
  const Csv csv = read_data(file);
  const DataColumn batch(csv, "batch_size"), prompt(csv, "isl"), step(csv, "step"),
      heads(csv, "num_heads"), kv_heads(csv, "num_key_value_heads"), head(csv, "head_dim"),
      window(csv, "window_size"), dtype(csv, "kv_cache_dtype"), latency(csv, "latency");
  std::vector<Decode> table;
  const auto count = [](const DataColumn& column, const Csv::Row& row) {
    return static_cast<std::uint64_t>(column.number(row));
  };
  for (const Csv::Row& row : csv.rows)
    table.push_back({count(batch, row), count(heads, row), count(kv_heads, row), count(head, row),
                     count(prompt, row) + count(step, row), count(window, row),
                     dtype.text(row) == "fp8" ? 1u : 2u, latency.number(row) * 1e3});
  return table;
}

/// The kernel has a block for each request and group of heads that shares keys; where these do not
/// fill the device, the keys are split over so many blocks that they do, at most one a tile.
struct Shape {
  std::uint64_t tile, rows, threads; ///< tokens and queries of a tile; threads of a block
  std::uint64_t splits;              ///< at most
  std::uint64_t shared_memory;       ///< bytes of a block
  std::uint64_t warm;                ///< bytes of keys and values below which the L2 is warm
};

MeasuredKernel kernel_of(const Decode& d, const Shape& shape, std::uint32_t sms) {
  const std::uint64_t groups = d.batch * d.kv_heads;
  const std::uint64_t tiles = (d.seen() + shape.tile - 1) / shape.tile;
  const std::uint64_t splits =
      std::clamp<std::uint64_t>(sms / groups, 1, std::clamp<std::uint64_t>(tiles, 1, shape.splits));
  MeasuredKernel kernel;
  kernel.blocks = static_cast<std::uint32_t>(groups * splits);
  kernel.threads = static_cast<std::uint32_t>(shape.threads);
  // Keys and values of so many tiles; the rest of an SM's shared memory is the block's too.
  kernel.shared_memory = {shape.shared_memory};
  const std::uint64_t rows = (d.heads / d.kv_heads + shape.rows - 1) / shape.rows * shape.rows;
  kernel.flops = 2.0 * static_cast<double>(rows * d.kv_bytes() / d.element);
  const std::uint64_t partial = splits > 1 ? groups * splits * (d.heads / d.kv_heads) * d.head * 4
                                           : 0; // in 32 bits, read again to be joined
  kernel.accesses = {
      {d.kv_bytes(), false}, {d.query_bytes(), false}, {d.query_bytes() + partial, true}};
  // Timed on a warm L2; of more than it holds, a run leaves nothing that the next one meets in
  // time.
  kernel.times = d.kv_bytes() < shape.warm ? 2 : 1;
  return kernel;
}

std::vector<Row> run(const Study& study) {
  const Published& published = study.published;
  const std::uint32_t sms = scenario_of(published.machine("h100 64")).gpu.sms;
  const Shape shape{static_cast<std::uint64_t>(published.figure("tile")),
                    static_cast<std::uint64_t>(published.figure("rows")),
                    static_cast<std::uint64_t>(published.figure("threads")),
                    static_cast<std::uint64_t>(published.figure("splits")),
                    static_cast<std::uint64_t>(published.figure("shared_memory")),
                    static_cast<std::uint64_t>(published.figure("warm_bytes"))};
  const double from = published.figure("bytes_from"), large = published.figure("bytes_large");
  const auto table = read_table(study.file("table"));
  std::vector<Row> rows;
  for (const std::uint64_t head : {64, 128}) { // a kernel of its own each
    std::vector<MeasuredKernel> kernels;
    for (std::size_t i = 0; i < table.size(); ++i) {
      const Decode& d = table[i];
      const auto bytes = static_cast<double>(d.kv_bytes());
      if (bytes < from || d.head != head) continue;
      kernels.push_back(kernel_of(d, shape, sms));
      const char* group = d.window != 0 ? "window" : bytes >= large ? "large" : "small";
      rows.push_back(
          {fmt::format("{}/{}", group, i), group,
           fmt::format("{} x {}, {} on {} heads of {}, {} bits, {:.0f} MB", d.batch, d.length,
                       d.heads, d.kv_heads, d.head, d.element * 8, bytes / 1e6),
           "us", d.microseconds, 0});
    }
    const auto replayed = replay_kernels(published.machine(fmt::format("h100 {}", head)), kernels);
    for (std::size_t k = 0; k < kernels.size(); ++k)
      rows[rows.size() - kernels.size() + k].simulated = replayed[k].duration.seconds() * 1e6;
  }
  return rows;
}

} // namespace

ValidationSuite decode_suite() {
  return {"decode", "time of decode attention on an H100 SXM, vLLM, by batch, length and heads",
          run};
}

} // namespace umf::app
