#include "hw/link/path.h"

#include <benchmark/benchmark.h>

#include <string>

/// Packets over all links a second of wall time, on the paths of scenarios/links.
using namespace umf;
using namespace umf::hw::link;

namespace {

void run(benchmark::State& state, const std::string& name, bool write, std::uint64_t size,
         std::uint32_t outstanding) {
  const PathConfig config = read_path_file(UMF_SOURCE_DIR "/scenarios/links/" + name + ".json", {});
  std::uint64_t packets = 0, events = 0;
  for (auto _ : state) {
    Path path(config);
    Drive how;
    how.loads = {path.load(write, Bytes{size}, outstanding, 400'000 * 64 / size)};
    drive(path.network, how);
    packets += path.network.packets();
    events += path.network.events();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(packets));
  state.counters["events"] =
      benchmark::Counter(static_cast<double>(events), benchmark::Counter::kIsRate);
}

const bool registered = [] {
  struct Row {
    const char* path;
    std::uint64_t size;
    std::uint32_t outstanding;
  };
  for (const Row row : {Row{"gpu-gen5-x16", 4096, 64}, Row{"cxl-x8-expander", 64, 280},
                        Row{"memchannel-pool", 64, 512}, Row{"nvlink-h100-ce", 4096, 1024}})
    for (const bool write : {false, true})
      benchmark::RegisterBenchmark(
          (std::string("link/") + row.path + (write ? "/write" : "/read")).c_str(), run,
          std::string(row.path), write, row.size, row.outstanding)
          ->Unit(benchmark::kMillisecond);
  return true;
}();

} // namespace
