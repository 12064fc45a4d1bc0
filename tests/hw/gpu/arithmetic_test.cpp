#include "hw/fabric/flow_network.h"
#include "hw/gpu/arithmetic.h"
#include "model/base/random.h"

#include <catch2/catch.hpp>

#include <map>

namespace umf::test {

namespace {

constexpr Femtoseconds kNever{INT64_MAX};
using Ends = std::map<std::uint32_t, std::int64_t>;

/// Until nobody has work left; when each ran out of it.
Ends finish(hw::Arithmetic& arithmetic) {
  Ends ends;
  while (arithmetic.next_end() != kNever) {
    const Femtoseconds now = arithmetic.next_end();
    std::vector<std::uint32_t> ended;
    arithmetic.advance(now, ended);
    for (const std::uint32_t who : ended)
      ends[who] = now.count;
  }
  return ends;
}

} // namespace

TEST_CASE("a lone operation computes with its part of the device, rounded up to a femtosecond") {
  hw::Arithmetic arithmetic;
  arithmetic.add(1_ns, 7, 1e-9, 0.25, 1.0); // 1 + 1 / 0.25
  CHECK(arithmetic.next_end() == 5_ns);
  hw::Arithmetic third;
  third.add({}, 0, 1e-15, 0.75, 1.0); // 1.33 fs
  CHECK(third.next_end().count == 2);
}

TEST_CASE("work that comes while some is left joins it") {
  hw::Arithmetic arithmetic;
  arithmetic.add({}, 0, 4e-9, 0.5, 1.0);
  arithmetic.add(2_ns, 0, 1e-9, 0.5, 1.0); // (4 + 1) / 0.5
  CHECK(finish(arithmetic) == Ends{{0, 10'000'000}});
}

TEST_CASE("operations share the device by weight, and take no more than their parts") {
  hw::Arithmetic arithmetic;
  arithmetic.add({}, 0, 1e-9, 1.0, 3.0);
  arithmetic.add({}, 1, 1e-9, 1.0, 1.0);
  // 3/4 and 1/4: the first ends at 4/3 ns with 2/3 ns of the second left, which has all from then;
  // both ends are rounded up.
  CHECK(finish(arithmetic) == Ends{{0, 1'333'334}, {1, 2'000'001}});

  arithmetic.add(2_ns, 0, 1e-9, 0.2, 3.0);
  arithmetic.add(2_ns, 1, 1e-9, 1.0, 1.0);
  // 0.2 is below three quarters: the second has 0.8, ends at 2 + 1.25 ns; the first at 2 + 5.
  CHECK(finish(arithmetic) == Ends{{0, 7'000'000}, {1, 3'250'000}});
}

TEST_CASE("work too long for the clock never ends") {
  hw::Arithmetic arithmetic;
  arithmetic.add({}, 0, 3600, 1.0 / 132, 1.0); // 4.75e5 s; 64 bits of femtoseconds hold 9223 s
  CHECK(arithmetic.next_end() == kNever);
}

TEST_CASE("arithmetic is shared as flows over the device and a limit of each one's own are") {
  RandomStream random(11, "arithmetic");
  for (int round = 0; round < 50; ++round) {
    hw::Arithmetic arithmetic;
    hw::FlowNetwork network;
    const auto device = network.add_resource("device", 1.0);
    Ends computed, flowed;
    Femtoseconds now{};
    for (std::uint32_t who = 0; who < 20; ++who) {
      const double part = 0.05 + 0.95 * random.next_unit();
      const double weight = 0.5 + 4 * random.next_unit();
      const double seconds = 1e-6 * (0.01 + random.next_unit());
      now += {static_cast<std::int64_t>(3e8 * random.next_unit())};
      while (arithmetic.next_end() <= now) {
        const Femtoseconds at = arithmetic.next_end();
        std::vector<std::uint32_t> ended;
        arithmetic.advance(at, ended);
        for (const auto each : ended)
          computed[each] = at.count;
      }
      arithmetic.add(now, who, seconds, part, weight);
      const auto drain = [&](Femtoseconds until) {
        while (network.next_event() <= until && network.active_flows() > 0) {
          const Femtoseconds at = network.next_event();
          std::vector<hw::FlowNetwork::Ended> ended;
          network.advance(at, ended);
          for (const auto& each : ended)
            flowed[static_cast<std::uint32_t>(each.tag)] = at.count;
        }
      };
      drain(now);
      const auto own = network.add_resource("own", part);
      network.start(now, seconds, {{device, 1.0}, {own, 1.0}}, hw::Urgency::demand, false, who,
                    weight);
      if (who == 19) drain(kNever);
    }
    computed.merge(finish(arithmetic));
    REQUIRE(computed.size() == flowed.size());
    for (const auto& [who, end] : computed) // roundings of up to twenty ends before it
      REQUIRE(std::abs(end - flowed.at(who)) <= 40);
  }
}

} // namespace umf::test
