#include "hw/fabric/flow_network.h"

#include "model/base/error.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace umf::hw {

namespace {
constexpr double kFemto = 1e15;
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
} // namespace

ResourceId FlowNetwork::add_resource(std::string name, double capacity, double mix_loss) {
  ensure(capacity > 0, "flow network: resource without capacity");
  ResourceId id;
  if (free_resources_.empty()) {
    id = static_cast<ResourceId>(resources_.size());
    resources_.emplace_back();
  } else {
    id = free_resources_.back();
    free_resources_.pop_back();
  }
  resources_[id] = {};
  resources_[id].name = std::move(name);
  resources_[id].capacity = capacity;
  resources_[id].mix_loss = mix_loss;
  return id;
}

void FlowNetwork::set_capacity(ResourceId resource, double capacity, Femtoseconds now) {
  ensure(capacity > 0, "flow network: resource without capacity");
  settle();
  integrate(now);
  resources_[resource].capacity = capacity;
  dirty_ = true;
}

void FlowNetwork::remove_resource(ResourceId resource) {
  ensure(resources_[resource].users == 0, "flow network: removed resource is in use");
  free_resources_.push_back(resource);
}

FlowId FlowNetwork::start(Femtoseconds now, double bytes, const std::vector<Hop>& hops,
                          Urgency urgency, bool write, std::uint64_t tag, double weight) {
  ensure(bytes > 0 && !hops.empty() && hops.size() <= kMaxHops, "flow network: malformed flow");
  if (now != now_) { // several flows may start at one instant: solve once
    settle();
    integrate(now);
  }
  FlowId id;
  if (free_flows_.empty()) {
    id = static_cast<FlowId>(flows_.size());
    flows_.emplace_back();
    hops_.resize(flows_.size() * kMaxHops);
  } else {
    id = free_flows_.back();
    free_flows_.pop_back();
  }
  Flow& flow = flows_[id];
  flow = {};
  flow.remaining = bytes;
  flow.weight = weight;
  flow.tag = tag;
  flow.serial = serial_++;
  flow.first_hop = id * kMaxHops;
  flow.urgency = urgency;
  flow.write = write;
  flow.active = true;
  for (const Hop& hop : hops) {
    if (hop.use <= 0) continue;
    hops_[flow.first_hop + flow.hops++] = hop;
    ++resources_[hop.resource].users;
  }
  ensure(flow.hops > 0, "flow network: flow without a limit");
  order_.push_back(id);
  dirty_ = true;
  return id;
}

Femtoseconds FlowNetwork::next_event() {
  settle();
  std::int64_t next = kNever;
  for (const FlowId id : order_)
    next = std::min(next, flows_[id].ends);
  return {next};
}

void FlowNetwork::advance(Femtoseconds now, std::vector<Ended>& ended) {
  settle();
  integrate(now);
  std::size_t kept = 0;
  for (const FlowId id : order_) {
    Flow& flow = flows_[id];
    if (flow.ends > now.count) {
      order_[kept++] = id;
      continue;
    }
    // The rounding up of `ends` may have carried a sliver too much or left one.
    for (std::uint32_t h = 0; h < flow.hops; ++h) {
      const Hop& hop = hops_[flow.first_hop + h];
      resources_[hop.resource].carried += flow.remaining * hop.use;
    }
    flow.remaining = 0;
    ended.push_back({flow.tag, flow.bottleneck});
    forget(id);
  }
  order_.resize(kept);
}

void FlowNetwork::forget(FlowId id) {
  Flow& flow = flows_[id];
  for (std::uint32_t h = 0; h < flow.hops; ++h)
    --resources_[hops_[flow.first_hop + h].resource].users;
  flow.active = false;
  free_flows_.push_back(id);
  dirty_ = true;
}

ResourceId FlowNetwork::bottleneck(FlowId flow) {
  settle();
  return flows_[flow].bottleneck;
}

double FlowNetwork::rate(FlowId flow) {
  settle();
  return flows_[flow].rate;
}

void FlowNetwork::integrate(Femtoseconds now) {
  ensure(now >= now_, "flow network: time runs backwards");
  if (now == now_) return;
  const double seconds = (now - now_).seconds();
  for (const FlowId id : order_) {
    Flow& flow = flows_[id];
    const double moved = flow.rate * seconds;
    flow.remaining -= moved;
    for (std::uint32_t h = 0; h < flow.hops; ++h) {
      const Hop& hop = hops_[flow.first_hop + h];
      resources_[hop.resource].carried += moved * hop.use;
    }
  }
  now_ = now;
}

void FlowNetwork::settle() {
  if (!dirty_) return;
  dirty_ = false;
  ++solves_;
  touched_.clear();
  for (const FlowId id : order_) {
    const Flow& flow = flows_[id];
    for (std::uint32_t h = 0; h < flow.hops; ++h) {
      Resource& r = resources_[hops_[flow.first_hop + h].resource];
      if (r.slot != kNoId) continue;
      r.slot = static_cast<std::uint32_t>(touched_.size());
      touched_.push_back(hops_[flow.first_hop + h].resource);
      r.left = r.capacity;
    }
  }
  solve();
  apply_mix_loss();
  for (const ResourceId id : touched_)
    resources_[id].slot = kNoId;
  for (const FlowId id : order_) {
    Flow& flow = flows_[id];
    if (flow.rate <= 0) {
      flow.ends = kNever;
      continue;
    }
    const double left = std::max(flow.remaining, 0.0) / flow.rate * kFemto;
    flow.ends = left > 9e18 ? kNever : now_.count + static_cast<std::int64_t>(std::ceil(left));
  }
}

void FlowNetwork::solve() {
  for (const FlowId id : order_)
    flows_[id].frozen = false;
  solve_class(Urgency::demand);
  solve_class(Urgency::background);
}

/// Progressive filling: raise all rates together until a resource is full, freeze its
/// flows there, go on with the rest.
void FlowNetwork::solve_class(Urgency urgency) {
  for (const ResourceId id : touched_)
    resources_[id].demand = 0;
  std::size_t open = 0;
  for (const FlowId id : order_) {
    const Flow& flow = flows_[id];
    if (flow.urgency != urgency) continue;
    ++open;
    for (std::uint32_t h = 0; h < flow.hops; ++h) {
      const Hop& hop = hops_[flow.first_hop + h];
      resources_[hop.resource].demand += hop.use * flow.weight;
    }
  }
  while (open > 0) {
    double level = std::numeric_limits<double>::infinity();
    ResourceId full = kNoId;
    for (const ResourceId id : touched_) {
      const Resource& r = resources_[id];
      if (r.demand <= 0) continue;
      const double here = std::max(r.left, 0.0) / r.demand;
      if (here < level) {
        level = here;
        full = id;
      }
    }
    ensure(full != kNoId, "flow network: no limit found");
    std::size_t frozen = 0;
    for (const FlowId id : order_) {
      Flow& flow = flows_[id];
      if (flow.frozen || flow.urgency != urgency) continue;
      const Hop* const hops = &hops_[flow.first_hop];
      const bool held =
          std::any_of(hops, hops + flow.hops, [&](const Hop& hop) { return hop.resource == full; });
      if (!held) continue;
      freeze(flow, level, full);
      ++frozen;
    }
    open -= frozen;
    resources_[full].demand = 0; // rounding may leave a sliver
  }
}

void FlowNetwork::freeze(Flow& flow, double level, ResourceId bottleneck) {
  flow.frozen = true;
  flow.rate = level * flow.weight;
  flow.bottleneck = bottleneck;
  for (std::uint32_t h = 0; h < flow.hops; ++h) {
    const Hop& hop = hops_[flow.first_hop + h];
    Resource& r = resources_[hop.resource];
    r.left -= hop.use * flow.rate;
    r.demand -= hop.use * flow.weight;
    if (r.demand < 1e-12 * hop.use * flow.weight) r.demand = 0;
  }
}

/// Second pass where reads and writes meet on a resource that loses by it.
void FlowNetwork::apply_mix_loss() {
  for (const ResourceId id : touched_)
    resources_[id].read_rate = resources_[id].write_rate = 0;
  for (const FlowId id : order_) {
    const Flow& flow = flows_[id];
    for (std::uint32_t h = 0; h < flow.hops; ++h) {
      const Hop& hop = hops_[flow.first_hop + h];
      Resource& r = resources_[hop.resource];
      (flow.write ? r.write_rate : r.read_rate) += hop.use * flow.rate;
    }
  }
  bool again = false;
  for (const ResourceId id : touched_) {
    Resource& r = resources_[id];
    const double total = r.read_rate + r.write_rate;
    const double share = total > 0 ? r.read_rate / total : 1.0;
    const double loss = 4 * r.mix_loss * share * (1 - share);
    r.left = r.capacity * (1 - loss);
    again = again || (loss > 0 && total > r.left);
  }
  if (again) solve();
}

} // namespace umf::hw
