#include "model/base/random.h"
#include "model/policy/block_order.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

using namespace umf;
using namespace umf::policy;

namespace {

using Entry = LeavingOrder::Entry;

/// How far from its next use a block is taken to be.
std::int64_t distance(const Entry& entry, Femtoseconds now) {
  if (entry.back == LeavingOrder::kNow && !entry.idles) return -1; // its turn may come at once
  if (entry.back == LeavingOrder::kNever) return entry.back.count;
  return (entry.back < now ? now - entry.used : entry.back - now).count;
}

using Place = std::pair<double, std::int64_t>; ///< priority, minus the distance or the idle time

} // namespace

TEST_CASE("blocks leave by priority and distance, and idle by priority and age") {
  RandomStream random(5, "leaving order");
  for (int round = 0; round < 40; ++round) {
    LeavingOrder order;
    std::map<std::uint64_t, Entry> plain;
    const Femtoseconds now{1000};
    for (int step = 0; step < 200; ++step) {
      const std::uint64_t number = random.next_below(40);
      if (random.next_below(5) == 0) {
        order.erase(number);
        plain.erase(number);
        continue;
      }
      Entry entry;
      entry.priority = static_cast<double>(random.next_below(2));
      entry.used = {static_cast<std::int64_t>(random.next_below(1000))};
      switch (random.next_below(4)) {
      case 0:
        entry.back = LeavingOrder::kNever;
        break;
      case 1:
        entry.back = LeavingOrder::kNow;
        entry.idles = random.next_below(2) == 0;
        break;
      default:
        entry.back =
            entry.used + Femtoseconds{1 + static_cast<std::int64_t>(random.next_below(800))};
      }
      order.set(number, entry);
      plain[number] = entry;
    }
    std::vector<Place> expected, found, idle_expected, idle_found;
    for (const auto& [number, entry] : plain) {
      expected.emplace_back(entry.priority, -distance(entry, now));
      if (entry.idles) idle_expected.emplace_back(entry.priority, entry.used.count);
    }
    std::sort(expected.begin(), expected.end());
    std::sort(idle_expected.begin(), idle_expected.end());
    std::set<std::uint64_t> seen;
    order.each_farthest(now, [&](std::uint64_t number) {
      if (seen.insert(number).second)
        found.emplace_back(plain.at(number).priority, -distance(plain.at(number), now));
      return true;
    });
    order.each_idle([&](std::uint64_t number, const Entry& entry) {
      CHECK(entry == plain.at(number));
      idle_found.emplace_back(entry.priority, entry.used.count);
      return true;
    });
    CAPTURE(round);
    REQUIRE(found == expected);
    REQUIRE(idle_found == idle_expected);
  }
}

TEST_CASE("a visit that says false is the last") {
  LeavingOrder order;
  for (std::uint64_t n = 0; n < 4; ++n)
    order.set(n, {.used = {static_cast<std::int64_t>(n)}, .back = LeavingOrder::kNever});
  int visits = 0;
  order.each_farthest({100}, [&](std::uint64_t) { return ++visits < 2; });
  order.each_idle([&](std::uint64_t, const Entry&) { return ++visits < 4; });
  CHECK(visits == 4);
}

TEST_CASE("what comes first is of the highest priority, the shortest interval, the next use") {
  ComingOrder order;
  order.set(1, {.priority = 1, .interval = 30_ns, .back = 5_ns});
  order.set(2, {.priority = 1, .interval = 20_ns, .back = 9_ns});
  order.set(3, {.priority = 1, .interval = 20_ns, .back = 8_ns});
  order.set(4, {.priority = 2, .interval = 90_ns, .back = 90_ns});
  order.set(1, {.priority = 1, .interval = 10_ns, .back = 5_ns}); // anew
  order.set(5, {});
  order.erase(5);
  std::vector<std::uint64_t> numbers;
  order.each([&](std::uint64_t number) {
    numbers.push_back(number);
    return true;
  });
  CHECK(numbers == std::vector<std::uint64_t>{4, 1, 3, 2});
}

TEST_CASE("of blocks used again and again those used last are kept, each once") {
  RecentOrder order;
  for (const std::uint64_t number : {1u, 2u, 3u, 1u, 4u, 4u, 2u})
    order.use(number);
  const auto left = [&] {
    std::vector<std::uint64_t> numbers;
    order.each([&](std::uint64_t number) { numbers.push_back(number); });
    return numbers;
  };
  CHECK(left() == std::vector<std::uint64_t>{3, 1, 4, 2});
  order.keep(2);
  CHECK(left() == std::vector<std::uint64_t>{4, 2});
  order.use(4);
  CHECK(left() == std::vector<std::uint64_t>{2, 4});
}
