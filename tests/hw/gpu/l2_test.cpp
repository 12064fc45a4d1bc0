#include "hw/gpu/l2.h"

#include <catch2/catch.hpp>

/// What each access finds in the L2: segments in address order that tile it.
namespace umf::test {

using hw::Segment;
using Kind = hw::Segment::Kind;
using hw::OperationAccess;

namespace {

constexpr std::uint64_t kSector = 32;

struct Cache {
  explicit Cache(Bytes capacity = 8_KiB, double dirty_limit = 0.5)
      : l2({.capacity = capacity, .dirty_limit = dirty_limit}) {}

  std::vector<std::vector<Segment>> run(std::vector<OperationAccess> accesses) {
    std::vector<std::vector<Segment>> segments;
    l2.plan(accesses, accesses.size(), segments, write_backs);
    return segments;
  }

  hw::L2 l2;
  std::vector<Segment> write_backs;
};

OperationAccess read(std::uint64_t address, std::uint64_t bytes, bool cached = true) {
  return {address, {bytes}, false, cached};
}
OperationAccess write(std::uint64_t address, std::uint64_t bytes, bool cached = true) {
  return {address, {bytes}, true, cached};
}

bool is(const Segment& segment, Kind kind, std::uint64_t begin, std::uint64_t end) {
  return segment.kind == kind && segment.range.begin == begin && segment.range.end == end;
}

} // namespace

TEST_CASE("a read of what is partly there is hits and fills that tile it") {
  Cache cache;
  cache.run({read(1024, 512)});
  const auto found = cache.run({read(512, 2048)})[0];
  REQUIRE(found.size() == 3);
  CHECK(is(found[0], Kind::fill, 512, 1024));
  CHECK(is(found[1], Kind::hit, 1024, 1536));
  CHECK(is(found[2], Kind::fill, 1536, 2560));
}

TEST_CASE("a read is rounded to sectors, and what nobody wanted is counted apart") {
  Cache cache;
  const auto found = cache.run({read(40, 30)})[0]; // bytes 40..70 lie in sectors 32..96
  REQUIRE(found.size() == 1);
  CHECK(is(found[0], Kind::fill, 32, 96));
  CHECK(cache.l2.statistics().asked_read == 64);
  CHECK(cache.l2.statistics().over_fetch == 34);
}

TEST_CASE("an access of no bytes asks for nothing") {
  Cache cache;
  CHECK(cache.run({read(40, 0)})[0].empty());
  CHECK(cache.l2.statistics().asked_read == 0);
}

TEST_CASE("a store fetches nothing and is read back from the L2") {
  Cache cache;
  const auto stored = cache.run({write(0, 1024)})[0];
  REQUIRE(stored.size() == 1);
  CHECK(is(stored[0], Kind::store, 0, 1024));
  CHECK(is(cache.run({read(0, 1024)})[0].front(), Kind::hit, 0, 1024));
  CHECK(cache.l2.statistics().fills == 0);
}

TEST_CASE("dirty data above the limit is written back, oldest first, and stays readable") {
  Cache cache(8_KiB); // 4 KiB may be dirty
  cache.run({write(0, 4096)});
  CHECK(cache.write_backs.empty());
  cache.run({write(4096, 2048)});
  // An eighth of the capacity is a round, of 2048 / 1024 + 1 = 3, and here a store's step: each
  // pushes out its own once it has gone itself, in the second round and the third.
  REQUIRE(cache.write_backs.size() == 2);
  CHECK(is(cache.write_backs[0], Kind::write_back, 0, 1024));
  CHECK(cache.write_backs[0].after == 2048 / 3);
  CHECK(is(cache.write_backs[1], Kind::write_back, 1024, 2048));
  CHECK(cache.write_backs[1].after == 2048 / 3 * 2);
  CHECK(cache.l2.dirty() == 4096);
  CHECK(is(cache.run({read(0, 1024)})[0].front(), Kind::hit, 0, 1024));
}

TEST_CASE("what falls out of the L2 must be fetched again") {
  Cache cache(8_KiB);
  cache.run({read(0, 8192)});
  cache.run({read(1 << 20, 8192)});
  CHECK(is(cache.run({read(0, 8192)})[0].front(), Kind::fill, 0, 8192));
}

TEST_CASE("operands of one operation are swept together: neither drives the other out whole") {
  // Two reads of 8 KiB each through 8 KiB, then a second pass over the second halves of both.
  Cache cache(8_KiB);
  cache.run({read(0, 8192), read(1 << 20, 8192)});
  CHECK(is(cache.run({read(6144, 2048)})[0].front(), Kind::hit, 6144, 8192));
  CHECK(is(cache.run({read((1 << 20) + 6144, 2048)})[0].front(), Kind::hit, (1 << 20) + 6144,
           (1 << 20) + 8192));
}

TEST_CASE("small operands are read before what streams past, small results stored behind it") {
  Cache cache(1_MiB);
  cache.run({read(0, 4 << 20), read(1 << 30, 16384)});
  CHECK(is(cache.run({read(1 << 30, 16384)})[0].front(), Kind::fill, 1 << 30, (1 << 30) + 16384));
  cache.run({read(0, 4 << 20), write(1 << 30, 16384)});
  CHECK(cache.write_backs.empty());
  CHECK(is(cache.run({read(1 << 30, 16384)})[0].front(), Kind::hit, 1 << 30, (1 << 30) + 16384));
}

TEST_CASE("a copy engine reads memory: dirty data goes there first and stays, clean") {
  Cache cache;
  cache.run({write(0, 1024)});
  const auto found = cache.run({read(0, 2048, false)})[0];
  REQUIRE(found.size() == 1);
  CHECK(is(found[0], Kind::bypass_read, 0, 2048));
  REQUIRE(cache.write_backs.size() == 1);
  CHECK(is(cache.write_backs[0], Kind::write_back, 0, 1024));
  CHECK(cache.l2.dirty() == 0);
  CHECK(is(cache.run({read(0, 1024)})[0].front(), Kind::hit, 0, 1024));
}

TEST_CASE("a copy engine writes memory: what the L2 holds of it is dropped") {
  Cache cache;
  cache.run({write(0, 1024)});
  const auto found = cache.run({write(0, 512, false)})[0];
  CHECK(is(found[0], Kind::bypass_write, 0, 512));
  CHECK(cache.write_backs.empty());
  CHECK(cache.l2.statistics().discarded == 512);
  CHECK(is(cache.run({read(0, 512)})[0].front(), Kind::fill, 0, 512));
}

TEST_CASE("a dead tensor's dirty data is never written") {
  Cache cache;
  cache.run({write(0, 1024)});
  cache.l2.discard({0, 1024});
  CHECK(cache.l2.dirty() == 0);
  CHECK(cache.l2.statistics().discarded == 1024);
  CHECK(cache.l2.statistics().written_back == 0);
}

TEST_CASE("a stale range is forgotten after its dirty data was listed") {
  Cache cache;
  cache.run({write(0, 1024)});
  std::vector<Segment> out;
  cache.l2.invalidate({0, 2048}, out);
  REQUIRE(out.size() == 1);
  CHECK(is(out[0], Kind::write_back, 0, 1024));
  CHECK(is(cache.run({read(0, 1024)})[0].front(), Kind::fill, 0, 1024));
}

TEST_CASE("an L2 of no size lets everything pass") {
  Cache cache(0_KiB);
  CHECK(is(cache.run({read(0, 1024)})[0].front(), Kind::fill, 0, 1024));
  CHECK(is(cache.run({write(0, 1024)})[0].front(), Kind::store, 0, 1024));
  REQUIRE(cache.write_backs.size() == 1);
  CHECK(is(cache.write_backs[0], Kind::write_back, 0, 1024));
  CHECK(is(cache.run({read(0, 1024)})[0].front(), Kind::fill, 0, 1024));
}

TEST_CASE("an L2 of one sector takes an access that straddles two") {
  Cache cache(Bytes{kSector}, 1.0);
  const auto found = cache.run({read(16, 31)})[0];
  REQUIRE(found.size() == 1);
  CHECK(is(found[0], Kind::fill, 0, 64));
}

} // namespace umf::test
