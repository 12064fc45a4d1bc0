#include "model/base/random.h"
#include "model/memory/extent_cache.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

using namespace umf;
using namespace umf::memory;

namespace {

using Units = std::vector<std::uint64_t>;

/// The same cache kept unit by unit, oldest first: the definition of what extents shorten.
class UnitCache {
public:
  UnitCache(std::uint64_t capacity, std::uint64_t dirty_limit)
      : capacity_(capacity), dirty_limit_(dirty_limit) {}

  struct Outcome {
    std::uint64_t hit = 0;
    Units missed, written_back;
  };

  Outcome access(Range range, bool write) {
    Outcome outcome;
    for (std::uint64_t at = range.begin; at < range.end; ++at) {
      const auto it = find(at);
      bool was_dirty = false;
      if (it == units_.end()) {
        outcome.missed.push_back(at);
      } else {
        ++outcome.hit;
        was_dirty = it->dirty;
        units_.erase(it);
      }
      units_.push_back({at, write || was_dirty});
    }
    while (units_.size() > capacity_) {
      if (units_.front().dirty) outcome.written_back.push_back(units_.front().address);
      units_.erase(units_.begin());
    }
    for (auto it = units_.begin(); dirty() > dirty_limit_; ++it) {
      if (!it->dirty) continue;
      it->dirty = false;
      outcome.written_back.push_back(it->address);
    }
    return outcome;
  }

  /// Dirty units of the range, in address order.
  Units clean(Range range, bool drop) {
    Units written_back;
    for (std::uint64_t at = range.begin; at < range.end; ++at) {
      const auto it = find(at);
      if (it == units_.end()) continue;
      if (it->dirty) written_back.push_back(at);
      it->dirty = false;
      if (drop) units_.erase(it);
    }
    return written_back;
  }

  std::uint64_t resident() const { return units_.size(); }
  std::uint64_t dirty() const {
    return static_cast<std::uint64_t>(
        std::count_if(units_.begin(), units_.end(), [](const Unit& u) { return u.dirty; }));
  }

private:
  struct Unit {
    std::uint64_t address = 0;
    bool dirty = false;
  };
  std::vector<Unit>::iterator find(std::uint64_t address) {
    return std::find_if(units_.begin(), units_.end(),
                        [&](const Unit& u) { return u.address == address; });
  }

  std::uint64_t capacity_, dirty_limit_;
  std::vector<Unit> units_;
};

Units units_of(const std::vector<Range>& ranges) {
  Units units;
  for (const Range& range : ranges)
    for (std::uint64_t at = range.begin; at < range.end; ++at)
      units.push_back(at);
  return units;
}

struct Shape {
  std::uint64_t capacity, dirty_limit, space, longest;
};

} // namespace

TEST_CASE("extents behave as a cache kept unit by unit") {
  // Spaces of 1.5 and 4 capacities: mostly hits, mostly misses. 3 × 4 × 10,000 steps.
  const auto [capacity, dirty_limit, space, longest] = GENERATE(
      Shape{64, 32, 96, 24}, Shape{64, 0, 96, 64}, Shape{64, 64, 256, 8}, Shape{61, 7, 256, 61});
  const std::uint64_t seed = GENERATE(1u, 2u, 3u);
  CAPTURE(capacity, dirty_limit, space, longest, seed);
  RandomStream random(seed, "extent_cache_property_test");
  ExtentCache cache(capacity, dirty_limit);
  UnitCache reference(capacity, dirty_limit);
  ExtentCache::Outcome outcome;
  std::uint64_t stream = 0;

  for (int step = 0; step < 10'000; ++step) {
    std::uint64_t begin = random.next_below(space);
    const std::uint64_t length = random.next_below(longest + 1);
    const std::uint64_t kind = random.next_below(20);
    if (kind < 6) begin = stream; // goes on where the last one of its kind ended
    const Range range{begin, std::min(begin + length, space)};
    if (kind < 6) stream = range.end % space;
    CAPTURE(step, range.begin, range.end, kind);
    if (kind < 16) {
      cache.access(range, kind % 2 == 0, outcome);
      const auto expected = reference.access(range, kind % 2 == 0);
      REQUIRE(outcome.hit == expected.hit);
      REQUIRE(units_of(outcome.missed) == expected.missed);
      REQUIRE(units_of(outcome.written_back) == expected.written_back);
    } else if (kind < 19) {
      std::vector<Range> written_back;
      cache.clean(range, kind == 18, written_back);
      REQUIRE(units_of(written_back) == reference.clean(range, kind == 18));
    } else {
      REQUIRE(cache.discard(range) == reference.clean(range, true).size());
    }
    REQUIRE(cache.resident() == reference.resident());
    REQUIRE(cache.dirty() == reference.dirty());
    REQUIRE(cache.extents() <= cache.resident());
  }
}
