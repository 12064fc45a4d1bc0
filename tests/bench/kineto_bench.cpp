#include "traces/kineto/reader.h"

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace {

using namespace umf;

std::filesystem::path shared(const std::string& relative) {
  const char* named = std::getenv("UMFSIM_SHARED");
  const auto root = named ? std::filesystem::path(named)
                          : std::filesystem::path(UMF_SOURCE_DIR) / ".." / "shared";
  return root / "data" / "traces" / relative;
}

std::string text_of(traces::io::Input input) {
  std::string text;
  std::string chunk(1 << 20, '\0');
  while (const auto got = input.read(chunk.data(), chunk.size()))
    text.append(chunk, 0, got);
  return text;
}

std::uint64_t drain(traces::io::Input input) {
  const auto source = traces::kineto::read_kineto(std::move(input));
  stream::Record record;
  std::uint64_t records = 0;
  while (source->next(record))
    ++records;
  return records;
}

/// Whole read of a trace; bytes are of the decompressed text.
void read_trace(benchmark::State& state, const std::string& relative, bool compressed) {
  const auto path = shared(relative);
  if (!std::filesystem::exists(path)) {
    state.SkipWithError("third-party file absent");
    return;
  }
  const auto text = text_of(traces::io::Input::open(path));
  for (auto _ : state) {
    auto input =
        compressed ? traces::io::Input::open(path) : traces::io::Input::from_memory(relative, text);
    benchmark::DoNotOptimize(drain(std::move(input)));
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}

constexpr const char* kResnet = "kineto/resnet50_nw0_worker0.1623143566756.pt.trace.json.gz";
constexpr const char* kControl = "kineto/trace_diff_control_control.json.gz";
constexpr const char* kLinear = "chakra/linear_kineto.json.gz";
constexpr const char* kCapture =
    "kineto/inference_sglang_decode_capture_traces_bs_32_rank0.json.gz";

BENCHMARK_CAPTURE(read_trace, resnet50_plain, kResnet, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read_trace, resnet50_gzip, kResnet, true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read_trace, control_plain, kControl, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read_trace, control_gzip, kControl, true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read_trace, linear_plain, kLinear, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read_trace, linear_gzip, kLinear, true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read_trace, capture_plain, kCapture, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read_trace, capture_gzip, kCapture, true)->Unit(benchmark::kMillisecond);

} // namespace
