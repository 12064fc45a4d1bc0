#pragma once

#include "model/base/units.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

/// Time for bursts, as a plain class with time as an argument.
namespace umf::hw {

using ResourceId = std::uint32_t;
using FlowId = std::uint32_t;
inline constexpr std::uint32_t kNoId = UINT32_MAX;

/// One resource a flow holds while it lasts. `use` is what one byte of the flow takes
/// of it: 1 for a byte of bandwidth, more where protocol bytes ride along, seconds of
/// latency where the resource is a window of bytes in flight (Little's law).
struct Hop {
  ResourceId resource = kNoId;
  double use = 1.0;
  /// Goes before whatever else the resource carries: others find less room, and the flow does not
  /// wait for it (ACKs and credits of the data of the other direction).
  bool ahead = false;
};

/// The row of consecutive bytes that a flow is a piece of; nothing given: the flow is all of it.
struct Row {
  double bytes = 0;         ///< all of them; 0: the flow's
  std::uint64_t stream = 0; ///< flows of one stream are pieces that follow each other; 0: none
};

/// Demand is served before background; a class only sees what the one before left.
enum class Urgency : std::uint8_t { demand, background };

/// Bursts as fluid flows over shared resources.
///
/// Model: every flow holds all hops of its path at once (cut-through) and has one rate;
/// rates are weighted max-min fair within an urgency class, classes in strict order. A
/// flow therefore leaves a fast hop its unused share, and ends when its slowest hop is
/// done. Rates change only when a flow starts or ends, so nothing runs between those
/// instants. (Bertsekas & Gallager, Data Networks, 6.5.2: max-min flow control.)
///
/// A resource may lose capacity when reads and writes mix (bus turnaround): its capacity
/// is then capacity × (1 − 4·loss·r·(1−r)), r = the read share of the rates it carries;
/// or what set_curve() makes of all that it carries at the time. What goes ahead takes its part of
/// that. All are found by repetition, to a thousandth.
class FlowNetwork {
public:
  ResourceId add_resource(std::string name, double capacity, double mix_loss = 0.0);
  /// What a resource carries at one time.
  struct Mix {
    double read_share = 1; ///< of its rates
    double run = 0;        ///< bytes of a row, the mean by rows: all bytes over all rows
    /// Streams (a flow of none is its own), each counted by its share of its direction's rates,
    /// 1 / Σ share²; of both directions.
    double streams = 1;
    bool operator==(const Mix&) const = default;
  };
  /// Capacity by what is carried.
  struct Curve {
    std::function<double(const Mix&)> share; ///< of `capacity`; above 1 where that is not the best
    /// No mix has less than this, > 0: where less is carried, nobody asks.
    double least = 1;
    double shortest = 1; ///< bytes: shorter rows are no worse, and count as if of this length
    /// Bytes that are under way at a time; beside others a row is worth no more than its stream's
    /// share of them, however long it is.
    double held = std::numeric_limits<double>::infinity();
  };
  void set_curve(ResourceId resource, Curve curve);
  /// From `now` ≤ next_event() on.
  void set_capacity(ResourceId resource, double capacity, Femtoseconds now);
  /// For windows that live as long as a kernel: the id may be handed out again.
  void remove_resource(ResourceId resource);

  /// Starts a flow of `bytes` > 0 at `now` ≤ next_event(). `hops` must name at least one
  /// resource; hops of no use are left out.
  FlowId start(Femtoseconds now, double bytes, const std::vector<Hop>& hops, Urgency urgency,
               bool write, std::uint64_t tag, double weight = 1.0, Row row = {});

  /// Instant of the next end of a flow; max() when none is active.
  Femtoseconds next_event();
  struct Ended {
    std::uint64_t tag = 0;
    ResourceId bottleneck = kNoId; ///< as last found
  };
  /// Moves to `now` ≤ next_event() and appends the flows that ended, oldest first.
  void advance(Femtoseconds now, std::vector<Ended>& ended);

  /// After rates are settled: the resource that holds the flow back.
  ResourceId bottleneck(FlowId flow);
  /// The same as last found, without settling.
  ResourceId last_bottleneck(FlowId flow) const { return flows_[flow].bottleneck; }
  double rate(FlowId flow);
  double remaining(FlowId flow) const { return flows_[flow].remaining; }
  bool active(FlowId flow) const { return flow < flows_.size() && flows_[flow].active; }

  const std::string& name(ResourceId resource) const { return resources_[resource].name; }
  double capacity(ResourceId resource) const { return resources_[resource].capacity; }
  /// What it carries of such a mix.
  double capacity(ResourceId resource, const Mix& mix);
  /// ∫ use · rate dt so far: units carried. Over capacity × time it is the utilisation.
  double carried(ResourceId resource) const { return resources_[resource].carried; }
  /// The same at `now`, between the last instant it was moved to and next_event().
  double carried_at(ResourceId resource, Femtoseconds now);
  /// Bytes of a flow not yet moved at `now`, likewise.
  double remaining_at(FlowId flow, Femtoseconds now);
  /// ∫ capacity dt from 0 to `now`: what it could have carried.
  double offered(ResourceId resource, Femtoseconds now) const {
    const Resource& r = resources_[resource];
    return r.offered + r.capacity * (now - r.changed).seconds();
  }
  /// Flows that hold the resource now.
  std::uint32_t users(ResourceId resource) const {
    return static_cast<std::uint32_t>(resources_[resource].members.size());
  }
  std::size_t active_flows() const { return order_.size(); }
  std::uint64_t solves() const { return solves_; }

private:
  /// A hop of an active flow; hop h of flow f lies at f × kMaxHops + h.
  struct Held {
    double use = 0;
    ResourceId resource = kNoId;
    std::uint32_t place = 0; ///< in the resource's members
  };
  struct Resource {
    std::string name;
    double capacity = 0, mix_loss = 0, carried = 0;
    double offered = 0; ///< up to the last change of capacity
    Femtoseconds changed{};
    std::uint32_t curve = kNoId;        ///< in curves_, instead of mix_loss
    std::vector<std::uint32_t> members; ///< hops of active flows, by index in held_
    std::uint32_t ahead = 0;            ///< hops besides, which wait for nothing
    std::uint32_t place = kNoId;        ///< in busy_
    bool removed = false;
  };
  /// What the solver keeps of a resource, apart so that it stays in the cache.
  struct Load {
    double room = 0; ///< capacity, less what mixing costs
    double left = 0; ///< of the room
    double read_rate = 0, write_rate = 0;
    double ahead = 0;       ///< rate of what goes ahead
    double demand = 0;      ///< Σ use · weight of the class's flows without a rate
    double all_demand = 0;  ///< as it was before any had one
    double level = 0;       ///< left / demand: the rate of weight 1 that fills it
    std::uint32_t open = 0; ///< hops counted in demand
  };
  struct Curved {
    Curve curve;
    Mix mix, known; ///< of the room; last asked for
    double known_share = 0;
    bool slack = true; ///< carried less than it always has when rates were found last
  };
  struct Flow {
    double remaining = 0, rate = 0, weight = 1;
    Row row;
    std::int64_t ends = 0;
    std::uint64_t tag = 0;
    std::uint32_t hops = 0, ahead = 0; ///< those ahead lie at the end of its part of held_
    ResourceId bottleneck = kNoId;
    Urgency urgency = Urgency::demand;
    bool write = false, active = false;
    bool has_rate = false; ///< in the running solve
    bool done = false;     ///< has moved everything, waits for advance()
  };
  static constexpr std::uint32_t kMaxHops = 24;

  std::span<Held> hops_of(FlowId flow) {
    return {&held_[std::size_t{flow} * kMaxHops], flows_[flow].hops};
  }
  std::span<Held> ahead_of(FlowId flow) {
    const std::uint32_t count = flows_[flow].ahead;
    return {&held_[std::size_t{flow} * kMaxHops + kMaxHops - count], count};
  }
  void enter(ResourceId resource);
  void quit(ResourceId resource);
  void join(FlowId flow, const Hop& hop);
  void leave(std::uint32_t held);
  void forget(FlowId flow);
  void finish(FlowId flow, double moved);
  void integrate(Femtoseconds now);

  void settle();
  void solve();
  void fill(Urgency urgency);
  ResourceId fills_first_near(FlowId flow, Urgency urgency) const;
  ResourceId lowest_hop(FlowId flow) const;
  void give_rate(FlowId flow, double level, ResourceId bottleneck);
  double count_demand(ResourceId resource, Urgency urgency) const;
  bool mixing_changes_room();
  template <class Amount>
  Mix mix_of(ResourceId resource, Amount amount);
  double curve_at(const Resource& resource, const Mix& mix);
  void guess_rooms();
  std::int64_t end_of(const Flow& flow) const;

  std::vector<Resource> resources_;
  std::vector<Load> loads_; ///< beside resources_
  std::vector<Curved> curves_;
  std::vector<ResourceId> free_resources_;
  std::vector<ResourceId> busy_; ///< resources with hops of active flows
  std::vector<Flow> flows_;
  std::vector<Held> held_;
  std::vector<FlowId> free_flows_;
  std::vector<FlowId> order_; ///< active flows by age
  struct StreamPart {
    std::uint64_t stream = 0;
    double part = 0;
    bool write = false;
  };
  std::vector<StreamPart> streams_;         ///< of mix_of()
  std::vector<std::uint32_t> member_parts_; ///< likewise: of each member, in streams_
  Femtoseconds now_{};
  std::int64_t next_end_ = 0; ///< valid while not dirty_
  std::uint64_t solves_ = 0;
  bool dirty_ = true;
};

} // namespace umf::hw
