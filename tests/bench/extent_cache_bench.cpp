#include "model/base/random.h"
#include "model/memory/extent_cache.h"

#include <benchmark/benchmark.h>

#include <cstdint>

using namespace umf;
using namespace umf::memory;

namespace {

constexpr std::uint64_t kBlock = 64; // units of an access, on average

/// Reads and writes of random place and length over twice the capacity, so that extents are
/// cut and evicted all the time; 1.6 extents for each block of capacity.
void random_accesses(benchmark::State& state) {
  const auto blocks = static_cast<std::uint64_t>(state.range(0));
  const std::uint64_t capacity = blocks * kBlock;
  ExtentCache cache(capacity, capacity / 2);
  ExtentCache::Outcome outcome;
  RandomStream random(1, "extent_cache_bench");
  const auto access = [&] {
    const std::uint64_t draw = random.next();
    const std::uint64_t begin = (draw >> 16) % (2 * capacity);
    cache.access({begin, begin + 1 + draw % (2 * kBlock)}, draw >> 62 == 0, outcome);
  };
  for (std::uint64_t i = 0; i < 8 * blocks; ++i)
    access();
  double extents = 0;
  for (auto _ : state) {
    access();
    extents += static_cast<double>(cache.extents());
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["extents"] = extents / static_cast<double>(state.iterations());
}

/// One kernel's streams, interleaved: two read, one written, each 64 units at a time.
void streams(benchmark::State& state) {
  const auto blocks = static_cast<std::uint64_t>(state.range(0));
  ExtentCache cache(blocks * kBlock, blocks * kBlock / 2);
  ExtentCache::Outcome outcome;
  std::uint64_t step = 0;
  double extents = 0;
  for (auto _ : state) {
    const std::uint64_t begin = ((step % 3) << 40) + step / 3 * kBlock;
    cache.access({begin, begin + kBlock}, step % 3 == 2, outcome);
    ++step;
    extents += static_cast<double>(cache.extents());
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["extents"] = extents / static_cast<double>(state.iterations());
}

BENCHMARK(random_accesses)->Arg(62)->Arg(620)->Arg(6'200);
BENCHMARK(streams)->Arg(1'000);

} // namespace
