#include "hw/fabric/flow_network.h"
#include "model/base/random.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

using namespace umf;
using namespace umf::hw;

namespace {

struct TestFlow {
  double bytes = 0, weight = 1;
  std::vector<Hop> hops;
  Urgency urgency = Urgency::demand;
  bool write = false;
  FlowId id = kNoId;
};

/// Random capacities over six decades, uses over four; paths of 1 to 6 hops, some twice over
/// the same resource.
struct Topology {
  std::vector<double> capacity;
  std::vector<TestFlow> flows;

  explicit Topology(std::uint64_t number) {
    RandomStream random(number, "flow topology");
    const auto spread = [&](double decades) {
      return std::pow(10.0, (random.next_unit() - 0.5) * decades);
    };
    capacity.resize(1 + random.next_below(12));
    for (double& c : capacity)
      c = 1e9 * spread(6);
    flows.resize(1 + random.next_below(16));
    const bool weighted = random.next_below(2) == 0;
    for (TestFlow& flow : flows) {
      flow.bytes = 1e6 * spread(4);
      if (weighted) flow.weight = spread(2);
      for (std::uint64_t h = random.next_below(6) + 1; h > 0; --h)
        flow.hops.push_back({static_cast<ResourceId>(random.next_below(capacity.size())),
                             random.next_below(2) == 0 ? 1.0 : spread(4)});
      if (random.next_below(4) == 0) flow.urgency = Urgency::background;
      flow.write = random.next_below(2) == 0;
    }
  }

  void start(FlowNetwork& network) {
    for (const double c : capacity)
      network.add_resource("r", c);
    for (std::size_t f = 0; f < flows.size(); ++f) {
      TestFlow& flow = flows[f];
      flow.id = network.start({}, flow.bytes, flow.hops, flow.urgency, flow.write, f, flow.weight);
    }
  }
};

double use_of(const TestFlow& flow, ResourceId resource) {
  double use = 0;
  for (const Hop& hop : flow.hops)
    if (hop.resource == resource) use += hop.use;
  return use;
}

using Ends = std::vector<std::pair<std::int64_t, std::uint64_t>>; // instant, tag

Ends run(FlowNetwork& network) {
  Ends ends;
  std::vector<FlowNetwork::Ended> ended;
  while (network.active_flows() > 0) {
    const Femtoseconds now = network.next_event();
    ended.clear();
    network.advance(now, ended);
    REQUIRE_FALSE(ended.empty());
    for (const auto& end : ended)
      ends.emplace_back(now.count, end.tag);
  }
  return ends;
}

} // namespace

TEST_CASE("rates are weighted max-min fair, class by class") {
  // 10,000 topologies. A feasible allocation is max-min fair exactly if every flow has a full
  // resource on which no flow of its class has a higher rate per weight (Bertsekas & Gallager,
  // Data Networks, 6.5.2); background flows do not count when demand is checked.
  constexpr double kTolerance = 1e-9;
  std::uint64_t wrong = 0;
  for (std::uint64_t number = 0; number < 10'000; ++number) {
    Topology topology(number);
    FlowNetwork network;
    topology.start(network);
    std::vector<double> all(topology.capacity.size()), demand(topology.capacity.size());
    for (const TestFlow& flow : topology.flows)
      for (const Hop& hop : flow.hops) {
        const double rate = hop.use * network.rate(flow.id);
        all[hop.resource] += rate;
        if (flow.urgency == Urgency::demand) demand[hop.resource] += rate;
      }
    for (std::size_t r = 0; r < all.size(); ++r)
      if (all[r] > topology.capacity[r] * (1 + kTolerance)) ++wrong;
    for (const TestFlow& flow : topology.flows) {
      const ResourceId limit = network.bottleneck(flow.id);
      const double level = network.rate(flow.id) / flow.weight;
      const auto& load = flow.urgency == Urgency::demand ? demand : all;
      if (use_of(flow, limit) == 0) ++wrong;
      if (load[limit] < topology.capacity[limit] * (1 - kTolerance)) ++wrong;
      for (const TestFlow& other : topology.flows)
        if (other.urgency == flow.urgency && use_of(other, limit) > 0 &&
            network.rate(other.id) / other.weight > level * (1 + kTolerance) + 1e-6)
          ++wrong; // 1e-6 B/s: what rounding leaves to background on a full resource
    }
    if (wrong > 0) {
      CAPTURE(number);
      REQUIRE(wrong == 0);
    }
  }
}

TEST_CASE("what resources carried is what the flows asked of them") {
  for (std::uint64_t number = 0; number < 1'000; ++number) {
    CAPTURE(number);
    Topology topology(number);
    FlowNetwork network;
    topology.start(network);
    REQUIRE(run(network).size() == topology.flows.size());
    for (ResourceId r = 0; r < topology.capacity.size(); ++r) {
      double asked = 0;
      for (const TestFlow& flow : topology.flows)
        asked += flow.bytes * use_of(flow, r);
      REQUIRE(network.carried(r) == Approx(asked).epsilon(1e-9));
      REQUIRE(network.users(r) == 0);
    }
  }
}

TEST_CASE("the same starts give the same ends") {
  for (std::uint64_t number = 0; number < 200; ++number) {
    CAPTURE(number);
    Topology topology(number);
    FlowNetwork fresh, again;
    topology.start(fresh);
    topology.start(again);
    const Ends ends = run(fresh);
    REQUIRE(run(again) == ends);
  }
}

TEST_CASE("no flow ends before the slowest of its hops alone would allow") {
  for (std::uint64_t number = 0; number < 1'000; ++number) {
    CAPTURE(number);
    Topology topology(number);
    FlowNetwork network;
    topology.start(network);
    for (const auto& [instant, tag] : run(network)) {
      const TestFlow& flow = topology.flows[tag];
      double alone = 0;
      for (ResourceId r = 0; r < topology.capacity.size(); ++r)
        alone = std::max(alone, flow.bytes * use_of(flow, r) / topology.capacity[r]);
      REQUIRE(static_cast<double>(instant) >= alone * 1e15 * (1 - 1e-9));
    }
  }
}
