#include "model/base/error.h"
#include "model/base/units.h"
#include "model/memory/extent_cache.h"

#include <catch2/catch.hpp>

#include <vector>

using namespace umf;
using namespace umf::memory;

namespace {

using Ranges = std::vector<Range>;

ExtentCache::Outcome access(ExtentCache& cache, Range range, bool write) {
  ExtentCache::Outcome outcome;
  cache.access(range, write, outcome);
  return outcome;
}
ExtentCache::Outcome read(ExtentCache& cache, Range range) {
  return access(cache, range, false);
}
ExtentCache::Outcome write(ExtentCache& cache, Range range) {
  return access(cache, range, true);
}

} // namespace

TEST_CASE("without capacity everything passes through") {
  ExtentCache cache(0, 0);
  CHECK(read(cache, {10, 20}).missed == Ranges{{10, 20}});
  CHECK(read(cache, {10, 20}).hit == 0);
  CHECK(write(cache, {10, 20}).written_back == Ranges{{10, 20}});
  CHECK(cache.resident() == 0);
  CHECK(cache.discard({0, 100}) == 0);
}

TEST_CASE("a run as long as the capacity stays whole") {
  ExtentCache cache(100, 100);
  CHECK(read(cache, {0, 100}).missed == Ranges{{0, 100}});
  CHECK(read(cache, {0, 100}).hit == 100);
  CHECK(cache.extents() == 1);
}

TEST_CASE("a run longer than the capacity is the caller's mistake") {
  ExtentCache cache(100, 50);
  CHECK_THROWS_AS(read(cache, {0, 101}), InvariantError);
}

TEST_CASE("a dirty limit above the capacity is refused") {
  CHECK_THROWS_AS(ExtentCache(10, 11), InvariantError);
}

TEST_CASE("an empty range touches nothing") {
  ExtentCache cache(100, 50);
  CHECK(read(cache, {7, 7}).missed.empty());
  CHECK(cache.resident() == 0);
}

TEST_CASE("a cyclic read one unit longer than the capacity never hits") {
  // LRU's worst case: each unit is evicted just before it is asked for again.
  ExtentCache cache(100, 50);
  std::uint64_t hits = 0;
  for (std::uint64_t at = 0; at < 1010; ++at)
    hits += read(cache, {at % 101, at % 101 + 1}).hit;
  CHECK(hits == 0);
}

TEST_CASE("a stream that goes on stays one extent, unless something came between") {
  ExtentCache cache(100, 100);
  for (std::uint64_t at = 0; at < 50; at += 10)
    read(cache, {at, at + 10});
  CHECK(cache.extents() == 1);
  write(cache, {200, 210}); // newer than the stream so far
  read(cache, {50, 60});
  CHECK(cache.extents() == 3);
  // 70 resident; 40 more evict the 10 oldest of the stream, never the write
  CHECK(read(cache, {300, 340}).written_back.empty());
  CHECK(read(cache, {10, 60}).hit == 50);
  CHECK(read(cache, {200, 210}).hit == 10);
}

TEST_CASE("written units need no fill and are written back once") {
  ExtentCache cache(100, 100);
  CHECK(write(cache, {0, 60}).missed == Ranges{{0, 60}}); // allocated; the user fetches reads only
  CHECK(write(cache, {0, 60}).written_back.empty());
  // 60 + 80 − 100 = 40 leave, the lowest addresses of the oldest access
  CHECK(read(cache, {100, 180}).written_back == Ranges{{0, 40}});
  CHECK(cache.dirty() == 20);
}

TEST_CASE("a read keeps dirty units dirty") {
  ExtentCache cache(100, 100);
  write(cache, {10, 20});
  const auto outcome = read(cache, {0, 30});
  CHECK(outcome.hit == 10);
  CHECK(outcome.missed == Ranges{{0, 10}, {20, 30}});
  CHECK(cache.dirty() == 10);
}

TEST_CASE("dirty limit 0 writes through, and what was written stays resident") {
  ExtentCache cache(100, 0);
  CHECK(write(cache, {0, 40}).written_back == Ranges{{0, 40}});
  CHECK(cache.dirty() == 0);
  CHECK(read(cache, {0, 40}).hit == 40);
}

TEST_CASE("a dirty limit of the whole capacity only writes back what is evicted") {
  ExtentCache cache(100, 100);
  CHECK(write(cache, {0, 100}).written_back.empty());
  CHECK(cache.dirty() == 100);
  CHECK(write(cache, {100, 130}).written_back == Ranges{{0, 30}});
  CHECK(cache.dirty() == 100);
}

TEST_CASE("clean lists what was dirty in address order and drops on demand") {
  ExtentCache cache(100, 100);
  write(cache, {50, 60});
  write(cache, {0, 10});
  read(cache, {20, 30});
  Ranges back;
  cache.clean({5, 55}, false, back);
  CHECK(back == Ranges{{5, 10}, {50, 55}});
  CHECK(cache.resident() == 30);
  CHECK(cache.dirty() == 10);
  back.clear();
  cache.clean({0, 100}, true, back);
  CHECK(back == Ranges{{0, 5}, {55, 60}});
  CHECK(cache.resident() == 0);
}

TEST_CASE("discarded data is dead: nothing is written back") {
  ExtentCache cache(100, 100);
  write(cache, {0, 40});
  CHECK(cache.discard({10, 30}) == 20);
  CHECK(cache.resident() == 20);
  CHECK(read(cache, {0, 40}).hit == 20);
}

TEST_CASE("streaming stores leave half of an A100's L2 dirty") {
  // Given 40 MB of L2 with dirty limit 0.5, a kernel that stores X bytes writes X − 20 MB
  // back while it runs and leaves exactly 20 MB dirty, or X where that is less.
  const std::uint64_t capacity = 40'000'000, limit = 20'000'000;
  const std::uint64_t stored = GENERATE(5'000'000u, 20'000'000u, 30'000'000u, 400'000'000u);
  const std::uint64_t slice = 250'000;
  ExtentCache cache(capacity, limit);
  std::uint64_t back = 0;
  for (std::uint64_t at = 0; at < stored; at += slice)
    for (const Range& range : write(cache, {at, at + slice}).written_back)
      back += range.size();
  CHECK(cache.dirty() == std::min(stored, limit));
  CHECK(back == stored - cache.dirty());
  CHECK(cache.resident() == std::min(stored, capacity));
  CHECK(cache.extents() <= 2); // the clean half and the dirty half
}
