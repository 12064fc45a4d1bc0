#include "hw/platform/topology.h"

#include "model/base/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <set>

namespace umf::hw {

namespace {

const TierSpec* tier_named(const Scenario& scenario, const std::string& name) {
  for (const auto& tier : scenario.tiers)
    if (tier->name == name) return tier.get();
  return nullptr;
}

bool is_gpu(const Scenario& scenario, const std::string& name) {
  for (std::uint32_t g = 0; g < scenario.general.gpus; ++g)
    if (name == gpu_name(g)) return true;
  return false;
}

/// Breadth first: the links that lead to each reachable node.
std::map<std::string, Path> reach(const Scenario& scenario, const std::string& start) {
  std::map<std::string, Path> found{{start, {}}};
  std::deque<std::string> open{start};
  while (!open.empty()) {
    const std::string node = open.front();
    open.pop_front();
    for (std::size_t l = 0; l < scenario.links.size(); ++l) {
      const LinkSpec& link = scenario.links[l];
      if (link.from != node || found.count(link.to) > 0) continue;
      Path path = found[node];
      path.push_back(l);
      found.emplace(link.to, path);
      open.push_back(link.to);
    }
  }
  return found;
}

} // namespace

Topology::Topology(const Scenario& scenario) {
  std::set<std::string> switches;
  for (const LinkSpec& link : scenario.links)
    for (const std::string& end : {link.from, link.to})
      if (!is_gpu(scenario, end) && tier_named(scenario, end) == nullptr) switches.insert(end);
  switches_.assign(switches.begin(), switches.end());

  for (std::uint32_t g = 0; g < scenario.general.gpus; ++g) {
    const auto found = reach(scenario, gpu_name(g));
    for (std::size_t t = 0; t < scenario.tiers.size(); ++t) {
      const TierSpec& tier = *scenario.tiers[t];
      const auto it = found.find(tier.name);
      if (tier.on_package())
        paths_[{g, t}] = {};
      else if (it != found.end())
        paths_[{g, t}] = it->second;
    }
  }
}

const Path* Topology::path(std::uint32_t gpu, std::size_t tier) const {
  const auto it = paths_.find({gpu, tier});
  return it == paths_.end() ? nullptr : &it->second;
}

namespace {

std::vector<std::string> node_names(const Scenario& scenario) {
  std::vector<std::string> names;
  for (std::uint32_t g = 0; g < scenario.general.gpus; ++g)
    names.push_back(gpu_name(g));
  for (const auto& tier : scenario.tiers)
    names.push_back(tier->name);
  for (const auto& [name, config] : scenario.switches)
    names.push_back(name);
  return names;
}

/// A switch is an end that some link leads to and some link leaves.
void check_ends(Scenario& scenario, const Topology& topology) {
  for (const std::string& node : topology.switches()) {
    const LinkSpec* in = nullptr;
    const LinkSpec* out = nullptr;
    for (const LinkSpec& link : scenario.links) {
      if (link.to == node) in = &link;
      if (link.from == node) out = &link;
    }
    if (in != nullptr && out != nullptr) continue;
    const std::string near = nearest(node, node_names(scenario));
    const std::string key = (in != nullptr ? in->pointer + "/to" : out->pointer + "/from");
    scenario.keys.fault(scenario.keys.place_of(key),
                        fmt::format("nothing is called '{}'{}, expected a GPU, a tier or a switch "
                                    "that links lead to and leave",
                                    node, near.empty() ? "" : " (did you mean '" + near + "'?)"));
  }
  for (const LinkSpec& link : scenario.links) {
    if (is_gpu(scenario, link.to))
      scenario.keys.fault(scenario.keys.place_of(link.pointer + "/to"),
                          "a link leads away from a GPU, expected a switch or a tier");
    const TierSpec* from = tier_named(scenario, link.from);
    const TierSpec* to = tier_named(scenario, link.to);
    if (from != nullptr || (to != nullptr && to->on_package()))
      scenario.keys.fault(
          scenario.keys.place_of(link.pointer + (from != nullptr ? "/from" : "/to")),
          "a tier ends a path and memory on the package needs no link, expected a GPU or switch to "
          "a tier off the "
          "package");
  }
}

void check_tier(Scenario& scenario, const Topology& topology, std::size_t index) {
  const TierSpec& tier = *scenario.tiers[index];
  const auto fault = [&](const std::string& key, const std::string& message) {
    scenario.keys.fault(scenario.keys.place_of(tier.pointer + key), message);
  };
  std::size_t reached = 0;
  for (std::uint32_t g = 0; g < scenario.general.gpus; ++g) {
    const Path* path = topology.path(g, index);
    if (path == nullptr) continue;
    ++reached;
    if (path->empty()) continue;
    constexpr std::size_t kMostLinks = 6; // what a burst's extension holds
    if (path->size() > kMostLinks)
      fault("", fmt::format("{} links lie between it and {}, expected at most {}", path->size(),
                            gpu_name(g), kMostLinks));
    const LinkSpec& last = scenario.links[path->back()];
    if (!tier.behind().empty() && last.from != tier.behind())
      fault("/behind", fmt::format("it hangs on '{}' by link '{}', expected '{}' as said",
                                   last.from, last.name, tier.behind()));
    if (!tier.asked() || scenario.keys.overridden(tier.pointer + "/bandwidth")) continue;
    for (const std::size_t l : *path) {
      const LinkSpec& link = scenario.links[l];
      if (tier.asked()->value <= link.read_bound.value) continue;
      fault("/bandwidth",
            fmt::format("{} cannot pass link '{}', {} parallel link(s) that carry at most {:.1f} "
                        "GB/s of reads; expected \"count\": {:.0f} there (or \"override\": true)",
                        print(*tier.asked()), link.name, link.count, link.read_bound.value / 1e9,
                        std::ceil(tier.asked()->value / link.read_bound.value * link.count)));
    }
  }
  if (reached == 0)
    fault("",
          fmt::format("no GPU reaches tier '{}', expected a path of links from gpu0", tier.name));
}

} // namespace

void check_topology(Scenario& scenario) {
  const Topology topology(scenario);
  check_ends(scenario, topology);
  bool hbm = false;
  for (std::size_t t = 0; t < scenario.tiers.size(); ++t) {
    check_tier(scenario, topology, t);
    hbm = hbm || scenario.tiers[t]->tier_class() == policy::TierClass::hbm;
    const Bytes capacity = scenario.tiers[t]->capacity();
    if (capacity < scenario.scheduler.page)
      scenario.keys.fault(scenario.keys.place_of(scenario.tiers[t]->pointer + "/capacity"),
                          fmt::format("{} is less than a page, expected at least {}",
                                      print(capacity), print(scenario.scheduler.page)));
  }
  if (!hbm) {
    Place place;
    place.pointer = "/tiers";
    scenario.keys.fault(place, "no tier of kind \"hbm\", expected one");
  }
}

} // namespace umf::hw
