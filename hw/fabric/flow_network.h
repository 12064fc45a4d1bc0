#pragma once

#include "model/base/units.h"

#include <cstdint>
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
/// is then capacity × (1 − 4·loss·r·(1−r)), r = the read share of the rates it carries.
class FlowNetwork {
public:
  ResourceId add_resource(std::string name, double capacity, double mix_loss = 0.0);
  void set_capacity(ResourceId resource, double capacity, Femtoseconds now);
  /// For windows that live as long as a kernel: the id may be handed out again.
  void remove_resource(ResourceId resource);

  /// Starts a flow of `bytes` > 0 at `now`. `hops` must name at least one resource.
  FlowId start(Femtoseconds now, double bytes, const std::vector<Hop>& hops, Urgency urgency,
               bool write, std::uint64_t tag, double weight = 1.0);

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
  /// ∫ use · rate dt so far: units carried. Over capacity × time it is the utilisation.
  double carried(ResourceId resource) const { return resources_[resource].carried; }
  /// Flows that hold the resource now.
  std::uint32_t users(ResourceId resource) const { return resources_[resource].users; }
  std::size_t active_flows() const { return order_.size(); }
  std::uint64_t solves() const { return solves_; }

private:
  struct Resource {
    std::string name;
    double capacity = 0, mix_loss = 0, carried = 0;
    double left = 0, demand = 0, read_rate = 0, write_rate = 0; ///< of the running solve
    std::uint32_t users = 0;
    std::uint32_t slot = kNoId; ///< in touched_
  };
  struct Flow {
    double remaining = 0, rate = 0, weight = 1;
    std::int64_t ends = 0;
    std::uint64_t tag = 0, serial = 0;
    std::uint32_t first_hop = 0, hops = 0;
    ResourceId bottleneck = kNoId;
    Urgency urgency = Urgency::demand;
    bool write = false, active = false, frozen = false;
  };

  void settle();
  void solve();
  void solve_class(Urgency urgency);
  void freeze(Flow& flow, double level, ResourceId bottleneck);
  void apply_mix_loss();
  void integrate(Femtoseconds now);
  void forget(FlowId id);

  std::vector<Resource> resources_;
  std::vector<ResourceId> free_resources_;
  std::vector<Flow> flows_;
  std::vector<FlowId> free_flows_;
  std::vector<FlowId> order_; ///< active flows by age
  static constexpr std::uint32_t kMaxHops = 12;
  std::vector<Hop> hops_; ///< kMaxHops for each flow slot
  std::vector<ResourceId> touched_;
  Femtoseconds now_{};
  std::uint64_t serial_ = 0, solves_ = 0;
  bool dirty_ = false;
};

} // namespace umf::hw
