#include "hw/fabric/flow_network.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace umf;
using namespace umf::hw;

namespace {

struct Start {
  std::int64_t at_ns = 0;
  double bytes = 0;
  std::vector<Hop> hops;
  std::int64_t ends_fs = 0; ///< expected
  Urgency urgency = Urgency::demand;
  bool write = false;
  double weight = 1;
};

struct Case {
  std::string name; ///< with the derivation
  std::vector<double> capacity;
  std::vector<Start> starts; ///< in order of time
  double mix_loss = 0;       ///< of resource 0
};

constexpr std::int64_t kNs = 1'000'000; // fs
constexpr auto background = Urgency::background;

const std::vector<Case> kCases = {
    {"alone: 1000 B at 1 GB/s", {1e9}, {{0, 1000, {{0, 1}}, 1000 * kNs}}},
    {"rounded up: 1 B at 3 GB/s = 333333.33 fs", {3e9}, {{0, 1, {{0, 1}}, 333'334}}},
    {"exact: 4096 B at 64 GB/s = 64 ns", {64e9}, {{0, 4096, {{0, 1}}, 64 * kNs}}},
    {"protocol bytes: 1000 B × 1.25 at 1 GB/s", {1e9}, {{0, 1000, {{0, 1.25}}, 1250 * kNs}}},
    {"cut-through: the slower of 4 and 1 GB/s, not their sum",
     {4e9, 1e9},
     {{0, 1000, {{0, 1}, {1, 1}}, 1000 * kNs}}},
    {"a hop passed twice counts twice", {1e9}, {{0, 1000, {{0, 1}, {0, 1}}, 2000 * kNs}}},
    {"two share: 0.5 GB/s each",
     {1e9},
     {{0, 1000, {{0, 1}}, 2000 * kNs}, {0, 1000, {{0, 1}}, 2000 * kNs}}},
    {"two share until the shorter ends: 500 B take 1000 ns at half rate, the longer has then "
     "500 of its 1000 B left at full rate",
     {1e9},
     {{0, 500, {{0, 1}}, 1000 * kNs}, {0, 1000, {{0, 1}}, 1500 * kNs}}},
    {"a late start: 400 B alone, then 600 + 600 B at half rate",
     {1e9},
     {{0, 1000, {{0, 1}}, 1600 * kNs}, {400, 600, {{0, 1}}, 1600 * kNs}}},
    {"three thirds: 1000 B at 1/3 GB/s",
     {1e9},
     {{0, 1000, {{0, 1}}, 3000 * kNs},
      {0, 1000, {{0, 1}}, 3000 * kNs},
      {0, 1000, {{0, 1}}, 3000 * kNs}}},
    {"the unused share: one is held to 1 GB/s elsewhere, the other takes 3 of 4 GB/s",
     {4e9, 1e9},
     {{0, 3000, {{0, 1}}, 1000 * kNs}, {0, 1000, {{0, 1}, {1, 1}}, 1000 * kNs}}},
    {"weights 3:1: 0.75 and 0.25 GB/s",
     {1e9},
     {{0, 750, {{0, 1}}, 1000 * kNs, Urgency::demand, false, 3}, {0, 250, {{0, 1}}, 1000 * kNs}}},
    {"demand first: background waits 1000 ns, then moves",
     {1e9},
     {{0, 500, {{0, 1}}, 1500 * kNs, background}, {0, 1000, {{0, 1}}, 1000 * kNs}}},
    {"background takes the rest: demand held to 1 GB/s leaves 3 of 4",
     {4e9, 1e9},
     {{0, 1000, {{0, 1}, {1, 1}}, 1000 * kNs}, {0, 3000, {{0, 1}}, 1000 * kNs, background}}},
    {"Little's law: 64 KiB in flight over 655.36 ns = 100 GB/s, below the link's 400",
     {65536, 400e9},
     {{0, 100'000, {{0, 655.36e-9}, {1, 1}}, 1000 * kNs}}},
    {"two share a window of 1000 B over 1 us: 0.5 GB/s each",
     {1000},
     {{0, 1000, {{0, 1e-6}}, 2000 * kNs}, {0, 1000, {{0, 1e-6}}, 2000 * kNs}}},
    {"mixing 1:1 loses all of `loss`: 1 × (1 − 0.2) GB/s, 0.4 each",
     {1e9},
     {{0, 400, {{0, 1}}, 1000 * kNs}, {0, 400, {{0, 1}}, 1000 * kNs, Urgency::demand, true}},
     0.2},
    {"mixing 2:1: r = 2/3, 1 − 4 × 0.225 × 2/9 = 0.8; reads 2 × 0.8/3, writes 0.8/3",
     {3e9},
     {{0, 800, {{0, 1}}, 1000 * kNs},
      {0, 800, {{0, 1}}, 1000 * kNs},
      {0, 800, {{0, 1}}, 1000 * kNs, Urgency::demand, true}},
     0.225},
    {"reads alone do not mix",
     {1e9},
     {{0, 500, {{0, 1}}, 1000 * kNs}, {0, 500, {{0, 1}}, 1000 * kNs}},
     0.2},
    {"mixing costs nothing where there is room: 0.4 + 0.4 of 2 × 0.8 GB/s",
     {2e9, 0.4e9, 0.4e9},
     {{0, 400, {{0, 1}, {1, 1}}, 1000 * kNs},
      {0, 400, {{0, 1}, {2, 1}}, 1000 * kNs, Urgency::demand, true}},
     0.2},
    {"a start at the instant of an end: each has the whole GB/s",
     {1e9},
     {{0, 1000, {{0, 1}}, 1000 * kNs}, {1000, 1000, {{0, 1}}, 2000 * kNs}}},
};

} // namespace

TEST_CASE("ends are whole femtoseconds and what the closed form says") {
  for (const Case& c : kCases) {
    INFO(c.name);
    FlowNetwork network;
    for (std::size_t r = 0; r < c.capacity.size(); ++r)
      network.add_resource("r", c.capacity[r], r == 0 ? c.mix_loss : 0.0);
    std::vector<std::int64_t> ends(c.starts.size(), -1);
    std::vector<FlowNetwork::Ended> ended;
    std::size_t next = 0;
    while (next < c.starts.size() || network.active_flows() > 0) {
      const std::int64_t start = next < c.starts.size() ? c.starts[next].at_ns * kNs : INT64_MAX;
      if (start <= network.next_event().count) {
        const Start& s = c.starts[next];
        network.start({start}, s.bytes, s.hops, s.urgency, s.write, next, s.weight);
        ++next;
        continue;
      }
      const Femtoseconds now = network.next_event();
      ended.clear();
      network.advance(now, ended);
      for (const auto& end : ended)
        ends[end.tag] = now.count;
    }
    for (std::size_t f = 0; f < ends.size(); ++f) {
      INFO("flow " << f);
      CHECK(ends[f] == c.starts[f].ends_fs);
    }
  }
}
