#include "hw/pcie/link.h"

#include "model/energy/energy.h"

#include <algorithm>

namespace umf::hw {

namespace {
/// A link in recovery: a flow keeps a rate, but moves less than a byte in a thousand seconds.
constexpr double kDown = 1e-3;
} // namespace

Link::Link(sc_core::sc_module_name module, FlowClock& clock, Options options)
    : Interconnect(module), clock_(clock), options_(std::move(options)),
      raw_(options_.raw_bytes_per_second), read_cost_(options_.shape.cost().read_rx) {
  tx_ = clock.add_resource(options_.name + ".tx", options_.raw_bytes_per_second,
                           Cause::link_bandwidth);
  rx_ = clock.add_resource(options_.name + ".rx", options_.raw_bytes_per_second,
                           Cause::link_bandwidth);
  if (options_.read_window_bytes > 0)
    read_window_ = clock.add_window(options_.name + ".tags", options_.read_window_bytes);
  if (options_.changes.empty()) return;
  sc_core::sc_spawn_options method;
  method.spawn_method();
  method.dont_initialize();
  method.set_sensitivity(&train_);
  sc_core::sc_spawn([this] { clock_.guard([this] { train(); }); }, "train", &method);
  train_.notify(to_sc(options_.changes.front().at));
}

void Link::set_rate(double raw_bytes_per_second) {
  clock_.set_capacity(tx_, raw_bytes_per_second);
  clock_.set_capacity(rx_, raw_bytes_per_second);
}

/// Down for the recovery time where it trains, then at the new rate until the next change.
void Link::train() {
  const auto& changes = options_.changes;
  const Options::Change& change = changes[trained_];
  if (change.trains && !recovering_ && options_.recovery.count > 0) {
    recovering_ = true;
    set_rate(kDown);
    train_.notify(to_sc(options_.recovery));
    return;
  }
  recovering_ = false;
  set_rate(change.raw_bytes_per_second);
  raw_ = change.raw_bytes_per_second;
  errors_ = change.errors;
  ++trained_;
  if (changed_) changed_();
  if (trained_ < changes.size())
    train_.notify(to_sc(std::max(Femtoseconds{0}, changes[trained_].at - sim_now())));
}

void Link::stop_changing() {
  options_.changes.resize(std::min(options_.changes.size(), trained_ + recovering_));
  if (!recovering_) train_.cancel();
}

void Link::forward(const tlm::tlm_generic_payload& payload, Burst& burst) {
  const double length = payload.get_data_length();
  const link::WireCost cost = options_.shape.cost(length);
  const bool write = payload.is_write();
  (write ? statistics_.tx_in : statistics_.rx_in) += payload.get_data_length();
  burst.add_hop(tx_, write ? cost.write_tx : cost.read_tx);
  // Who answers a write does not know that it was not urgent, nor does the link: its completions
  // do not wait for reads' data.
  const bool unasked = write && burst.urgency == Urgency::background;
  burst.add_hop(rx_, !write ? cost.read_rx : unasked ? 0.0 : cost.write_rx);
  const double ahead = cost.write_control + (unasked ? cost.write_rx : 0.0);
  if (write && ahead > 0) burst.add_hop_ahead(rx_, ahead);
  if (!write && read_window_ != kNoId)
    burst.add_window(read_window_, {}, options_.shape.held(length));
  const bool answered = !write || !options_.posted_writes;
  burst.add_latency(Cause::link_latency, options_.one_way * (answered ? 2 : 1));
}

void Link::back(const tlm::tlm_generic_payload& payload, Burst& burst) {
  const bool write = payload.is_write();
  const double length = payload.get_data_length();
  const link::WireCost cost = options_.shape.cost(length);
  (write ? statistics_.tx_out : statistics_.rx_out) += payload.get_data_length();
  const Femtojoules tx =
      energy::of_wire(length * (write ? cost.write_tx : cost.read_tx), options_.energy);
  const Femtojoules rx = energy::of_wire(
      length * (write ? cost.write_rx + cost.write_control : cost.read_rx), options_.energy);
  statistics_.tx_energy += tx;
  statistics_.rx_energy += rx;
  burst.energy += tx + rx;
}

} // namespace umf::hw
