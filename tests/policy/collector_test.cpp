#include "model/policy/collector.h"

#include <catch2/catch.hpp>

#include <string>

/// S8: who leaves the pool, and what of it has no mapping afterwards. Blocks are of 4 pages; the
/// window is 100 ns, scans may begin 50 ns apart.
using namespace umf;
using policy::Collector;
using policy::TierIndex;

namespace {

constexpr TierIndex kPool = 2;

Collector collector() {
  return Collector({100_ns, 50_ns, 4, 1000});
}

/// "1000+3 ..." of all that leave.
std::string left(Collector& c) {
  std::string text;
  while (const auto victims = c.next()) {
    text += (text.empty() ? "" : " ") + std::to_string(victims->pages.begin) + "+" +
            std::to_string(victims->pages.size());
    CHECK(victims->pool == kPool);
    c.leave(victims->pages);
  }
  return text;
}

} // namespace

TEST_CASE("pages untouched for a window leave the pool, oldest first, a block at a time") {
  Collector c = collector();
  c.placed({1000, 1008}, kPool, true, 0_ns);
  c.placed({1008, 1010}, std::nullopt, true, 0_ns); // not in the pool
  c.placed({1010, 1012}, kPool, false, 0_ns);       // keys that stay
  c.touched({1001, 1003}, 30_ns);
  c.touched({1007, 1008}, 90_ns);
  CHECK(c.may_scan(120_ns));
  CHECK(c.scan(120_ns) == 10);      // entries of all in the pool, whether they may leave or not
  CHECK_FALSE(c.may_scan(1000_ns)); // one at a time
  CHECK(left(c).empty());           // nothing before it is over
  c.scanned(10, 150_ns);
  // 1007 was touched 60 ns before, 1001 and 1002 120 ns before.
  CHECK(left(c) == "1004+3 1000+4");
  CHECK(c.moves() == 2);
  CHECK(c.counters().runs == 1);
  CHECK(c.counters().scanned == 10);
  CHECK(c.leaving() == 7);
}

TEST_CASE("what is touched between the scan and its turn stays") {
  Collector c = collector();
  c.placed({1000, 1004}, kPool, true, 0_ns);
  c.scan(200_ns);
  c.scanned(4, 210_ns);
  c.touched({1001, 1002}, 220_ns);
  c.removed({1003, 1004});
  CHECK(left(c) == "1000+1 1002+1");
}

TEST_CASE("a page that has left has no mapping until it is back, and is regretted once") {
  Collector c = collector();
  c.placed({1000, 1004}, kPool, true, 0_ns);
  c.scan(200_ns);
  c.scanned(4, 200_ns);
  left(c);
  c.touched({1003, 1004}, 210_ns); // while it leaves
  c.settled({1000, 1004}, true, std::nullopt, 220_ns);
  CHECK(c.unmapped(1000));
  CHECK_FALSE(c.unmapped(1003)); // somebody uses it: it keeps its mapping
  CHECK(c.alike(1000, 4) == 3);
  CHECK(c.alike(1003, 1) == 1);
  CHECK(c.counters().freed == 4);
  CHECK(c.counters().regret == 1);

  c.faulted({1000, 1002}, 300_ns);
  CHECK_FALSE(c.unmapped(1000));   // nobody faults again for it
  c.touched({1000, 1001}, 330_ns); // another access waits too
  c.coming({1000, 1002});
  CHECK(c.settled({1000, 1002}, true, kPool, 340_ns) == 2);
  CHECK(c.counters().regret == 3);
  CHECK(c.counters().faults == 2);
  CHECK(c.counters().waited == 80_ns); // 40 ns each of two pages
  CHECK(c.scan(500_ns) == 2);          // back in the pool
}

TEST_CASE("a move that did not begin frees nothing") {
  Collector c = collector();
  c.placed({1000, 1002}, kPool, true, 0_ns);
  c.scan(200_ns);
  c.scanned(2, 200_ns);
  left(c);
  c.touched({1000, 1001}, 210_ns);
  c.settled({1000, 1002}, false, std::nullopt, 220_ns);
  CHECK(c.counters().freed == 0);
  CHECK(c.counters().regret == 0);
  CHECK(c.leaving() == 0);
  CHECK(c.moves() == 0);
  CHECK_FALSE(c.unmapped(1000));
  CHECK(left(c) == "1001+1"); // once more; the other has been touched
}

TEST_CASE("where a fault's page finds no room it is mapped below the pool") {
  Collector c = collector();
  c.placed({1000, 1002}, kPool, true, 0_ns);
  c.scan(200_ns);
  c.scanned(2, 200_ns);
  left(c);
  c.settled({1000, 1002}, true, std::nullopt, 220_ns);
  c.faulted({1000, 1002}, 230_ns);
  c.coming({1001, 1002});
  CHECK(c.mapped_in_place({1000, 1002}) == 1); // one of them had been ordered
  CHECK_FALSE(c.unmapped(1000));
  CHECK_FALSE(c.may_scan(240_ns)); // nothing is in the pool
}

TEST_CASE("scans keep their distance") {
  Collector c = collector();
  c.placed({1000, 1001}, kPool, true, 0_ns);
  CHECK(c.may_scan(0_ns)); // the first is due at once
  c.scan(0_ns);
  c.scanned(1, 10_ns);
  CHECK_FALSE(c.may_scan(49_ns));
  CHECK(c.may_scan(50_ns));
}
