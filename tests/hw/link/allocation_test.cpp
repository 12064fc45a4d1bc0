#include "tests/hw/link/bench_top.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <new>

/// Steady traffic allocates nothing.
namespace {
std::size_t allocations = 0;
} // namespace

void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace umf::test {

using namespace hw::link;

namespace {

/// Allocations while so many transactions are kept in flight.
std::size_t during(Pair& pair, std::uint64_t transactions, std::uint32_t bytes) {
  std::uint64_t next = 0;
  for (; next < 64; ++next)
    pair.network.submit({pair.asker, pair.memory, next * bytes, bytes, next % 2 == 0, next});
  const std::size_t before = allocations;
  while (next < transactions) {
    pair.network.advance_to_finish(kNever);
    const std::size_t done = pair.network.finished().size();
    pair.network.finished().clear();
    for (std::size_t i = 0; i < done; ++i, ++next)
      pair.network.submit(
          {pair.asker, pair.memory, next * bytes % (1 << 30), bytes, next % 2 == 0, next});
  }
  const std::size_t made = allocations - before;
  while (pair.network.next() < kNever)
    pair.network.advance(pair.network.next());
  pair.network.finished().clear();
  pair.network.prove_idle();
  return made;
}

} // namespace

TEST_CASE("packets, flits and their records are made once and used again") {
  const bool flits = GENERATE(false, true);
  Pair pair(flits ? link_options(CxlConfig{}, "l") : link_options(PcieConfig{}, "l"),
            flits ? cxl_master(64) : RequesterOptions{}, plain_memory());
  const std::uint32_t bytes = flits ? 64 : 4096;
  during(pair, 10'000, bytes);
  CHECK(during(pair, 10'000, bytes) == 0);
}

} // namespace umf::test
