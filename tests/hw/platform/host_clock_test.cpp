#include "hw/platform/replay_host.h"

#include "model/base/error.h"

#include <catch2/catch.hpp>

/// When the host comes to each operation: recorded times in, simulated ones out.
namespace umf::test {

using hw::HostClock;
using hw::ReplayMode;

namespace {

HostClock::Times issued(std::int64_t ns) {
  return {ns, std::nullopt, 100_ns, {}};
}

HostClock::Times started(std::int64_t ns, Femtoseconds launch = 100_ns) {
  return {std::nullopt, ns, launch, {}};
}

constexpr HostClock::Times kUntimed{};

} // namespace

TEST_CASE("closed: the host is always there") {
  HostClock host(ReplayMode::closed);
  host.begin(70_ns);
  CHECK(host.issue(issued(1000)) == 70_ns);
  CHECK(host.issue(issued(5000)) == 70_ns);
  CHECK(host.issue(kUntimed) == 70_ns);
  CHECK(host.oddities().untimed == 0);
}

TEST_CASE("open: calls come as far apart as recorded, counted from the first") {
  HostClock host(ReplayMode::open);
  host.begin(70_ns);
  CHECK(host.issue(issued(1000)) == 70_ns);
  CHECK(host.issue(issued(1250)) == 320_ns);
  CHECK(host.issue(issued(1400)) == 470_ns);
}

TEST_CASE("open: without the call a launch ends at the recorded start, whatever it costs") {
  HostClock host(ReplayMode::open);
  host.begin(Femtoseconds{0});
  // Resident at 100 ns, when the launch of 100 ns is over; the next 200 ns later, at 300 ns.
  CHECK(host.issue(started(1000)) == 0_ns);
  CHECK(host.issue(started(1200, 30_ns)) == 270_ns);
  // A call is not moved by its launch: 500 ns behind the first start, which is at 100 ns.
  CHECK(host.issue(issued(1500)) == 600_ns);
}

TEST_CASE("open: every repetition begins where the clock says") {
  HostClock host(ReplayMode::open);
  host.begin(0_ns);
  host.issue(issued(1000));
  host.issue(issued(1800));
  host.begin(5000_ns);
  CHECK(host.issue(issued(1000)) == 5000_ns);
  CHECK(host.issue(issued(1800)) == 5800_ns);
}

TEST_CASE("open: an operation without times comes with the one before it, and is counted") {
  HostClock host(ReplayMode::open);
  host.begin(0_ns);
  host.issue(issued(1000));
  host.issue(issued(1300));
  CHECK(host.issue(kUntimed) == 300_ns);
  CHECK(host.oddities().untimed == 1);
}

TEST_CASE("open: times before the first or before their stream's last are counted") {
  HostClock host(ReplayMode::open);
  host.begin(0_ns);
  host.issue(issued(1000));
  CHECK(host.issue(issued(900)) == 0_ns); // before the first: with it
  CHECK(host.oddities().backwards == 1);
  HostClock::Times late = issued(1200);
  late.stream_before = 500_ns;
  CHECK(host.issue(late) == 200_ns);
  CHECK(host.oddities().backwards == 2);
  HostClock::Times in_order = issued(1500);
  in_order.stream_before = 500_ns;
  CHECK(host.issue(in_order) == 500_ns);
  CHECK(host.oddities().backwards == 2);
}

TEST_CASE("hybrid: gaps between calls are kept") {
  HostClock host(ReplayMode::hybrid);
  host.begin(70_ns);
  CHECK(host.issue(issued(1000)) == 70_ns);
  CHECK(host.issue(issued(1250)) == 320_ns);
  CHECK(host.issue(kUntimed) == 320_ns);
  CHECK(host.issue(issued(1400)) == 470_ns);
  CHECK(host.oddities().untimed == 1);
}

TEST_CASE("hybrid: the host waits for this machine and not for the recorded one") {
  HostClock host(ReplayMode::hybrid);
  host.begin(0_ns);
  host.issue(issued(1000));
  SECTION("which is faster") {
    host.reach_wait(1100); // at 100 ns; the real device let it wait until 9000
    host.resume(400_ns, 9000);
    CHECK(host.issue(issued(9050)) == 450_ns);
  }
  SECTION("which is slower") {
    host.reach_wait(1100);
    host.resume(20000_ns, 1200);
    CHECK(host.issue(issued(1250)) == 20050_ns);
  }
  SECTION("which had long been done") {
    host.reach_wait(1700);
    host.resume(400_ns, 1710);
    CHECK(host.issue(issued(1750)) == 740_ns); // 700 ns, and 40 ns behind the wait
  }
  CHECK(host.oddities().untimed_waits == 0);
}

TEST_CASE("hybrid: behind a wait without an end the gap is lost and counted") {
  HostClock host(ReplayMode::hybrid);
  host.begin(0_ns);
  host.issue(issued(1000));
  host.reach_wait(std::nullopt);
  host.resume(400_ns, std::nullopt);
  CHECK(host.issue(issued(9000)) == 400_ns);
  CHECK(host.issue(issued(9020)) == 420_ns);
  CHECK(host.oddities().untimed_waits == 1);
}

TEST_CASE("hybrid: a call before the one before it comes at once, and is counted") {
  HostClock host(ReplayMode::hybrid);
  host.begin(0_ns);
  host.issue(issued(1000));
  host.issue(issued(1500));
  CHECK(host.issue(issued(1200)) == 500_ns);
  CHECK(host.issue(issued(1600)) == 600_ns); // from 1500: the host's time is not spent twice
  CHECK(host.oddities().backwards == 1);
}

TEST_CASE("times further apart than simulated time holds are refused") {
  const ReplayMode mode = GENERATE(ReplayMode::open, ReplayMode::hybrid);
  HostClock host(mode);
  host.begin(0_ns);
  host.issue(issued(0));
  CHECK_THROWS_AS(host.issue(issued(5'000'000'000'000)), UserError); // 2^62 fs are 4611 s
  CHECK_THROWS_AS(host.issue(issued(INT64_MAX)), UserError);
}

} // namespace umf::test
