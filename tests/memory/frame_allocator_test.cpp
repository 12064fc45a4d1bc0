#include "model/base/error.h"
#include "model/base/random.h"
#include "model/memory/frame_allocator.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <utility>
#include <vector>

using namespace umf;
using namespace umf::memory;

namespace {

using Runs = std::vector<std::pair<std::uint64_t, std::uint64_t>>; // first, count

Runs runs_of(const std::vector<FrameRun>& frames) {
  Runs runs;
  for (const FrameRun& run : frames)
    runs.emplace_back(run.first, run.count);
  return runs;
}

/// One flag a frame; first fit found by looking at every hole.
class Bitmap {
public:
  explicit Bitmap(std::uint64_t frames) : used_(frames, false) {}

  Runs take(std::uint64_t count) {
    Runs holes;
    std::uint64_t free = 0;
    for (std::uint64_t at = 0; at < used_.size(); ++at) {
      if (used_[at]) continue;
      ++free;
      if (!holes.empty() && holes.back().first + holes.back().second == at)
        ++holes.back().second;
      else
        holes.emplace_back(at, 1);
    }
    Runs taken;
    if (count == 0 || count > free) return taken;
    for (const auto& hole : holes)
      if (taken.empty() && hole.second >= count) taken = {{hole.first, count}};
    for (const auto& hole : holes) {
      if (count_of(taken) == count) break;
      taken.emplace_back(hole.first, std::min(hole.second, count - count_of(taken)));
    }
    for (const auto& [first, length] : taken)
      set(first, length, true);
    return taken;
  }
  void set(std::uint64_t first, std::uint64_t count, bool used) {
    for (std::uint64_t at = first; at < first + count; ++at)
      used_[at] = used;
  }
  std::uint64_t used() const {
    return static_cast<std::uint64_t>(std::count(used_.begin(), used_.end(), true));
  }

private:
  static std::uint64_t count_of(const Runs& runs) {
    std::uint64_t count = 0;
    for (const auto& run : runs)
      count += run.second;
    return count;
  }
  std::vector<bool> used_;
};

} // namespace

TEST_CASE("frames are handed out as a bitmap with first fit would") {
  const std::uint64_t seed = GENERATE(1u, 2u);
  CAPTURE(seed);
  RandomStream random(seed, "frame_allocator_test");
  constexpr std::uint64_t frames = 96;
  FrameAllocator allocator(frames);
  Bitmap bitmap(frames);
  Runs held;
  std::uint64_t peak = 0;
  for (int step = 0; step < 20'000; ++step) {
    CAPTURE(step);
    if (held.empty() || random.next_below(2) == 0) {
      const std::uint64_t count = random.next_below(17);
      const Runs runs = runs_of(allocator.take(count));
      REQUIRE(runs == bitmap.take(count));
      held.insert(held.end(), runs.begin(), runs.end());
    } else {
      const auto pick = static_cast<std::ptrdiff_t>(random.next_below(held.size()));
      auto [first, count] = held[static_cast<std::size_t>(pick)];
      held.erase(held.begin() + pick);
      if (count > 1 && random.next_below(2) == 0) { // only a part comes back
        held.emplace_back(first, count / 2);
        first += count / 2;
        count -= count / 2;
      }
      allocator.give_back({first, count});
      bitmap.set(first, count, false);
    }
    peak = std::max(peak, bitmap.used());
    REQUIRE(allocator.used() == bitmap.used());
    REQUIRE(allocator.free() == frames - bitmap.used());
    REQUIRE(allocator.peak_used() == peak);
  }
}

TEST_CASE("more frames than are free are refused whole") {
  FrameAllocator allocator(10);
  CHECK(allocator.take(11).empty());
  CHECK(runs_of(allocator.take(10)) == Runs{{0, 10}});
  CHECK(allocator.take(1).empty());
  CHECK(allocator.used() == 10);
  CHECK(FrameAllocator(0).take(1).empty());
}

TEST_CASE("where no hole is large enough the lowest are put together") {
  FrameAllocator allocator(10);
  allocator.take(10);
  for (const std::uint64_t first : {1, 4, 8})
    allocator.give_back({first, 2}); // free: 1 2, 4 5, 8 9
  CHECK(runs_of(allocator.take(2)) == Runs{{1, 2}});
  CHECK(runs_of(allocator.take(3)) == Runs{{4, 2}, {8, 1}});
  CHECK(allocator.free() == 1);
}

TEST_CASE("neighbours join when they come back, in any order") {
  FrameAllocator allocator(9);
  allocator.take(9);
  for (const std::uint64_t first : {0, 6, 3})
    allocator.give_back({first, 3});
  CHECK(runs_of(allocator.take(9)) == Runs{{0, 9}});
}

TEST_CASE("frames come back once, and only frames that exist") {
  const FrameRun wrong = GENERATE(FrameRun{4, 2}, FrameRun{0, 1}, FrameRun{3, 2}, FrameRun{5, 3},
                                  FrameRun{9, 2}, FrameRun{10, 1}, FrameRun{UINT64_MAX, 2});
  CAPTURE(wrong.first, wrong.count);
  FrameAllocator allocator(10);
  allocator.take(10);
  allocator.give_back({0, 2});
  allocator.give_back({4, 3}); // free: 0 1, 4 5 6
  CHECK_THROWS_AS(allocator.give_back(wrong), InvariantError);
  CHECK(allocator.free() == 5);
}

TEST_CASE("the peak is the most frames ever in use at once") {
  FrameAllocator allocator(10);
  const auto runs = allocator.take(7);
  allocator.give_back(runs.front());
  allocator.take(3);
  CHECK(allocator.peak_used() == 7);
  CHECK(allocator.used() == 3);
}

TEST_CASE("frames are counted by region, with a peak of each") {
  using memory::Region;
  FrameAllocator allocator(10);
  allocator.take(4, Region::weight);
  const auto kv = allocator.take(3, Region::kv);
  allocator.give_back(kv.front(), Region::kv);
  allocator.take(2, Region::activation);
  CHECK(allocator.used(Region::weight) == 4);
  CHECK(allocator.used(Region::kv) == 0);
  CHECK(allocator.peak_used(Region::kv) == 3);
  CHECK(allocator.used(Region::activation) == 2);
  CHECK(allocator.used() == 6);
  allocator.take(5, Region::kv); // refused whole: not counted
  CHECK(allocator.peak_used(Region::kv) == 3);
  CHECK_THROWS_AS(allocator.give_back({0, 1}, Region::kv), InvariantError);
}

TEST_CASE("a copy's frames are free, and can be had back until somebody takes them") {
  FrameAllocator frames(10);
  REQUIRE(runs_of(frames.take(6)) == Runs{{0, 6}});
  const CopyId copy = frames.keep({2, 3}); // 2, 3, 4
  CHECK(frames.free() == 7);
  CHECK(frames.kept() == 3);
  CHECK(frames.restore({3, 1}, copy));
  CHECK(frames.used() == 4);
  CHECK_FALSE(frames.restore({2, 3}, copy)); // 3 is in use
  CHECK_FALSE(frames.restore({2, 1}, copy + 1));
  CHECK(frames.used() == 4);
  CHECK(runs_of(frames.take(4)) == Runs{{6, 4}}); // all that hold nothing
  CHECK(frames.kept() == 2);
  CHECK(runs_of(frames.take(1)) == Runs{{2, 1}}); // then the lowest copy
  CHECK_FALSE(frames.restore({2, 1}, copy));
  CHECK(frames.restore({4, 1}, copy));
  CHECK(frames.free() == 0);
}

TEST_CASE("frames that are no copy any more are like any other") {
  FrameAllocator frames(8);
  frames.take(8);
  const CopyId copy = frames.keep({0, 8});
  frames.forget({2, 4}, copy + 1); // another's name
  CHECK(frames.kept() == 8);
  frames.forget({2, 4}, copy);
  CHECK(frames.kept() == 4);
  CHECK(runs_of(frames.take(4)) == Runs{{2, 4}});
  CHECK(frames.restore({0, 2}, copy));
  CHECK(frames.restore({6, 2}, copy));
}

TEST_CASE("a frame freed twice is noticed, as a copy too") {
  FrameAllocator frames(4);
  frames.take(4);
  frames.keep({0, 2});
  CHECK_THROWS_AS(frames.give_back({1, 2}), InvariantError);
  CHECK_THROWS_AS(frames.keep({1, 1}), InvariantError);
  frames.give_back({2, 2});
  CHECK_THROWS_AS(frames.keep({2, 1}), InvariantError);
}
