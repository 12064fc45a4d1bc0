#include "hw/fabric/flow_network.h"
#include "model/base/error.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <vector>

using namespace umf;
using namespace umf::hw;

namespace {

constexpr auto demand = Urgency::demand;
constexpr auto background = Urgency::background;

std::vector<FlowNetwork::Ended> advance(FlowNetwork& network, Femtoseconds now) {
  std::vector<FlowNetwork::Ended> ended;
  network.advance(now, ended);
  return ended;
}

FlowId start(FlowNetwork& network, Femtoseconds now, double bytes, std::vector<Hop> hops,
             Urgency urgency = demand, bool write = false) {
  return network.start(now, bytes, hops, urgency, write, 0);
}

} // namespace

TEST_CASE("an idle network has no next event") {
  FlowNetwork network;
  CHECK(network.next_event().count == std::numeric_limits<std::int64_t>::max());
  CHECK(advance(network, 5_ns).empty());
}

TEST_CASE("many starts at one instant are solved once, and an end once more") {
  FlowNetwork network;
  const ResourceId link = network.add_resource("link", 1e9);
  for (int f = 1; f <= 100; ++f)
    start(network, 10_ns, 1000.0 * f, {{link, 1.0}});
  const auto before = network.solves();
  const Femtoseconds first = network.next_event();
  CHECK(network.solves() == before + 1);
  network.next_event(); // asking again costs nothing
  CHECK(network.solves() == before + 1);
  CHECK(advance(network, first).size() == 1);
  network.next_event();
  CHECK(network.solves() == before + 2);
}

TEST_CASE("flows that end at one instant end together, oldest first") {
  FlowNetwork network;
  const ResourceId a = network.add_resource("a", 1e9), b = network.add_resource("b", 2e9);
  network.start({}, 1000, {{a, 1}}, demand, false, 7);
  network.start({}, 2000, {{b, 1}}, demand, false, 8);
  const auto ended = advance(network, 1000_ns);
  REQUIRE(ended.size() == 2);
  CHECK(ended[0].tag == 7);
  CHECK(ended[0].bottleneck == a);
  CHECK(ended[1].tag == 8);
  CHECK(ended[1].bottleneck == b);
  CHECK(network.active_flows() == 0);
}

TEST_CASE("a start at the instant of an end may come before the end is collected") {
  FlowNetwork network;
  const ResourceId link = network.add_resource("link", 3e9);
  start(network, {}, 1000, {{link, 1}}); // 333333333.33 fs: ends at ...334
  const Femtoseconds end = network.next_event();
  REQUIRE(end.count == 333'333'334);
  const FlowId second = start(network, end, 3000, {{link, 1}});
  CHECK(network.next_event() == end);
  CHECK(network.rate(second) == Approx(3e9)); // the first asks for nothing any more
  CHECK(advance(network, end).size() == 1);
  CHECK(network.next_event() == end + 1000_ns);
  advance(network, end + 1000_ns);
  CHECK(network.carried(link) == Approx(4000).epsilon(1e-12));
}

TEST_CASE("a capacity that changes in mid-flow changes the rest of the flow") {
  // 1000 B at 1 GB/s; after 400 ns 600 B are left at 0.5 GB/s: 1200 ns more.
  FlowNetwork network;
  const ResourceId link = network.add_resource("link", 1e9);
  const FlowId flow = start(network, {}, 1000, {{link, 1}});
  network.set_capacity(link, 0.5e9, 400_ns);
  CHECK(network.remaining(flow) == Approx(600));
  CHECK(network.next_event() == 1600_ns);
  CHECK(network.capacity(link) == 0.5e9);
}

TEST_CASE("the bottleneck is the resource that holds the flow back") {
  FlowNetwork network;
  const ResourceId fast = network.add_resource("fast", 4e9);
  const ResourceId slow = network.add_resource("slow", 1e9);
  const FlowId held = start(network, {}, 1000, {{fast, 1}, {slow, 1}});
  const FlowId free = start(network, {}, 1000, {{fast, 1}});
  CHECK(network.bottleneck(held) == slow);
  CHECK(network.bottleneck(free) == fast);
  CHECK(network.rate(free) == Approx(3e9));
  CHECK(network.last_bottleneck(free) == fast);
  CHECK(network.name(network.bottleneck(held)) == "slow");
}

TEST_CASE("background stands still while demand fills a resource") {
  FlowNetwork network;
  const ResourceId link = network.add_resource("link", 1e9);
  const FlowId move = start(network, {}, 1000, {{link, 1}}, background);
  CHECK(network.rate(move) == Approx(1e9));
  start(network, 100_ns, 500, {{link, 1}});
  CHECK(network.rate(move) == 0);
  advance(network, network.next_event());
  CHECK(network.rate(move) == Approx(1e9));
}

TEST_CASE("background never slows demand, however much of it there is") {
  FlowNetwork network;
  const ResourceId link = network.add_resource("link", 1e9), port = network.add_resource("p", 2e9);
  for (int f = 0; f < 50; ++f)
    start(network, {}, 1e6, {{link, 1}, {port, 0.3}}, background);
  const FlowId read = start(network, {}, 1000, {{port, 1}, {link, 1}});
  CHECK(network.rate(read) == Approx(1e9));
}

TEST_CASE("writes that are held elsewhere cost reads what their share of the mix says") {
  // 0.3 of 1 GB/s are writes, held there by a link of their own; reads R take the rest of
  // C = 1 − 4 × 0.25 × r(1 − r), r = R / (R + 0.3). Solved by hand: R + 0.3 = 0.7614.
  FlowNetwork network;
  const ResourceId dram = network.add_resource("dram", 1e9, 0.25);
  const ResourceId slow = network.add_resource("slow", 0.3e9);
  const FlowId read = start(network, {}, 1000, {{dram, 1}});
  const FlowId write = start(network, {}, 1000, {{dram, 1}, {slow, 1}}, demand, true);
  const double w = network.rate(write), total = network.rate(read) + w;
  CHECK(w == Approx(0.3e9));
  const double r = network.rate(read) / total;
  CHECK(total == Approx(1e9 * (1 - r * (1 - r))).epsilon(2e-3)); // found to a thousandth
  CHECK(total == Approx(0.7614e9).epsilon(2e-3));
}

TEST_CASE("slots of ended flows and removed resources are used again") {
  FlowNetwork network;
  const ResourceId link = network.add_resource("link", 1e9);
  const ResourceId window = network.add_resource("window", 1e9);
  const FlowId flow = start(network, {}, 1000, {{link, 1}, {window, 1}});
  CHECK(network.users(window) == 1);
  CHECK_THROWS_AS(network.remove_resource(window), InvariantError);
  advance(network, 1000_ns);
  CHECK_FALSE(network.active(flow));
  network.remove_resource(window);
  CHECK_THROWS_AS(network.remove_resource(window), InvariantError);
  CHECK_THROWS_AS(start(network, 1000_ns, 1, {{window, 1}}), InvariantError);

  FlowNetwork other;
  const ResourceId first = other.add_resource("first", 1e9);
  other.remove_resource(first);
  const ResourceId second = other.add_resource("second", 5e9, 0.1);
  CHECK(second == first);
  CHECK(other.name(second) == "second");
  CHECK(other.capacity(second) == 5e9);
  CHECK(other.carried(second) == 0);
  const FlowId a = start(other, {}, 5000, {{second, 1}});
  advance(other, 1000_ns);
  const FlowId b = start(other, 1000_ns, 5000, {{second, 1}});
  CHECK(a == b);
  CHECK(other.next_event() == 2000_ns);
}

TEST_CASE("hops of no use are left out") {
  FlowNetwork network;
  const ResourceId a = network.add_resource("a", 1e9), b = network.add_resource("b", 1);
  start(network, {}, 1000, {{a, 1}, {b, 0}});
  CHECK(network.users(b) == 0);
  CHECK(network.next_event() == 1000_ns);
}

TEST_CASE("misuse is loud") {
  FlowNetwork network;
  const ResourceId link = network.add_resource("link", 1e9);
  CHECK_THROWS_AS(network.add_resource("none", 0), InvariantError);
  CHECK_THROWS_AS(network.add_resource("lossy", 1, 1.0), InvariantError);
  CHECK_THROWS_AS(network.set_capacity(link, 0, {}), InvariantError);
  CHECK_THROWS_AS(start(network, {}, 0, {{link, 1}}), InvariantError);
  CHECK_THROWS_AS(start(network, {}, std::nan(""), {{link, 1}}), InvariantError);
  const std::vector<Hop> too_many(25, {link, 1}); // kMaxHops is 24
  CHECK_THROWS_AS(start(network, {}, 1, too_many), InvariantError);
}

TEST_CASE("a flow needs a limit, and its limits exist") {
  const std::vector<Hop> hops = GENERATE(std::vector<Hop>{}, std::vector<Hop>{{0, 0.0}},
                                         std::vector<Hop>{{0, -1.0}}, std::vector<Hop>{{1, 1.0}});
  FlowNetwork network;
  network.add_resource("link", 1e9);
  CHECK_THROWS_AS(start(network, {}, 1, hops), InvariantError);
}

TEST_CASE("time goes forwards and stops at every end") {
  FlowNetwork network;
  const ResourceId link = network.add_resource("link", 1e9);
  start(network, 10_ns, 1000, {{link, 1}});
  CHECK_THROWS_AS(start(network, 9_ns, 1, {{link, 1}}), InvariantError);
  CHECK_THROWS_AS(advance(network, 1011_ns), InvariantError); // the flow ends at 1010 ns
  CHECK(advance(network, 1009_ns).empty());
  CHECK(advance(network, 1010_ns).size() == 1);
}

TEST_CASE("what passed and what is left are known between events, without moving time") {
  // Two flows of 1000 B at 1 B/ns together: 0.5 B/ns each; after 300 ns 150 B of each.
  FlowNetwork network;
  const ResourceId link = network.add_resource("link", 1e9);
  const ResourceId idle = network.add_resource("idle", 1e9);
  const FlowId flow = start(network, {}, 1000, {{link, 1}});
  start(network, {}, 1000, {{link, 1}});
  CHECK(network.carried_at(link, 300_ns) == Approx(300));
  CHECK(network.remaining_at(flow, 300_ns) == Approx(850));
  CHECK(network.carried(link) == 0);
  CHECK(network.carried_at(idle, 300_ns) == 0);
  advance(network, 2000_ns); // both done: nothing more is carried
  CHECK(network.carried_at(link, 5000_ns) == Approx(2000));
}

namespace {

/// A resource of 1 GB/s whose curve writes down what it is asked for.
struct Watched {
  FlowNetwork network;
  ResourceId resource = network.add_resource("memory", 1e9);
  std::vector<FlowNetwork::Mix> asked;

  explicit Watched(double share, double least = 0.01, double shortest = 1, double held = 1e18) {
    network.set_curve(resource, {[this, share](const FlowNetwork::Mix& mix) {
                                   asked.push_back(mix);
                                   return share;
                                 },
                                 least, shortest, held});
  }
  FlowId start(double bytes, bool write = false, double weight = 1) {
    return network.start({}, bytes, {{resource, 1}}, demand, write, 0, weight);
  }
};

} // namespace

TEST_CASE("a curve is asked for read share, mean run and number of streams") {
  Watched watched(0.5);
  watched.start(1000);
  watched.start(3000, true);
  watched.start(3000, true, 2);
  CHECK(watched.network.rate(0) == Approx(0.25 * 0.5e9));
  const FlowNetwork::Mix& mix = watched.asked.back();
  // Rates 1 : 1 : 2. A quarter are reads; of 4 bytes 1 is of a run of 1000, 3 of runs of 3000: 4 /
  // (1/1000 + 3/3000) = 2000 B. One reads; of the writes' shares 1/3 and 2/3: 1 / (1/9 + 4/9)
  // = 1.8.
  CHECK(mix.read_share == Approx(0.25));
  CHECK(mix.run == Approx(2000));
  CHECK(mix.streams == Approx(1 + 1.8));
}

TEST_CASE("a flow counts by the rate it gets, not by the rate it would like") {
  Watched watched(1.0);
  const ResourceId slow = watched.network.add_resource("slow", 0.1e9);
  watched.start(1000);
  watched.network.start({}, 1000, {{watched.resource, 1}, {slow, 1}}, demand, true, 0);
  CHECK(watched.network.rate(0) == Approx(0.9e9));
  CHECK(watched.asked.back().read_share == Approx(0.9).margin(1e-3));
  CHECK(watched.asked.back().streams == Approx(2)); // one of each direction
}

TEST_CASE("flows below the shortest run count as of that length") {
  Watched watched(1.0, 0.01, 500);
  watched.start(100);
  watched.start(1000);
  watched.network.next_event();
  CHECK(watched.asked.back().run == Approx(2 / (1.0 / 500 + 1.0 / 1000)));
}

TEST_CASE("a flow is worth no more than its share of what is under way") {
  Watched watched(1.0, 0.01, 1, 2000);
  watched.start(1e6);
  watched.start(1e6, false, 3);
  watched.start(100);
  watched.network.next_event();
  // Shares 1/5, 3/5, 1/5 of 2000 B: as if of 400, 1200 and its own 100.
  CHECK(watched.asked.back().run == Approx(1 / (0.2 / 400 + 0.6 / 1200 + 0.2 / 100)));
}

TEST_CASE("pieces of one row count as that row, and pieces of one stream as one") {
  Watched watched(1.0, 0.01, 1, 8000);
  const auto piece = [&](double row, std::uint64_t stream) {
    watched.network.start({}, 100, {{watched.resource, 1}}, demand, false, 0, 1, {row, stream});
  };
  piece(6000, 7);
  piece(6000, 7);
  piece(0, 0);
  watched.network.next_event();
  // Thirds of the rate. Two are pieces of a row of 6000 B, of which the queues hold 2/3 of 8000 B;
  // the third is all of its own 100.
  const FlowNetwork::Mix& mix = watched.asked.back();
  CHECK(mix.run == Approx(1 / (2 / 3.0 / (8000 * 2 / 3.0) + 1 / 3.0 / 100)));
  CHECK(mix.streams == Approx(1 / (4 / 9.0 + 1 / 9.0)));
}

TEST_CASE("no curve is asked while less is carried than there always is") {
  Watched watched(0.5, 0.25);
  const ResourceId port = watched.network.add_resource("port", 0.2e9);
  const FlowId flow =
      watched.network.start({}, 1000, {{watched.resource, 1}, {port, 1}}, demand, false, 0);
  CHECK(watched.network.rate(flow) == Approx(0.2e9));
  CHECK(watched.asked.empty());
  watched.start(1000);
  CHECK(watched.network.rate(1) == Approx(0.3e9));
  CHECK(!watched.asked.empty());
}

TEST_CASE("what a flow has alone is what the curve says of it") {
  Watched watched(0.5);
  CHECK(watched.network.capacity(watched.resource, {.read_share = 0, .run = 4096}) ==
        Approx(0.5e9));
  CHECK(watched.asked.back() == FlowNetwork::Mix{0.0, 4096, 1});
}

TEST_CASE("what goes ahead leaves others less room and waits for nothing") {
  FlowNetwork network;
  const ResourceId there = network.add_resource("there", 1e9),
                   back = network.add_resource("back", 1e9);
  const FlowId write = network.start({}, 1e6, {{there, 1}, {back, 0.1, true}}, demand, true, 0);
  const FlowId reads[] = {start(network, {}, 1e6, {{back, 1}}),
                          start(network, {}, 1e6, {{back, 1}})};
  // The write has all of its direction; of the other it takes a tenth of what it moves.
  CHECK(network.rate(write) == Approx(1e9));
  for (const FlowId read : reads)
    CHECK(network.rate(read) == Approx(0.45e9).epsilon(1e-3));
  CHECK(network.bottleneck(write) == there);
  // It ends after a millisecond, and its part of the other direction with it.
  advance(network, network.next_event());
  CHECK(network.carried(back) == Approx(1e6).epsilon(1e-3));
  CHECK(network.rate(reads[0]) == Approx(0.5e9));
}

TEST_CASE("what goes ahead is carried where nothing else is") {
  FlowNetwork network;
  const ResourceId there = network.add_resource("there", 1e9),
                   back = network.add_resource("back", 1e9);
  network.start({}, 1e6, {{there, 1}, {back, 0.1, true}}, demand, true, 0);
  CHECK(network.next_event() == 1000000_ns);
  CHECK(network.carried_at(back, 500000_ns) == Approx(0.5e5));
  advance(network, 1000000_ns);
  CHECK(network.carried(back) == Approx(1e5));
  CHECK(network.active_flows() == 0);
}
