#include "hw/gpu/l2.h"

#include <catch2/catch.hpp>

/// Books of the L2 over random accesses.
namespace umf::test {

using Kind = hw::Segment::Kind;

TEST_CASE("over random accesses every access is tiled and the books balance") {
  struct Size {
    std::uint64_t capacity;
    double dirty_limit;
  };
  const Size size = GENERATE(Size{0, 0.5}, Size{32, 1.0}, Size{96, 0.5}, Size{1000, 0.3},
                             Size{4096, 0.5}, Size{65536, 0.0}, Size{65536, 1.0});
  const std::uint64_t seed = GENERATE(1u, 2u, 3u);
  INFO("capacity " << size.capacity << ", dirty limit " << size.dirty_limit << ", seed " << seed);
  hw::L2 l2({.capacity = {size.capacity}, .dirty_limit = size.dirty_limit});
  std::uint64_t state = seed;
  const auto draw = [&](std::uint64_t below) { // Knuth's MMIX generator, high bits
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (state >> 33) % below;
  };

  std::uint64_t listed = 0;
  for (int round = 0; round < 200; ++round) {
    std::vector<hw::OperationAccess> accesses(1 + draw(4));
    for (auto& access : accesses)
      access = {draw(20'000), {draw(8'000)}, draw(2) == 1, draw(8) != 0};
    std::vector<std::vector<hw::Segment>> segments;
    std::vector<hw::Segment> write_backs;
    l2.plan(accesses, accesses.size(), segments, write_backs);

    for (std::size_t a = 0; a < accesses.size(); ++a) {
      const auto& access = accesses[a];
      const memory::Range bytes{access.address, access.address + access.length.count};
      const memory::Range whole = access.cached ? l2.sectors(bytes) : bytes;
      std::uint64_t at = whole.begin;
      bool tiles = true;
      for (const auto& segment : segments[a]) {
        tiles = tiles && segment.range.begin == at && !segment.range.empty();
        const bool write = segment.kind == Kind::store || segment.kind == Kind::bypass_write;
        tiles = tiles && write == access.write;
        at = segment.range.end;
      }
      REQUIRE(tiles);
      REQUIRE(at == whole.end);
    }
    for (const auto& segment : write_backs)
      listed += segment.range.size();
    if (draw(16) == 0) l2.discard(l2.sectors({draw(20'000), 20'000 + draw(8'000)}));
    if (draw(16) == 0) {
      std::vector<hw::Segment> out;
      l2.invalidate(l2.sectors({draw(20'000), 20'000 + draw(8'000)}), out);
      for (const auto& segment : out)
        listed += segment.range.size();
    }

    const auto& s = l2.statistics();
    REQUIRE(s.asked_read == s.hits + s.fills);
    REQUIRE(s.stored == s.overwritten + s.written_back + s.discarded + l2.dirty());
    REQUIRE(s.written_back == listed);
  }
}

} // namespace umf::test
