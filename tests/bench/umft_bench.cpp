#include "traces/jsonl/reader.h"
#include "traces/jsonl/writer.h"
#include "traces/umft/reader.h"
#include "traces/umft/writer.h"

#include <benchmark/benchmark.h>
#include <filesystem>
#include <string>

using namespace umf;
using namespace umf::stream;

namespace {

constexpr std::uint64_t kKernels = 200'000;

/// As a profiler trace looks: 50 names of 200 bytes, times that advance unevenly, two operands.
Kernel kernel_number(std::uint64_t n) {
  Kernel kernel;
  kernel.id = n;
  kernel.name = std::string(200, static_cast<char>('a' + n % 25)) + std::to_string(n % 50);
  kernel.op = "aten::addmm";
  kernel.issue_ns = static_cast<std::int64_t>(10'000 * n + n * n % 977);
  kernel.start_ns = *kernel.issue_ns + 5'000 + static_cast<std::int64_t>(n * 7919 % 3001);
  kernel.end_ns = *kernel.start_ns + 2'000 + static_cast<std::int64_t>(n * 104729 % 4001);
  kernel.grid = {static_cast<std::uint32_t>(n % 512 + 1), 4, 1};
  kernel.block = {128, 1, 1};
  kernel.registers_per_thread = 64;
  kernel.flops = 2.0 * 4096 * 4096 * static_cast<double>(n % 64 + 1);
  kernel.rule = Rule::gemm;
  for (TensorId tensor = 0; tensor < 2; ++tensor) {
    Access& access = kernel.accesses.emplace_back();
    access.tensor = static_cast<TensorId>(n % 700) + tensor;
    access.rule = Rule::gemm;
    access.length = Bytes{8192 * (n % 64 + 1)};
  }
  return kernel;
}

std::filesystem::path file(const char* name) {
  return std::filesystem::temp_directory_path() / name;
}

template <class Writer>
void write_file(const std::filesystem::path& path) {
  Writer writer(path, {});
  for (std::uint64_t n = 0; n < kKernels; ++n)
    writer.write(kernel_number(n));
  writer.finish();
}

void count(benchmark::State& state, const std::filesystem::path& path) {
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kKernels));
  state.SetBytesProcessed(state.iterations() *
                          static_cast<std::int64_t>(std::filesystem::file_size(path)));
  state.counters["file_bytes"] = static_cast<double>(std::filesystem::file_size(path));
}

template <class Writer>
void write(benchmark::State& state, const char* name) {
  for (auto _ : state)
    write_file<Writer>(file(name));
  count(state, file(name));
  std::filesystem::remove(file(name));
}

template <class Reader, class Writer>
void read(benchmark::State& state, const char* name) {
  write_file<Writer>(file(name));
  for (auto _ : state) {
    Reader reader(file(name));
    for (Record record; reader.next(record);)
      benchmark::DoNotOptimize(record);
  }
  count(state, file(name));
  std::filesystem::remove(file(name));
}

/// What of the writing is the making of the records.
void make_records(benchmark::State& state) {
  for (auto _ : state)
    for (std::uint64_t n = 0; n < kKernels; ++n)
      benchmark::DoNotOptimize(kernel_number(n));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kKernels));
}

void write_umft(benchmark::State& state) {
  write<traces::umft::Writer>(state, "bench.umft");
}
void read_umft(benchmark::State& state) {
  read<traces::umft::Reader, traces::umft::Writer>(state, "bench.umft");
}
void write_jsonl(benchmark::State& state) {
  write<traces::jsonl::Writer>(state, "bench.jsonl");
}
void read_jsonl(benchmark::State& state) {
  read<traces::jsonl::Reader, traces::jsonl::Writer>(state, "bench.jsonl");
}

BENCHMARK(make_records)->Unit(benchmark::kMillisecond);
BENCHMARK(write_umft)->Unit(benchmark::kMillisecond);
BENCHMARK(read_umft)->Unit(benchmark::kMillisecond);
BENCHMARK(write_jsonl)->Unit(benchmark::kMillisecond);
BENCHMARK(read_jsonl)->Unit(benchmark::kMillisecond);

} // namespace
