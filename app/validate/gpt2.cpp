#include "app/validate/replayed.h"
#include "app/validate/suites.h"

#include "model/base/error.h"
#include "traces/places.h"

#include <fmt/format.h>

#include <map>

/// DRAM bytes of the kernels of a GPT-2 attention layer, each with a cold L2.
namespace umf::app {

namespace {

/// Of each kernel, by its number: dram__bytes.sum.
std::map<std::string, double> dram_bytes(const std::string& file) {
  const Csv csv = read_data(file);
  const DataColumn id(csv, "ID"), name(csv, "Metric Name"), value(csv, "Metric Value");
  std::map<std::string, double> bytes;
  for (const Csv::Row& row : csv.rows)
    if (name.text(row) == "dram__bytes.sum") bytes[id.text(row)] = value.number(row);
  return bytes;
}

std::vector<Row> run(const Study& study) {
  const Published& published = study.published;
  std::vector<Row> rows;
  std::vector<MeasuredKernel> kernels;
  for (const auto& [library, path] : published.data) {
    for (const auto& [id, counted] : dram_bytes(study.file(library))) {
      const std::string kernel = fmt::format("{}/{}", library, id);
      const auto reads = published.figures.find(kernel + " reads");
      if (reads == published.figures.end()) continue; // not of the layer itself
      const double writes = published.figure(kernel + " writes");
      kernels.push_back({});
      kernels.back().accesses = {{static_cast<std::uint64_t>(reads->second), false},
                                 {static_cast<std::uint64_t>(writes), true}};
      rows.push_back({kernel, "bytes", "DRAM bytes of " + kernel, "B", counted, 0});
    }
  }
  if (kernels.empty())
    throw UserError(traces::place_of(published.file),
                    "/figures name no kernel of the data, expected \"LIBRARY/ID reads\"");
  const auto replayed = replay_kernels(published.machine("a100"), kernels);
  for (std::size_t k = 0; k < kernels.size(); ++k)
    rows[k].simulated = static_cast<double>(replayed[k].dram.count);
  return rows;
}

} // namespace

ValidationSuite gpt2_suite() {
  return {"gpt2", "DRAM bytes of GPT-2's attention kernels on an A100 with a cold L2", run};
}

} // namespace umf::app
