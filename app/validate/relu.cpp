#include "app/validate/replayed.h"
#include "app/validate/suites.h"

#include <fmt/format.h>

#include <algorithm>

/// 4,237 ReLU kernels that Nsight Compute counted on an A100, each with a cold L2.
namespace umf::app {

namespace {

/// PyTorch's elementwise kernel on 32-bit numbers: blocks of 128 threads, four elements each.
constexpr std::uint64_t kThreads = 128, kBytesOfBlock = 128 * 4 * 4;

struct Counted {
  double dram, l1, nanoseconds, cycles;
};

std::vector<Counted> read_counters(const std::string& file) {
  const Csv csv = read_data(file);
  const DataColumn dram(csv, "dram__bytes.sum"), l1(csv, "l1tex__t_bytes.sum"),
      time(csv, "gpu__time_duration.sum"), cycles(csv, "sm__cycles_elapsed.avg");
  std::vector<Counted> counted;
  for (const Csv::Row& row : csv.rows)
    counted.push_back({dram.number(row), l1.number(row), time.number(row), cycles.number(row)});
  return counted;
}

MeasuredKernel kernel_of(const Counted& counted) {
  // Half of what passes the L1 is read, half is written; sectors of 32 B.
  const std::uint64_t each =
      std::max<std::uint64_t>(32, static_cast<std::uint64_t>(counted.l1 / 2) / 32 * 32);
  MeasuredKernel kernel;
  kernel.accesses = {{each, false}, {each, true}};
  kernel.blocks = static_cast<std::uint32_t>((each + kBytesOfBlock - 1) / kBytesOfBlock);
  kernel.threads = kThreads;
  return kernel;
}

std::vector<Row> run(const Study& study) {
  const Published& published = study.published;
  const Published::Machine& machine = published.machine("a100");
  const double clock = scenario_of(machine).gpu.clock.value;
  const double small = published.figure("bytes_from"), bound_from = published.figure("bound_from"),
               bound_to = published.figure("bound_to"), outside = published.figure("outside_us");
  const std::vector<Counted> counted = read_counters(study.file("counters"));
  std::vector<MeasuredKernel> kernels;
  for (const Counted& one : counted)
    kernels.push_back(kernel_of(one));
  const std::vector<ReplayedKernel> replayed = replay_kernels(machine, kernels);

  std::vector<Row> rows;
  for (std::size_t k = 0; k < counted.size(); ++k) {
    const Counted& c = counted[k];
    const std::string what = fmt::format("ReLU of {:.3f} MB", c.l1 / 2e6);
    const auto add = [&](const char* group, const char* unit, double reference, double simulated) {
      rows.push_back({fmt::format("{}/{}", group, k), group, what, unit, reference, simulated});
    };
    const double seconds = replayed[k].duration.seconds();
    if (c.dram >= small) add("bytes", "B", c.dram, static_cast<double>(replayed[k].dram.count));
    add("time", "us", c.nanoseconds / 1e3, seconds * 1e6 + outside);
    if (c.l1 >= bound_from && c.l1 <= bound_to) add("cycles", "clk", c.cycles, seconds * clock);
  }
  return rows;
}

} // namespace

ValidationSuite relu_suite() {
  return {"relu", "DRAM bytes, time and cycles of 4,237 ReLU kernels on an A100", run};
}

} // namespace umf::app
