#include "model/memory/packed_store.h"

#include "model/base/error.h"
#include "model/base/random.h"

#include <catch2/catch.hpp>

#include <map>

using namespace umf;
using namespace umf::memory;

namespace {
constexpr Bytes kPage = 64_KiB;
}

TEST_CASE("a page of BF16 packs to INT4 with a scale and a zero for 32 values") {
  // 32,768 values: 16 KiB at four bits, and 1,024 groups of 4 B.
  CHECK(Packing{}.packed(kPage, 16) == Bytes{16384 + 4096});
  // 65,536 values of FP8: 32 KiB and 2,048 groups.
  CHECK(Packing{}.packed(kPage, 8) == Bytes{32768 + 8192});
}

TEST_CASE("what has no more bits than the packed form stays as it is") {
  CHECK(Packing{}.packed(kPage, 4) == kPage);
  CHECK(Packing{8, 32, Bytes{4}}.packed(kPage, 8) == kPage);
}

TEST_CASE("metadata that outweigh the gain leave the page as it is") {
  CHECK(Packing{8, 1, Bytes{4}}.packed(kPage, 16) == kPage);
}

TEST_CASE("32 packed pages of 20 KiB take ten frames, and one more another slab") {
  FrameAllocator frames(30);
  PackedStore store(frames, kPage);
  const auto runs = store.take(32, Bytes{20480}, Region::kv);
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].count == 32);
  CHECK(frames.used(Region::kv) == 10); // 32 · 20 KiB = 640 KiB
  const auto more = store.take(1, Bytes{20480}, Region::kv);
  REQUIRE(more.size() == 1);
  CHECK(frames.used() == 11); // as many frames as it needs
  store.give_back(more[0], Bytes{20480});
  CHECK(frames.used() == 10);
  store.give_back(runs[0], Bytes{20480});
  CHECK(frames.used() == 0);
}

TEST_CASE("a slot that is free again is taken before another slab") {
  FrameAllocator frames(30);
  PackedStore store(frames, kPage);
  const auto runs = store.take(32, Bytes{20480}, Region::kv);
  store.give_back({runs[0].address + 3 * 20480, 2}, Bytes{20480});
  const auto again = store.take(2, Bytes{20480}, Region::kv);
  REQUIRE(again.size() == 1);
  CHECK(again[0].address == runs[0].address + 3 * 20480);
  CHECK(frames.used() == 10);
}

TEST_CASE("pages of two sizes or regions share no slab") {
  FrameAllocator frames(40);
  PackedStore store(frames, kPage);
  store.take(1, Bytes{20480}, Region::kv);
  store.take(1, Bytes{40960}, Region::kv);
  store.take(1, Bytes{20480}, Region::weight);
  CHECK(frames.used(Region::kv) == 2);
  CHECK(frames.used(Region::weight) == 1);
}

TEST_CASE("a full tier gives as many as fit") {
  FrameAllocator frames(1); // 65,536 / 20,480 = 3 pages
  PackedStore store(frames, kPage);
  const auto runs = store.take(5, Bytes{20480}, Region::kv);
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].count == 3);
  CHECK(store.take(1, Bytes{20480}, Region::kv).empty());
}

TEST_CASE("what was not taken cannot be given back") {
  FrameAllocator frames(10);
  PackedStore store(frames, kPage);
  const auto runs = store.take(2, Bytes{20480}, Region::kv);
  CHECK_THROWS_AS(store.give_back({runs[0].address + 7, 1}, Bytes{20480}), InvariantError);
  CHECK_THROWS_AS(store.give_back(runs[0], Bytes{40960}), InvariantError);
}

TEST_CASE("packed pages never overlap, and slabs are what they hold") {
  FrameAllocator frames(200);
  PackedStore store(frames, kPage);
  RandomStream random(1, "packed store");
  std::map<std::uint64_t, std::uint64_t> held; // address -> size
  std::uint64_t bytes = 0;
  for (int step = 0; step < 20'000; ++step) {
    if (random.next_below(2) == 0) {
      const Bytes size{random.next_below(2) == 0 ? 20480u : 40960u};
      for (const SlotRun& run : store.take(1 + random.next_below(40), size, Region::kv))
        for (std::uint64_t i = 0; i < run.count; ++i) {
          held.emplace(run.address + i * size.count, size.count);
          bytes += size.count;
        }
    } else if (!held.empty()) {
      auto it = held.lower_bound(random.next_below(200 * kPage.count));
      if (it == held.end()) it = held.begin();
      store.give_back({it->first, 1}, {it->second});
      bytes -= it->second;
      held.erase(it);
    }
    REQUIRE(store.pages() == held.size());
    REQUIRE(store.bytes() == bytes);
    REQUIRE(store.frames_used() == frames.used());
    if (step % 500 != 0) continue;
    std::uint64_t end = 0;
    for (const auto& [address, size] : held) {
      REQUIRE(address >= end);
      end = address + size;
    }
  }
}
