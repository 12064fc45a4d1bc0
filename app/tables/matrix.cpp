#include "app/tables/memories.h"
#include "hw/platform/topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

/// What each initiator gets from each tier when nobody else is about: the slowest hop.
namespace umf::app {

namespace {

namespace dram = hw::dram;

using Direction = std::size_t;
constexpr Direction kRead = 0, kWrite = 1, kBoth = 2;
constexpr std::array<std::string_view, 3> kDirections = {"read", "write", "read+write"};
/// By direction, bytes a second of reads and writes together.
using Rates = std::array<double, 3>;

struct Hop {
  std::string name;
  Rates rates;
};

struct Initiator {
  std::string name;
  std::uint32_t gpu;
  Hop engine;
};

/// The banks pressed by one stream of each direction; one kind of access or half of each.
Hop media_of(const DramTier& tier) {
  Hop hop{tier.name + ".media", {}};
  for (const Direction direction : {kRead, kWrite, kBoth}) {
    dram::Dram whole(tier.config);
    dram::Drive how;
    how.traffic = traffic_over(whole);
    how.traffic.period = how.traffic.streams = direction == kBoth ? 2 : 1;
    how.traffic.writes = direction == kRead ? 0 : 1;
    how.requests = accesses_of(tier.config, 2);
    how.warm_up = how.requests / 10;
    hop.rates[direction] = drive(whole, how).bandwidth.value;
  }
  return hop;
}

Hop media_of(const SramTier& tier) {
  const double peak = tier.peak().value;
  const bool shared = tier.banks.config.ports == hw::SramPorts::shared;
  return {tier.name + ".media", {peak, peak, shared ? peak : 2 * peak}};
}

/// Two directions of wire, and what each payload byte costs on them.
Hop hop_of(const hw::LinkSpec& link) {
  const hw::link::WireCost cost = link.options.shape.cost();
  const double raw = link.options.raw_bytes_per_second;
  const double read = std::min(link.read_bound.value, raw / std::max(cost.read_rx, cost.read_tx));
  const double back = cost.write_rx + cost.write_control;
  const double write = raw / std::max(back, cost.write_tx);
  const double both = 2 * raw / std::max(cost.read_tx + cost.write_tx, cost.read_rx + back);
  return {link.name, {read, write, both}};
}

std::vector<Initiator> initiators_of(const hw::Scenario& scenario) {
  const hw::GpuConfig& gpu = scenario.gpu;
  const double clocked =
      std::min(gpu.l2.slices * gpu.l2.slice_bandwidth.value, gpu.l2.crossbar_bandwidth.value) *
      gpu.clock.value;
  const double copied = gpu.copy_engine.bandwidth.value;
  std::vector<Initiator> all;
  for (std::uint32_t g = 0; g < scenario.general.gpus; ++g) {
    const std::string name = hw::gpu_name(g);
    all.push_back({name + ".sm", g, {name + ".l2", {clocked, clocked, clocked}}});
    all.push_back({name + ".copy", g, {name + ".copy_engine", {copied, copied, copied}}});
  }
  return all;
}

std::vector<Hop> media_of(const Memories& memories) {
  std::vector<Hop> all;
  for (const DramTier& tier : memories.dram)
    all.push_back(media_of(tier));
  for (const SramTier& tier : memories.sram)
    all.push_back(media_of(tier));
  return all;
}

/// The slowest of the hops; the first of equals.
struct Bound {
  double rate = 0;
  std::string by;
};
Bound bound_of(const std::vector<const Hop*>& hops, Direction direction) {
  const Hop* least = *std::min_element(hops.begin(), hops.end(), [&](const Hop* a, const Hop* b) {
    return a->rates[direction] < b->rates[direction];
  });
  return {least->rates[direction], least->name};
}

/// For people: a matrix a direction.
class View {
public:
  View(const std::vector<Initiator>& from, const std::vector<std::string>& to)
      : from_(from), to_(to) {}

  void set(std::size_t from, std::size_t to, Direction direction, double rate) {
    cells_[{direction, from, to}] = fmt::format("{:.1f}", rate / 1e9);
  }

  std::string text() const {
    std::string text;
    for (const Direction direction : {kRead, kWrite, kBoth}) {
      text += fmt::format("{}{}, GB/s\n{:<12}", direction == kRead ? "" : "\n",
                          kDirections[direction], "from");
      for (const std::string& to : to_)
        text += fmt::format("  {:>10}", to);
      text += '\n';
      for (std::size_t f = 0; f < from_.size(); ++f) {
        text += fmt::format("{:<12}", from_[f].name);
        for (std::size_t t = 0; t < to_.size(); ++t) {
          const auto found = cells_.find({direction, f, t});
          text += fmt::format("  {:>10}", found == cells_.end() ? "-" : found->second);
        }
        text += '\n';
      }
    }
    return text;
  }

private:
  const std::vector<Initiator>& from_;
  const std::vector<std::string>& to_;
  std::map<std::tuple<Direction, std::size_t, std::size_t>, std::string> cells_;
};

Table matrix(const TableOptions& options) {
  const hw::Scenario scenario = scenario_of(options);
  const Memories memories = memories_of(scenario, options);
  const std::vector<Initiator> initiators = initiators_of(scenario);
  const std::vector<Hop> media = media_of(memories);
  const hw::Topology topology(scenario);
  std::vector<Hop> links;
  for (const hw::LinkSpec& link : scenario.links)
    links.push_back(hop_of(link));

  Table table;
  table.title =
      "What does each initiator get of each tier when nobody else is about?\n" +
      described(memories) +
      "\nThe slowest hop: engine, links (their wire, without bounds on bytes in flight), banks "
      "(boundary: media,\none stream in order; read+write: one of each, GB/s of both together).";
  table.columns = {key("from", "from"), key("to", "to"), key("direction", "direction"),
                   figure("GB_per_s", "GB/s", "GB/s"), text("bound_by", "bound by")};
  std::vector<std::string> names;
  for (const auto& tier : scenario.tiers)
    if (options.tiers.empty() ||
        std::find(options.tiers.begin(), options.tiers.end(), tier->name) != options.tiers.end())
      names.push_back(tier->name);
  View view(initiators, names);
  for (std::size_t f = 0; f < initiators.size(); ++f)
    for (std::size_t t = 0; t < scenario.tiers.size(); ++t) {
      const auto column = std::find(names.begin(), names.end(), scenario.tiers[t]->name);
      const hw::Path* path = topology.path(initiators[f].gpu, t);
      if (column == names.end() || path == nullptr) continue;
      std::vector<const Hop*> hops{&initiators[f].engine};
      for (const std::size_t l : *path)
        hops.push_back(&links[l]);
      for (const Hop& banks : media)
        if (banks.name == *column + ".media") hops.push_back(&banks);
      for (const Direction direction : {kRead, kWrite, kBoth}) {
        const Bound bound = bound_of(hops, direction);
        table.rows.push_back({cell(initiators[f].name), cell(*column), cell(kDirections[direction]),
                              gigabytes({bound.rate}), cell(bound.by)});
        view.set(f, static_cast<std::size_t>(column - names.begin()), direction, bound.rate);
      }
    }
  table.view = view.text();
  return table;
}

} // namespace

Suite matrix_suite() {
  return {"matrix", "GB/s from each initiator to each tier, and the hop that bounds it", matrix};
}

} // namespace umf::app
