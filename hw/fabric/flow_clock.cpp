#include "hw/fabric/flow_clock.h"

#include <limits>

namespace umf::hw {

FlowClock::FlowClock(sc_core::sc_module_name name) : sc_core::sc_module(name) {
  sc_core::sc_spawn_options options;
  options.spawn_method();
  options.dont_initialize();
  options.set_sensitivity(&due_);
  options.set_sensitivity(&settle_);
  sc_core::sc_spawn([this] { guard([this] { wake(); }); }, "wake", &options);
}

ResourceId FlowClock::add_resource(std::string resource, double capacity, Cause cause,
                                   double mix_loss) {
  const ResourceId id = network_.add_resource(std::move(resource), capacity, mix_loss);
  if (id >= causes_.size()) {
    causes_.resize(id + 1u, Cause::idle);
    windows_.resize(id + 1u, false);
  }
  causes_[id] = cause;
  windows_[id] = false;
  return id;
}

ResourceId FlowClock::add_window(std::string resource, double bytes) {
  const ResourceId id = add_resource(std::move(resource), bytes, Cause::idle);
  windows_[id] = true;
  return id;
}

void FlowClock::set_capacity(ResourceId id, double capacity) {
  before_change();
  network_.set_capacity(id, capacity, sim_now());
  settle_.notify(sc_core::SC_ZERO_TIME);
}

FlowId FlowClock::start(double bytes, const std::vector<Hop>& hops, Urgency urgency, bool write,
                        FlowListener& listener, std::uint64_t tag, double weight, Row row) {
  before_change();
  std::uint32_t owner;
  if (free_owners_.empty()) {
    owner = static_cast<std::uint32_t>(owners_.size());
    owners_.emplace_back();
  } else {
    owner = free_owners_.back();
    free_owners_.pop_back();
  }
  owners_[owner] = {&listener, tag};
  const FlowId flow = network_.start(sim_now(), bytes, hops, urgency, write, owner, weight, row);
  settle_.notify(sc_core::SC_ZERO_TIME); // rates are found once, after this instant's starts
  return flow;
}

void FlowClock::before_change() {
  const Femtoseconds now = sim_now();
  if (now == accounted_) return;
  accounted_ = now;
  observe(now);
  for (RateWatcher* watcher : watchers_)
    watcher->before_change(now);
}

void FlowClock::wake() {
  const Femtoseconds now = sim_now();
  if (network_.next_event() <= now) {
    before_change();
    ended_.clear();
    network_.advance(now, ended_);
    for (const auto& end : ended_) {
      const Owner told = owners_[end.tag];
      free_owners_.push_back(static_cast<std::uint32_t>(end.tag));
      told.listener->flow_ended(told.tag, end.bottleneck);
    }
  }
  const Femtoseconds next = network_.next_event();
  for (RateWatcher* watcher : watchers_)
    watcher->after_change(now);
  if (next.count == std::numeric_limits<std::int64_t>::max()) return;
  due_.cancel();
  due_.notify(to_sc(next - now));
}

} // namespace umf::hw
