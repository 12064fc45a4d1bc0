#pragma once

#include "hw/fabric/burst.h"
#include "hw/fabric/flow_clock.h"
#include "hw/gpu/gpu.h"
#include "hw/pcie/link.h"
#include "hw/pcie/pcie.h"
#include "hw/platform/sampler.h"
#include "hw/platform/scenario.h"
#include "hw/platform/topology.h"
#include "hw/scheduler/scheduler.h"
#include "model/memory/frame_allocator.h"
#include "model/scheduler/brain.h"

#include <memory>
#include <string>
#include <vector>

namespace umf::hw {

/// A tier of the built machine. On-package memory has one instance a GPU.
struct TierInstance {
  std::string name;
  const TierSpec* spec = nullptr;
  std::uint32_t gpu = 0; ///< owner, for on-package memory
  std::unique_ptr<MediaTarget> module;
  std::unique_ptr<memory::FrameAllocator> frames;
};

/// A whole system built from a scenario: modules, sockets, routes, one brain a GPU.
/// One a process: SystemC elaborates once.
class Platform {
public:
  explicit Platform(Scenario scenario);

  std::uint32_t gpus() const { return static_cast<std::uint32_t>(gpus_.size()); }
  Gpu& gpu(std::uint32_t index) { return *gpus_[index]; }
  const Gpu& gpu(std::uint32_t index) const { return *gpus_[index]; }
  scheduler::Brain& brain(std::uint32_t gpu) { return *brains_[gpu]; }
  const scheduler::Brain& brain(std::uint32_t gpu) const { return *brains_[gpu]; }
  Scheduler& scheduler(std::uint32_t gpu) { return *schedulers_[gpu]; }
  const Scheduler& scheduler(std::uint32_t gpu) const { return *schedulers_[gpu]; }

  const std::vector<TierInstance>& tiers() const { return tiers_; }
  const std::vector<std::unique_ptr<Link>>& links() const { return links_; }
  FlowClock& clock() { return clock_; }
  const FlowClock& clock() const { return clock_; }
  const PayloadPool& payloads() const { return pool_; }
  const Scenario& scenario() const { return scenario_; }
  /// Index in tiers() of the host memory a GPU copies to and from; -1: there is none.
  int host_tier(std::uint32_t gpu) const { return host_tier_[gpu]; }

  /// What was sampled on the way; complete once run() has returned.
  const Sampler& sampler() const { return *sampler_; }

  /// S7's hook for whoever watches temperatures: spare the pool, or no more.
  void set_hot(std::size_t tier, bool hot);

  /// All that was asked for is done: a link that would change later does not make the run longer.
  void stop_changing();

  /// Runs until nothing is left to happen; rethrows what a module threw.
  void run();

private:
  void build_tiers();
  void build_interconnects();
  void build_gpu(std::uint32_t index);
  /// Tells each GPU how its ways over the link are now (S7).
  void way_changed(std::size_t link);
  void tell_way(std::uint32_t gpu, std::size_t tier);
  const Path* path(std::uint32_t gpu, std::size_t tier) const;
  Scheduler::Moved moved(std::uint32_t gpu, Femtoseconds now) const;
  BytesPerSecond hbm_peak(std::uint32_t gpu) const;

  Scenario scenario_;
  Topology topology_;
  FlowClock clock_{"clock"};
  PayloadPool pool_;
  std::vector<TierInstance> tiers_;
  std::vector<std::unique_ptr<Link>> links_;
  std::vector<std::unique_ptr<PcieSwitch>> switches_;
  std::vector<std::unique_ptr<scheduler::Brain>> brains_;
  std::vector<std::unique_ptr<Scheduler>> schedulers_;
  std::vector<std::unique_ptr<Gpu>> gpus_;
  std::vector<int> host_tier_;
  std::vector<bool> hot_; ///< by tier
  std::unique_ptr<Sampler> sampler_;
};

} // namespace umf::hw
