#include "hw/fabric/flow_network.h"

#include "model/base/error.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace umf::hw {

namespace {
constexpr double kFemto = 1e15;
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
/// A few units in the last place of a double: noise of one division, not time.
constexpr double kNoise = 1e-15;
constexpr double kMixTolerance = 1e-3;
constexpr int kMixPasses = 6;
constexpr double kLeast = 1e-3; ///< of its room, whatever goes ahead

bool close(const FlowNetwork::Mix& a, const FlowNetwork::Mix& b) {
  return std::abs(a.read_share - b.read_share) < kMixTolerance &&
         std::abs(a.run - b.run) < kMixTolerance * b.run &&
         std::abs(a.streams - b.streams) < kMixTolerance * b.streams;
}
} // namespace

ResourceId FlowNetwork::add_resource(std::string name, double capacity, double mix_loss) {
  ensure(capacity > 0, "flow network: resource without capacity");
  ensure(mix_loss >= 0 && mix_loss < 1, "flow network: mixing may not cost the whole capacity");
  ResourceId id;
  if (free_resources_.empty()) {
    id = static_cast<ResourceId>(resources_.size());
    resources_.emplace_back();
    loads_.emplace_back();
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

void FlowNetwork::set_curve(ResourceId resource, Curve curve) {
  ensure(curve.least > 0, "flow network: mixing may not cost the whole capacity");
  resources_[resource].curve = static_cast<std::uint32_t>(curves_.size());
  curves_.push_back({std::move(curve), {}, {}});
}

/// Room for a mix; what was asked for last is asked for again more often than not.
double FlowNetwork::curve_at(const Resource& resource, const Mix& mix) {
  Curved& curved = curves_[resource.curve];
  if (curved.known_share == 0 || mix != curved.known) {
    curved.known = mix;
    curved.known_share = std::max(curved.curve.share(mix), curved.curve.least);
  }
  return resource.capacity * curved.known_share;
}

double FlowNetwork::capacity(ResourceId id, const Mix& mix) {
  const Resource& resource = resources_[id];
  if (resource.curve != kNoId) return curve_at(resource, mix);
  return resource.capacity * (1 - 4 * resource.mix_loss * mix.read_share * (1 - mix.read_share));
}

/// `amount` says how much each flow counts.
template <class Amount>
FlowNetwork::Mix FlowNetwork::mix_of(ResourceId id, Amount amount) {
  const Resource& resource = resources_[id];
  const auto each = [&](auto visit) {
    std::size_t member = 0;
    for (const std::uint32_t held : resource.members)
      if (const Flow& flow = flows_[held / kMaxHops]; !flow.done)
        visit(member++, flow, held_[held].use * amount(flow));
  };
  streams_.clear();
  member_parts_.clear();
  each([&](std::size_t, const Flow& flow, double part) {
    std::size_t s = streams_.size();
    if (flow.row.stream != 0)
      for (s = 0; s < streams_.size(); ++s)
        if (streams_[s].stream == flow.row.stream && streams_[s].write == flow.write) break;
    if (s == streams_.size()) streams_.push_back({flow.row.stream, 0, flow.write});
    streams_[s].part += part;
    member_parts_.push_back(static_cast<std::uint32_t>(s));
  });
  double sums[2] = {}, squares[2] = {}; // by direction
  for (const StreamPart& stream : streams_) {
    sums[stream.write] += stream.part;
    squares[stream.write] += stream.part * stream.part;
  }
  const double sum = sums[0] + sums[1];
  if (sum == 0) return {};
  const Curve& curve = curves_[resource.curve].curve;
  double rows = 0;
  each([&](std::size_t member, const Flow& flow, double part) {
    const double stream = streams_[member_parts_[member]].part;
    // What of a lone stream is not there yet comes next.
    const double length =
        stream < sum ? std::min(flow.row.bytes, curve.held * stream / sum) : flow.row.bytes;
    rows += part / std::max(length, curve.shortest);
  });
  double streams = 0;
  for (const bool write : {false, true})
    if (sums[write] > 0) streams += sums[write] * sums[write] / squares[write];
  return {sums[0] / sum, sum / rows, streams};
}

void FlowNetwork::set_capacity(ResourceId resource, double capacity, Femtoseconds now) {
  ensure(capacity > 0, "flow network: resource without capacity");
  settle();
  integrate(now);
  Resource& changed = resources_[resource];
  changed.offered = offered(resource, now);
  changed.changed = now;
  changed.capacity = capacity;
  dirty_ = true;
}

void FlowNetwork::remove_resource(ResourceId resource) {
  ensure(users(resource) == 0, "flow network: removed resource is in use");
  ensure(!resources_[resource].removed, "flow network: resource removed twice");
  resources_[resource].removed = true;
  free_resources_.push_back(resource);
}

FlowId FlowNetwork::start(Femtoseconds now, double bytes, const std::vector<Hop>& hops,
                          Urgency urgency, bool write, std::uint64_t tag, double weight, Row row) {
  ensure(bytes > 0 && weight > 0 && hops.size() <= kMaxHops, "flow network: malformed flow");
  if (now != now_) { // several flows may start at one instant: solve once
    settle();
    integrate(now);
  }
  FlowId id;
  if (free_flows_.empty()) {
    id = static_cast<FlowId>(flows_.size());
    flows_.emplace_back();
    held_.resize(flows_.size() * kMaxHops);
  } else {
    id = free_flows_.back();
    free_flows_.pop_back();
  }
  Flow& flow = flows_[id];
  flow = {};
  flow.remaining = bytes;
  flow.row = row;
  if (row.bytes == 0) flow.row.bytes = bytes;
  flow.weight = weight;
  flow.tag = tag;
  flow.urgency = urgency;
  flow.write = write;
  flow.active = true;
  for (const Hop& hop : hops)
    join(id, hop);
  ensure(flow.hops > 0, "flow network: flow without a limit");
  order_.push_back(id);
  dirty_ = true;
  return id;
}

void FlowNetwork::join(FlowId id, const Hop& hop) {
  ensure(hop.use >= 0, "flow network: hop of negative use");
  if (hop.use == 0) return;
  for (Held& met : hop.ahead ? ahead_of(id) : hops_of(id))
    if (met.resource == hop.resource) { // passed twice: one hop of both uses
      met.use += hop.use;
      return;
    }
  ensure(hop.resource < resources_.size() && !resources_[hop.resource].removed,
         "flow network: hop over a resource that does not exist");
  enter(hop.resource);
  Resource& resource = resources_[hop.resource];
  if (hop.ahead) {
    held_[id * kMaxHops + kMaxHops - ++flows_[id].ahead] = {hop.use, hop.resource, 0};
    ++resource.ahead;
    return;
  }
  const std::uint32_t held = id * kMaxHops + flows_[id].hops++;
  held_[held] = {hop.use, hop.resource, static_cast<std::uint32_t>(resource.members.size())};
  resource.members.push_back(held);
}

/// Before a hop of it is counted.
void FlowNetwork::enter(ResourceId id) {
  Resource& resource = resources_[id];
  if (!resource.members.empty() || resource.ahead > 0) return;
  resource.place = static_cast<std::uint32_t>(busy_.size());
  busy_.push_back(id);
}

/// After a hop of it is gone.
void FlowNetwork::quit(ResourceId id) {
  Resource& resource = resources_[id];
  if (!resource.members.empty() || resource.ahead > 0) return;
  busy_[resource.place] = busy_.back();
  resources_[busy_.back()].place = resource.place;
  busy_.pop_back();
}

void FlowNetwork::leave(std::uint32_t held) {
  Resource& resource = resources_[held_[held].resource];
  const std::uint32_t last = resource.members.back();
  resource.members[held_[held].place] = last;
  held_[last].place = held_[held].place;
  resource.members.pop_back();
  quit(held_[held].resource);
}

void FlowNetwork::forget(FlowId id) {
  for (std::uint32_t h = 0; h < flows_[id].hops; ++h)
    leave(id * kMaxHops + h);
  for (const Held& hop : ahead_of(id)) {
    --resources_[hop.resource].ahead;
    quit(hop.resource);
  }
  flows_[id].active = false;
  free_flows_.push_back(id);
  dirty_ = true;
}

Femtoseconds FlowNetwork::next_event() {
  settle();
  return {next_end_};
}

void FlowNetwork::advance(Femtoseconds now, std::vector<Ended>& ended) {
  settle();
  integrate(now);
  if (next_end_ > now.count) return;
  std::size_t kept = 0;
  for (const FlowId id : order_) {
    if (!flows_[id].done) {
      order_[kept++] = id;
      continue;
    }
    ended.push_back({flows_[id].tag, flows_[id].bottleneck});
    forget(id);
  }
  order_.resize(kept);
}

ResourceId FlowNetwork::bottleneck(FlowId flow) {
  settle();
  return flows_[flow].bottleneck;
}

double FlowNetwork::rate(FlowId flow) {
  settle();
  return flows_[flow].rate;
}

double FlowNetwork::carried_at(ResourceId resource, Femtoseconds now) {
  settle();
  const Resource& r = resources_[resource];
  if (r.members.empty() && r.ahead == 0) return r.carried; // its load is of another time
  const Load& load = loads_[resource];
  return r.carried + (load.read_rate + load.write_rate + load.ahead) * (now - now_).seconds();
}

double FlowNetwork::remaining_at(FlowId flow, Femtoseconds now) {
  settle();
  return std::max(flows_[flow].remaining - flows_[flow].rate * (now - now_).seconds(), 0.0);
}

/// Moves all flows to `now` at the rates that held since.
void FlowNetwork::integrate(Femtoseconds now) {
  ensure(now >= now_, "flow network: time runs backwards");
  ensure(now.count <= next_end_, "flow network: the end of a flow was passed over");
  const double seconds = (now - now_).seconds();
  now_ = now;
  if (seconds > 0)
    for (const ResourceId id : busy_) {
      const Load& load = loads_[id];
      resources_[id].carried += (load.read_rate + load.write_rate + load.ahead) * seconds;
    }
  for (const FlowId id : order_) {
    Flow& flow = flows_[id];
    if (flow.done) continue;
    const double moved = flow.rate * seconds;
    if (flow.ends <= now.count)
      finish(id, moved);
    else
      flow.remaining -= moved;
  }
}

/// An end is a whole femtosecond: the last step carried a sliver too much or too little.
void FlowNetwork::finish(FlowId id, double moved) {
  Flow& flow = flows_[id];
  for (const auto& hops : {hops_of(id), ahead_of(id)})
    for (const Held& hop : hops)
      resources_[hop.resource].carried += (flow.remaining - moved) * hop.use;
  flow.remaining = 0;
  flow.rate = 0;
  flow.done = true;
}

void FlowNetwork::settle() {
  if (!dirty_) return;
  dirty_ = false;
  ++solves_;
  solve();
  next_end_ = kNever;
  for (const FlowId id : order_) {
    Flow& flow = flows_[id];
    if (!flow.done) flow.ends = end_of(flow);
    next_end_ = std::min(next_end_, flow.ends);
  }
}

/// At the present rate, rounded up to a whole femtosecond.
std::int64_t FlowNetwork::end_of(const Flow& flow) const {
  if (flow.rate <= 0) return kNever;
  const double left = std::max(flow.remaining, 0.0) * kFemto / flow.rate * (1 - kNoise);
  if (left >= static_cast<double>(kNever - now_.count)) return kNever;
  return now_.count + static_cast<std::int64_t>(std::ceil(left));
}

/// Room to begin with: as if all flows had rates in proportion to their weights, which they have
/// where nothing else holds them back.
void FlowNetwork::guess_rooms() {
  for (const ResourceId id : busy_) {
    const Resource& resource = resources_[id];
    loads_[id].room = resource.capacity;
    if (resource.curve == kNoId) continue;
    Curved& curve = curves_[resource.curve];
    curve.mix = {};
    if (curve.slack) continue;
    curve.mix = mix_of(id, [](const Flow& flow) { return flow.weight; });
    if (curve.mix.run > 0) loads_[id].room = curve_at(resource, curve.mix);
  }
}

void FlowNetwork::solve() {
  guess_rooms();
  for (int pass = 0;; ++pass) {
    for (const ResourceId id : busy_) {
      Load& load = loads_[id];
      load.left = load.room;
      load.read_rate = load.write_rate = load.ahead = 0;
    }
    bool background = false;
    for (const FlowId id : order_) {
      flows_[id].has_rate = flows_[id].done;
      background |= flows_[id].urgency == Urgency::background;
    }
    fill(Urgency::demand);
    if (background) fill(Urgency::background);
    if (!mixing_changes_room() || pass == kMixPasses) return;
  }
}

/// Max-min by local search. As rates are given, the levels of the other resources only
/// rise; so a resource that is the lowest hop of all its flows fills first among all that
/// could change it, and its flows can have their rate whatever happens elsewhere.
void FlowNetwork::fill(Urgency urgency) {
  for (const FlowId id : order_) {
    const Flow& flow = flows_[id];
    if (flow.has_rate || flow.urgency != urgency) continue;
    for (const Held& hop : hops_of(id)) {
      Load& load = loads_[hop.resource];
      if (load.open++ == 0) load.demand = 0;
      load.demand += hop.use * flow.weight;
    }
  }
  for (const ResourceId id : busy_) {
    Load& load = loads_[id];
    if (load.open == 0) continue;
    load.all_demand = load.demand;
    load.level = std::max(load.left, 0.0) / load.demand;
  }
  for (const FlowId id : order_) {
    while (!flows_[id].has_rate && flows_[id].urgency == urgency) {
      const ResourceId full = fills_first_near(id, urgency);
      const double level = loads_[full].level;
      for (const std::uint32_t held : resources_[full].members) {
        const FlowId other = held / kMaxHops;
        if (!flows_[other].has_rate && flows_[other].urgency == urgency)
          give_rate(other, level, full);
      }
    }
  }
}

/// From the flow's lowest hop downhill until no flow of the resource has a lower one.
ResourceId FlowNetwork::fills_first_near(FlowId id, Urgency urgency) const {
  ResourceId lowest = lowest_hop(id);
  for (std::size_t m = 0; m < resources_[lowest].members.size();) {
    const FlowId other = resources_[lowest].members[m++] / kMaxHops;
    if (flows_[other].has_rate || flows_[other].urgency != urgency) continue;
    const ResourceId hop = lowest_hop(other);
    if (!(loads_[hop].level < loads_[lowest].level)) continue;
    lowest = hop;
    m = 0;
  }
  return lowest;
}

ResourceId FlowNetwork::lowest_hop(FlowId id) const {
  const Held* hops = &held_[std::size_t{id} * kMaxHops];
  ResourceId lowest = hops->resource;
  double level = loads_[lowest].level;
  for (std::uint32_t h = 1; h < flows_[id].hops; ++h) {
    const double here = loads_[hops[h].resource].level;
    const bool below = here < level; // no branch: it would be mispredicted half of the time
    level = below ? here : level;
    lowest = below ? hops[h].resource : lowest;
  }
  return lowest;
}

void FlowNetwork::give_rate(FlowId id, double level, ResourceId bottleneck) {
  Flow& flow = flows_[id];
  flow.has_rate = true;
  flow.rate = level * flow.weight;
  flow.bottleneck = bottleneck;
  for (const Held& hop : ahead_of(id))
    loads_[hop.resource].ahead += hop.use * flow.rate;
  for (const Held& hop : hops_of(id)) {
    Load& load = loads_[hop.resource];
    const double rate = hop.use * flow.rate;
    load.left -= rate;
    (flow.write ? load.write_rate : load.read_rate) += rate;
    if (--load.open == 0) continue;
    load.demand -= hop.use * flow.weight;
    if (load.demand < 1e-3 * load.all_demand) // mostly rounding by now
      load.demand = load.all_demand = count_demand(hop.resource, flow.urgency);
    load.level = std::max(load.left, 0.0) / load.demand;
  }
}

double FlowNetwork::count_demand(ResourceId resource, Urgency urgency) const {
  double demand = 0;
  for (const std::uint32_t held : resources_[resource].members) {
    const Flow& flow = flows_[held / kMaxHops];
    if (!flow.has_rate && flow.urgency == urgency) demand += held_[held].use * flow.weight;
  }
  return demand;
}

/// Where what a full resource carries, or what goes ahead, costs it capacity, its room follows the
/// rates just found.
/// Whether rates must be found again.
bool FlowNetwork::mixing_changes_room() {
  bool again = false;
  for (const ResourceId id : busy_) {
    const Resource& resource = resources_[id];
    Load& load = loads_[id];
    const double total = load.read_rate + load.write_rate;
    if (total == 0) continue;
    const bool changes = load.ahead > 0 || load.room != resource.capacity;
    if (resource.mix_loss == 0 && resource.curve == kNoId && !changes) continue;
    double room;
    if (resource.curve == kNoId) {
      room = capacity(id, {load.read_rate / total});
      room = std::max(room - load.ahead, room * kLeast);
    } else {
      Curved& curve = curves_[resource.curve];
      curve.slack = total <= curve.curve.least * resource.capacity;
      if (curve.slack) continue;
      const Mix mix = mix_of(id, [](const Flow& flow) { return flow.rate; });
      if (close(mix, curve.mix)) continue;
      curve.mix = mix;
      room = curve_at(resource, mix);
    }
    const bool limits = total > std::min(room, load.room) * (1 - 1e-9);
    again |= limits && std::abs(room - load.room) > kMixTolerance * resource.capacity;
    load.room = room;
  }
  return again;
}

} // namespace umf::hw
