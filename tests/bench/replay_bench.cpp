#include "app/run/replay_run.h"

#include <benchmark/benchmark.h>

#include <sys/resource.h>

/// The bundled trace from file to balanced ledger: the figure a user feels. One iteration a
/// process, since SystemC elaborates once.
static void replay_bundled_trace(benchmark::State& state) {
  umf::app::ReplayRequest request;
  request.traces = {UMF_SOURCE_DIR "/traces/samples/h100-qwen1.5-0.5b.umft"};
  request.scenario = UMF_SOURCE_DIR "/scenarios/hardware/umf-small-hbm.json";
  for (auto _ : state) {
    const auto run = umf::app::run_replay(request);
    state.counters["kernels"] = static_cast<double>(run.totals.kernels);
    state.counters["simulated/wall"] = run.makespan.seconds() / run.wall_seconds;
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    state.counters["peak_rss_MB"] = static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
  }
}
BENCHMARK(replay_bundled_trace)->Iterations(1)->Repetitions(1)->Unit(benchmark::kMillisecond);
