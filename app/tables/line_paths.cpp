#include "app/tables/line_paths.h"

#include "hw/platform/topology.h"

#include <fmt/format.h>

#include <algorithm>

namespace umf::app {

namespace link = hw::link;

namespace {

/// A wire that nothing waits for.
link::LinkOptions no_wire() {
  link::LinkOptions options;
  options.name = "package";
  options.rate = link::WireRate::of({1e18});
  options.control_bytes = 0;
  options.ordered = false;
  return options;
}

/// The tier's memory; nothing for one without banks, rate and latency.
std::optional<link::MemoryOptions> memory_of(const hw::TierSpec& tier, const Memories& memories) {
  link::MemoryOptions options;
  options.queue = 1024;
  for (const DramTier& dram : memories.dram)
    if (dram.name == tier.name) {
      options.dram = dram.config;
      options.latency = dram.controller + dram.port;
      return options;
    }
  for (const SramTier& sram : memories.sram)
    if (sram.name == tier.name) {
      options.bandwidth = sram.peak();
      options.latency = sram.banks.clock * static_cast<std::int64_t>(sram.banks.config.latency) +
                        sram.banks.one_way * 2;
      return options;
    }
  if (const auto plain = tier.plain()) {
    options.bandwidth = plain->bandwidth;
    options.latency = plain->latency;
    return options;
  }
  return std::nullopt;
}

bool pcie(const hw::LinkSpec& link) {
  return std::holds_alternative<link::PcieConfig>(link.line);
}

link::NodeOptions passing(const hw::Scenario& scenario, const std::string& name) {
  link::SwitchConfig config;
  const auto found = scenario.switches.find(name);
  if (found != scenario.switches.end()) config.latency = found->second.latency;
  link::NodeOptions node;
  node.name = name;
  node.forward = link::forward_options(config);
  return node;
}

/// A way over these links, first to last; between two of them a switch, or where PCIe ends and CXL
/// begins a bridge that asks for lines.
LinePath over(const hw::Scenario& scenario, std::vector<const hw::LinkSpec*> links,
              const std::vector<std::string>& between, link::MemoryOptions memory) {
  LinePath path;
  path.memory = std::move(memory);
  path.way = hw::gpu_name(0);
  if (links.empty()) return path;
  path.requester = link::requester_options(links[0]->requester);
  const bool lines = std::holds_alternative<link::CxlConfig>(links.back()->line);
  path.memory.max_payload = lines ? 64 : path.requester.max_payload;
  for (std::size_t i = 0; i < links.size(); ++i) {
    link::NodeOptions end;
    if (i + 1 < links.size()) {
      end = passing(scenario, between[i]);
      if (pcie(*links[i]) && !pcie(*links[i + 1])) {
        end.requester = link::requester_options(links[i + 1]->requester);
        end.memory = link::MemoryOptions{};
        end.memory->latency = end.forward->latency;
        end.memory->max_payload = path.requester.max_payload;
        end.memory->queue = 1024;
        end.forward.reset();
      }
      path.way += " > " + between[i];
    }
    path.hops.push_back({links[i], end});
  }
  return path;
}

/// The other GPUs' memory, over a node that a link of each leads to.
void add_peers(std::vector<LinePath>& all, const hw::Scenario& scenario, const Memories& memories) {
  const auto hbm = std::find_if(scenario.tiers.begin(), scenario.tiers.end(), [](const auto& tier) {
    return tier->on_package() && tier->line().has_value();
  });
  if (hbm == scenario.tiers.end()) return;
  const auto memory = memory_of(**hbm, memories);
  if (!memory) return;
  for (std::uint32_t g = 1; g < scenario.general.gpus; ++g)
    for (const hw::LinkSpec& up : scenario.links)
      for (const hw::LinkSpec& down : scenario.links) {
        if (up.from != hw::gpu_name(0) || down.from != hw::gpu_name(g) || up.to != down.to ||
            pcie(up) != pcie(down))
          continue;
        LinePath path = over(scenario, {&up, &down}, {up.to}, *memory);
        path.to = hw::gpu_name(g) + "." + (*hbm)->name;
        path.way += " > " + hw::gpu_name(g);
        all.push_back(std::move(path));
      }
}

} // namespace

std::optional<BytesPerSecond> LinePath::formula(double read_share, Bytes transaction) const {
  if (hops.empty()) return std::nullopt;
  double least = 1e30;
  for (const Hop& hop : hops) {
    const link::WireCost cost =
        hop.link->options.shape.cost(static_cast<double>(transaction.count));
    const double tx = read_share * cost.read_tx + (1 - read_share) * cost.write_tx;
    const double rx =
        read_share * cost.read_rx + (1 - read_share) * (cost.write_rx + cost.write_control);
    least = std::min(least, hop.link->options.raw_bytes_per_second / std::max(tx, rx));
  }
  return BytesPerSecond{least};
}

link::Driven LinePath::drive(const link::Load& load, std::vector<std::string>* names) const {
  link::Network network;
  link::NodeOptions asker, end;
  asker.name = hw::gpu_name(0);
  asker.requester = requester;
  end.name = to;
  end.memory = memory;
  link::NodeId at = network.add(asker);
  link::Load asked = load;
  asked.from = at;
  if (hops.empty()) {
    const link::NodeId target = network.add(end);
    network.connect(at, target, no_wire());
    asked.targets = {target};
  }
  for (std::size_t i = 0; i < hops.size(); ++i) {
    const bool last = i + 1 == hops.size();
    link::NodeOptions node = last ? end : hops[i].end;
    const bool bridge = node.memory && node.requester;
    const auto next = static_cast<link::NodeId>(network.nodes());
    if (bridge) node.memory->behind = {next + 1}; // whoever is added next
    network.add(node);
    const hw::LinkSpec& spec = *hops[i].link;
    for (std::uint32_t n = 0; n < spec.count; ++n)
      network.connect(at, next, link::link_options(spec.line, spec.name));
    if ((last || bridge) && asked.targets.empty()) asked.targets = {next};
    at = next;
  }
  if (names != nullptr) {
    names->clear();
    for (link::LinkId l = 0; l < network.links(); ++l)
      for (const char* direction : {".tx", ".rx"})
        names->push_back(network.options(l).name + direction);
  }
  link::Drive how;
  how.loads = {asked};
  how.warm_up = 0.2;
  return link::drive(network, how);
}

std::vector<LinePath> line_paths(const hw::Scenario& scenario, const Memories& memories,
                                 const TableOptions& options) {
  const auto wanted = [&](const std::string& tier) {
    const auto& names = options.tiers;
    return names.empty() || std::find(names.begin(), names.end(), tier) != names.end();
  };
  const hw::Topology topology(scenario);
  std::vector<LinePath> all;
  for (std::size_t t = 0; t < scenario.tiers.size(); ++t) {
    const hw::TierSpec& tier = *scenario.tiers[t];
    if (!wanted(tier.name)) continue;
    const hw::Path* links = topology.path(0, t);
    auto memory = memory_of(tier, memories);
    if (links == nullptr || !memory) continue;
    std::vector<const hw::LinkSpec*> hops;
    std::vector<std::string> between;
    for (const std::size_t l : *links) {
      hops.push_back(&scenario.links[l]);
      between.push_back(scenario.links[l].to);
    }
    LinePath path = over(scenario, hops, between, *std::move(memory));
    path.to = tier.name;
    path.way += " > " + tier.name;
    all.push_back(std::move(path));
  }
  add_peers(all, scenario, memories);
  return all;
}

} // namespace umf::app
