#include "traces/io/sorter.h"

#include <catch2/catch.hpp>

#include <array>
#include <vector>

using namespace umf;
using namespace umf::traces::io;

namespace {

struct Item {
  std::uint64_t key = 0;
  std::uint64_t number = 0;
  std::array<std::uint64_t, 5> rest{}; ///< a record is larger than its key
};

struct ByKey {
  bool operator()(const Item& a, const Item& b) const { return a.key < b.key; }
};

/// Keys in an order that is neither sorted nor random between runs.
std::uint64_t shuffled(std::uint64_t i) {
  return i * 7919 % 1000;
}

std::vector<Item> drained(Sorter<Item, ByKey>& sorter) {
  std::vector<Item> items;
  while (const Item* item = sorter.next())
    items.push_back(*item);
  return items;
}

} // namespace

TEST_CASE("records come back by key, equal keys as added, twice, whatever the memory") {
  // One record a run, many runs, one run and a half, all in memory (3000 x 60 B = 180 kB).
  for (const auto memory : {Bytes{1}, 4_KiB, 100_KiB, 1_MiB}) {
    Sorter<Item, ByKey> sorter(memory);
    for (std::uint64_t i = 0; i < 3000; ++i)
      sorter.add({shuffled(i), i, {i, i, i, i, i}});
    sorter.sort();
    for (int pass = 0; pass < 2; ++pass) {
      const auto items = drained(sorter);
      REQUIRE(items.size() == 3000);
      for (std::size_t i = 0; i < items.size(); ++i) {
        REQUIRE(items[i].key == shuffled(items[i].number));
        REQUIRE(items[i].rest[4] == items[i].number);
        if (i == 0) continue;
        REQUIRE(items[i - 1].key <= items[i].key);
        if (items[i - 1].key == items[i].key) REQUIRE(items[i - 1].number < items[i].number);
      }
      sorter.rewind();
    }
  }
}

TEST_CASE("records that come in order stay in order, whatever the memory") {
  for (const auto memory : {Bytes{1}, 4_KiB, 1_MiB}) {
    Sorter<Item, ByKey> sorter(memory);
    for (std::uint64_t i = 0; i < 2000; ++i)
      sorter.add({i / 3, i, {}});
    sorter.sort();
    const auto items = drained(sorter);
    REQUIRE(items.size() == 2000);
    for (std::size_t i = 0; i < items.size(); ++i)
      REQUIRE(items[i].number == i);
  }
}

TEST_CASE("a cleared sorter is empty and can be filled again") {
  for (const auto memory : {Bytes{1}, 1_MiB}) {
    Sorter<Item, ByKey> sorter(memory);
    sorter.add({2, 0, {}});
    sorter.add({1, 1, {}});
    sorter.sort();
    sorter.clear();
    CHECK(sorter.next() == nullptr);
    sorter.add({3, 2, {}});
    sorter.sort();
    CHECK(drained(sorter).size() == 1);
  }
}

TEST_CASE("nothing sorted is nothing") {
  Sorter<Item, ByKey> sorter(4_KiB);
  sorter.sort();
  CHECK(sorter.next() == nullptr);
}
