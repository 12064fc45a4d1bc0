#include "traces/generate/routers.h"
#include "traces/generate/run_kv.h"
#include "traces/generate/step_builder.h"

#include <benchmark/benchmark.h>

namespace {

using namespace umf;
using namespace umf::traces::generate;

/// Steps a second of decode, without writing the records anywhere.
void decode_step(benchmark::State& state, const char* model, std::uint64_t batch) {
  Numbers numbers;
  StepOptions options;
  options.model = shapes::find_model(model);
  options.weights = shapes::published_formats(options.model);
  options.max_tokens = options.max_sequences = batch;
  options.max_context = 0;
  StepBuilder builder(options, numbers);
  RunKv kv(options, batch, 4096, numbers);
  UniformRouter router(options.model, 1);
  const std::vector<Sequence> sequences(batch, {4000, 1, true});
  std::vector<stream::Record> records;
  for (auto _ : state) {
    records.clear();
    builder.step(sequences, kv, router, records);
  }
  state.counters["kernels"] = static_cast<double>(records.size());
}

BENCHMARK_CAPTURE(decode_step, llama_70b_x1, "llama-3-70b", 1)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(decode_step, llama_70b_x64, "llama-3-70b", 64)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(decode_step, deepseek_v3_x64, "deepseek-v3", 64)->Unit(benchmark::kMicrosecond);

} // namespace
