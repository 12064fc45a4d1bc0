#include "hw/fabric/flow_network.h"
#include "model/base/random.h"

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

using namespace umf;
using namespace umf::hw;

namespace {

/// A GPU's paths: window, L2, lookups, one of 8 ports, one of 4 links, one of 16 media.
class Paths {
public:
  Paths(FlowNetwork& network, std::size_t windows) {
    const auto add = [&](const char* name, std::size_t count, double capacity) {
      std::vector<ResourceId> ids;
      for (std::size_t i = 0; i < count; ++i)
        ids.push_back(network.add_resource(name + std::to_string(i), capacity));
      return ids;
    };
    windows_ = add("window", windows, 2e6);
    l2_ = add("l2", 1, 5e12);
    lookups_ = add("lookups", 1, 1.4e11);
    ports_ = add("port", 8, 4e11);
    links_ = add("link", 4, 5e11);
    media_ = add("media", 16, 2e11);
  }

  const std::vector<Hop>& of(std::size_t window, std::uint64_t draw) {
    hops_ = {{windows_[window], 6e-7},    {l2_[0], 1.0},
             {lookups_[0], 1.0 / 128},    {ports_[draw % 8], 1.0},
             {links_[draw / 8 % 4], 1.1}, {media_[draw / 32 % 16], 1.0}};
    return hops_;
  }

private:
  std::vector<ResourceId> windows_, l2_, lookups_, ports_, links_, media_;
  std::vector<Hop> hops_;
};

/// A flow that ends starts its successor at the same instant; one item = one end and one start.
void start_and_end(benchmark::State& state) {
  const auto concurrent = static_cast<std::size_t>(state.range(0));
  FlowNetwork network;
  Paths paths(network, concurrent);
  RandomStream random(1, "flow_network_bench");
  const auto start = [&](Femtoseconds now, std::size_t window) {
    const std::uint64_t draw = random.next();
    network.start(now, 4096.0 * static_cast<double>(1 + draw % 256), paths.of(window, draw >> 8),
                  draw >> 60 == 0 ? Urgency::background : Urgency::demand, (draw >> 59 & 1) != 0,
                  window);
  };
  for (std::size_t window = 0; window < concurrent; ++window)
    start({}, window);
  std::vector<FlowNetwork::Ended> ended;
  std::int64_t items = 0;
  for (auto _ : state) {
    const Femtoseconds now = network.next_event();
    ended.clear();
    network.advance(now, ended);
    for (const auto& end : ended)
      start(now, end.tag);
    items += static_cast<std::int64_t>(ended.size());
  }
  state.SetItemsProcessed(items);
}

BENCHMARK(start_and_end)->Arg(1)->Arg(8)->Arg(64)->Arg(512);

} // namespace
