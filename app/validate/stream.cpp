#include "app/validate/replayed.h"
#include "app/validate/suites.h"

#include <fmt/format.h>

/// Streaming kernels against resident threads: what Little's law leaves of the bandwidth.
namespace umf::app {

namespace {

/// Two blocks run on an SM and each thread handles one double.
constexpr std::uint64_t kElements = std::uint64_t{128} << 20, kElement = 8;

struct StreamKernel {
  const char* name;
  std::uint32_t loads, stores; ///< arrays; what a stencil loads again, the L1 has
};
constexpr StreamKernel kKernels[] = {{"init", 0, 1},  {"read", 1, 0},     {"scale", 1, 1},
                                     {"triad", 2, 1}, {"stencil3", 1, 1}, {"stencil5", 1, 1}};

void add_device(const Study& study, const std::string& name, std::vector<Row>& rows) {
  const Published::Machine& machine = study.published.machine(name);
  const hw::Scenario scenario = scenario_of(machine);
  const double peak = study.published.figure("peak of " + name);
  const Csv csv = read_data(study.file(name));
  const DataColumn block_size(csv, "block_size"), occupancy(csv, "occupancy_pct");
  std::vector<MeasuredKernel> kernels;
  for (const StreamKernel& kind : kKernels) {
    const DataColumn rate(csv, kind.name);
    for (const Csv::Row& row : csv.rows) {
      MeasuredKernel kernel;
      kernel.threads = static_cast<std::uint32_t>(block_size.number(row));
      kernel.blocks = static_cast<std::uint32_t>((kElements + kernel.threads - 1) / kernel.threads);
      kernel.shared_memory = {scenario.gpu.shared_memory_per_sm.count / 2};
      kernel.accesses.assign(kind.loads, {kElements * kElement, false});
      kernel.accesses.insert(kernel.accesses.end(), kind.stores, {kElements * kElement, true});
      kernel.times = 2; // as it was timed: the second finds what the first left in the L2
      kernels.push_back(std::move(kernel));
      rows.push_back({fmt::format("{}/{}/{}", name, kind.name, kernels.back().threads), name,
                      fmt::format("{} at {} % of the threads", kind.name, occupancy.text(row)),
                      "GB/s", rate.number(row), 0, peak});
    }
  }
  const auto replayed = replay_kernels(machine, kernels);
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const double bytes = static_cast<double>(kernels[k].accesses.size() * kElements * kElement);
    rows[rows.size() - kernels.size() + k].simulated = bytes / replayed[k].duration.seconds() / 1e9;
  }
}

std::vector<Row> run(const Study& study) {
  std::vector<Row> rows;
  for (const auto& [name, machine] : study.published.machines)
    add_device(study, name, rows);
  return rows;
}

} // namespace

ValidationSuite gpu_stream_suite() {
  return {"gpu-stream", "bandwidth of six streaming kernels on an A100 and an H100 against threads",
          run};
}

} // namespace umf::app
