#include "model/policy/reuse_table.h"

#include <catch2/catch.hpp>

using namespace umf;
using namespace umf::policy;

/// Pages of 64 KiB, blocks of four, windows of 100 ns.
namespace {

constexpr Bytes kPage = 64_KiB;

struct Table : ReuseTable {
  Table() : ReuseTable(256_KiB) {}
  std::vector<std::uint64_t> access(PageNumber first, std::uint64_t pages, Bytes bytes,
                                    Femtoseconds now) {
    Touch touch;
    touch.pages = {first, pages, 0, memory::PageState::resident, 0};
    touch.bytes = bytes;
    touch.begin = first * kPage.count;
    touch.now = now;
    std::vector<std::uint64_t> passed;
    ReuseTable::touch(touch, 100_ns, kPage, passed);
    return passed;
  }
};

} // namespace

TEST_CASE("a pass is as many bytes as the block holds, in however many accesses") {
  Table table;
  table.add(0, 3, 1, {.priority = 1.0}, kPage); // three of a block's four pages: 192 KiB
  CHECK(table.access(0, 2, 128_KiB, 10_ns).empty());
  CHECK(table.access(2, 1, 32_KiB, 20_ns).empty());
  CHECK(table.access(2, 1, 32_KiB, 30_ns) == std::vector<std::uint64_t>{0});
  CHECK(table.find(0)->last == 30_ns);
  CHECK(table.find(0)->recent == 1);
}

TEST_CASE("reuse is a pass within the window of the one before") {
  Table table;
  table.add(0, 1, 1, {.priority = 1.0}, kPage);
  for (const Femtoseconds now : {0_ns, 50_ns, 150_ns})
    table.access(0, 1, kPage, now);
  CHECK(table.find(0)->recent == 3);
  table.access(0, 1, kPage, 251_ns);
  CHECK(table.find(0)->recent == 1);
  CHECK(table.find(0)->interval == 101_ns);
}

TEST_CASE("next use is predicted from the last interval") {
  Table table;
  table.add(0, 1, 1, {.priority = 1.0}, kPage);
  const ReuseBlock& block = *table.find(0);
  CHECK(block.distance(500_ns) == 0_ns); // its turn has not come
  table.access(0, 1, kPage, 1000_ns);
  CHECK(block.distance(1010_ns) == ReuseBlock::kNever); // it has not recurred
  table.access(0, 1, kPage, 1040_ns);
  CHECK(block.distance(1050_ns) == 30_ns); // at 1080
  CHECK(block.distance(1100_ns) == 60_ns); // overdue: unused since 1040
}

TEST_CASE("the gap between uses is the last interval, or longer once it is overdue") {
  Table table;
  table.add(0, 1, 1, {.priority = 1.0}, kPage);
  const ReuseBlock& block = *table.find(0);
  CHECK(block.gap(500_ns) == 0_ns); // its turn has not come
  table.access(0, 1, kPage, 1000_ns);
  CHECK(block.gap(1010_ns) == 10_ns); // at least that
  table.access(0, 1, kPage, 1040_ns);
  CHECK(block.gap(1050_ns) == 40_ns);
  CHECK(block.gap(1100_ns) == 60_ns); // unused since 1040
}

TEST_CASE("in a cyclic scan the block just read is wanted last") {
  Table table;
  for (std::uint64_t b = 0; b < 4; ++b)
    table.add(4 * b, 1, 1, {.priority = 1.0}, kPage);
  Femtoseconds now{0};
  for (int round = 0; round < 3; ++round)
    for (std::uint64_t b = 0; b < 4; ++b, now += 10_ns)
      table.access(4 * b, 1, kPage, now);
  // The last access was to block 3 at 110 ns; all have an interval of 40 ns.
  for (std::uint64_t b = 0; b < 4; ++b)
    CHECK(table.find(b)->distance(110_ns) == 10_ns * static_cast<std::int64_t>(b + 1));
}

TEST_CASE("blocks follow their pages from tier to tier and end with them") {
  Table table;
  table.add(2, 4, 1, {.priority = 1.0}, kPage); // two pages each of blocks 0 and 1
  CHECK(table.find(0)->in(1) == 2);
  CHECK(table.find(1)->in(1) == 2);
  table.move({3, 2, 1, {}, 0}, 0, kPage); // pages 3 and 4
  CHECK(table.find(0)->in(0) == 1);
  CHECK(table.find(0)->in(1) == 1);
  CHECK(table.find(1)->all() == 2);
  table.remove({2, 1, 1, {}, 0}, kPage);
  table.remove({3, 1, 0, {}, 0}, kPage);
  CHECK(table.find(0) == nullptr);
  std::vector<std::uint64_t> left;
  table.each([&](std::uint64_t number, const ReuseBlock&) { left.push_back(number); });
  CHECK(left == std::vector<std::uint64_t>{1});
}
