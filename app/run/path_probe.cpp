#include "app/run/path_probe.h"

#include "model/base/error.h"

#include <algorithm>
#include <limits>

namespace umf::app {

namespace {

using Payload = tlm::tlm_generic_payload;

/// Stands where the scheduler does, on a socket of its own to each memory.
class Probe : public sc_core::sc_module {
public:
  tlm_utils::multi_passthrough_initiator_socket<Probe> out{"out"};

  Probe(sc_core::sc_module_name name, hw::Platform& platform, std::uint32_t gpu)
      : sc_core::sc_module(name), platform_(platform), pool_(platform.scenario().scheduler.page),
        gpu_(gpu) {
    out.register_nb_transport_bw(this, &Probe::back);
    const hw::Topology topology(platform.scenario());
    for (std::size_t t = 0; t < platform.tiers().size(); ++t) {
      const hw::TierInstance& tier = platform.tiers()[t];
      const auto& specs = platform.scenario().tiers;
      const auto spec = std::find_if(specs.begin(), specs.end(),
                                     [&](const auto& s) { return s.get() == tier.spec; });
      const hw::Path* path = topology.path(gpu, static_cast<std::size_t>(spec - specs.begin()));
      if (path == nullptr || (tier.spec->on_package() && tier.gpu != gpu)) continue;
      if (path->empty())
        out.bind(tier.module->in);
      else
        out.bind(platform.links()[path->front()]->in);
      tiers_.push_back(static_cast<std::uint16_t>(t));
    }
    figures_.resize(tiers_.size());
    sc_core::sc_spawn_options options;
    options.spawn_method();
    sc_core::sc_spawn([this] { platform_.clock().guard([this] { ask(); }); }, "ask", &options);
  }

  const std::vector<PathFigures>& figures() const { return figures_; }

private:
  void ask() {
    for (std::size_t i = 0; i < tiers_.size(); ++i) {
      figures_[i].tier = platform_.tiers()[tiers_[i]].name;
      figures_[i].kind = platform_.tiers()[tiers_[i]].spec->tier_class();
      for (const bool write : {false, true}) {
        Payload& payload = pool_.acquire(write, hw::physical_address(tiers_[i], 0),
                                         platform_.scenario().scheduler.page);
        hw::Burst& burst = hw::burst_of(payload);
        burst.token = i;
        burst.gpu = gpu_;
        burst.tier = tiers_[i];
        burst.purpose = hw::Purpose::migration;
        tlm::tlm_phase phase = tlm::BEGIN_REQ;
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        out[static_cast<int>(i)]->nb_transport_fw(payload, phase, delay);
      }
    }
  }

  tlm::tlm_sync_enum back(int, Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time&) {
    if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
    const hw::Burst& burst = hw::burst_of(payload);
    PathFigures& figures = figures_[burst.token];
    const hw::FlowNetwork::Mix alone{payload.is_write() ? 0.0 : 1.0,
                                     static_cast<double>(payload.get_data_length())};
    double rate = std::numeric_limits<double>::infinity();
    for (std::size_t h = 0; h < burst.hop_count; ++h)
      if (burst.hops[h].use > 0)
        rate = std::min(rate, platform_.clock().network().capacity(burst.hops[h].resource, alone) /
                                  burst.hops[h].use);
    (payload.is_write() ? figures.write : figures.read) = {rate};
    if (payload.is_read()) figures.latency = burst.total_latency();
    payload.release();
    return tlm::TLM_COMPLETED;
  }

  hw::Platform& platform_;
  hw::PayloadPool pool_;
  std::uint32_t gpu_;
  std::vector<std::uint16_t> tiers_;
  std::vector<PathFigures> figures_;
};

} // namespace

std::vector<PathFigures> probe_paths(hw::Platform& platform, std::uint32_t gpu) {
  const Probe probe("probe", platform, gpu);
  platform.run();
  return probe.figures();
}

} // namespace umf::app
