#pragma once

#include "hw/fabric/cause.h"
#include "hw/fabric/flow_network.h"
#include "hw/fabric/observer.h"

#include <systemc>

#include <exception>
#include <vector>

namespace umf::hw {

/// sc_time of exactly `t`; the kernel's resolution is 1 fs.
inline sc_core::sc_time to_sc(Femtoseconds t) {
  return sc_core::sc_time::from_value(static_cast<sc_dt::uint64>(t.count));
}
inline Femtoseconds from_sc(const sc_core::sc_time& t) {
  return {static_cast<std::int64_t>(t.value())};
}
inline Femtoseconds sim_now() {
  return from_sc(sc_core::sc_time_stamp());
}

/// Told when one of its flows ends, and what held it back last.
class FlowListener {
public:
  virtual ~FlowListener() = default;
  virtual void flow_ended(std::uint64_t tag, ResourceId limit) = 0;
};

/// Watches the network's rates; called before and after every change of rates.
class RateWatcher {
public:
  virtual ~RateWatcher() = default;
  /// Time is about to be accounted up to now, at the rates that held so far.
  virtual void before_change(Femtoseconds now) = 0;
  /// New rates hold from now on.
  virtual void after_change(Femtoseconds now) = 0;
};

/// The one SystemC process behind all flows: wakes at the next end of a flow, never else.
class FlowClock : public sc_core::sc_module {
public:
  explicit FlowClock(sc_core::sc_module_name name);

  FlowNetwork& network() { return network_; }
  const FlowNetwork& network() const { return network_; }

  /// A resource and the cause that its queueing counts as.
  ResourceId add_resource(std::string name, double capacity, Cause cause, double mix_loss = 0.0);
  void remove_resource(ResourceId id) { network_.remove_resource(id); }
  /// From now on.
  void set_capacity(ResourceId id, double capacity);
  Cause cause_of(ResourceId id) const { return causes_[id]; }
  bool is_window(ResourceId id) const { return windows_[id]; }
  /// A window of bytes in flight: flows it holds back are latency-bound.
  ResourceId add_window(std::string name, double bytes);

  FlowId start(double bytes, const std::vector<Hop>& hops, Urgency urgency, bool write,
               FlowListener& listener, std::uint64_t tag, double weight = 1.0, Row row = {});
  void watch(RateWatcher& watcher) { watchers_.push_back(&watcher); }

  /// At most one, for the whole run; set before it begins.
  void set_observer(Observer& observer) { observer_ = &observer; }
  Observer* observer() const { return observer_; }
  /// To be called before the first change of an instant; cheap when called again.
  void observe(Femtoseconds now) {
    if (observer_ != nullptr && now >= observer_->due()) observer_->reach(now);
  }

  /// Runs a process body; an exception ends the simulation and waits for rethrow_failure()
  /// (SystemC would wrap it in a report of its own). Inside another guard the outer one acts.
  template <class Body>
  void guard(Body&& body) {
    if (guarding_) return body();
    guarding_ = true;
    try {
      body();
    } catch (...) {
      if (!failure_) failure_ = std::current_exception();
      sc_core::sc_stop();
    }
    guarding_ = false;
  }
  void rethrow_failure() const {
    if (failure_) std::rethrow_exception(failure_);
  }

private:
  struct Owner {
    FlowListener* listener = nullptr;
    std::uint64_t tag = 0;
  };

  void wake();
  void before_change();

  FlowNetwork network_;
  std::vector<Cause> causes_;
  std::vector<bool> windows_;
  std::vector<Owner> owners_;
  std::vector<std::uint32_t> free_owners_;
  std::vector<RateWatcher*> watchers_;
  Observer* observer_ = nullptr;
  std::vector<FlowNetwork::Ended> ended_;
  sc_core::sc_event due_, settle_;
  Femtoseconds accounted_{-1};
  std::exception_ptr failure_;
  bool guarding_ = false;
};

} // namespace umf::hw
