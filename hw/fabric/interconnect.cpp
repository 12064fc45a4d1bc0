#include "hw/fabric/interconnect.h"

namespace umf::hw {

Interconnect::Interconnect(sc_core::sc_module_name name) : sc_core::sc_module(name) {
  in.register_nb_transport_fw(this, &Interconnect::nb_transport_fw);
  out.register_nb_transport_bw(this, &Interconnect::nb_transport_bw);
}

tlm::tlm_sync_enum Interconnect::nb_transport_fw(int upstream, tlm::tlm_generic_payload& payload,
                                                 tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  Burst& burst = burst_of(payload);
  if (phase == tlm::BEGIN_REQ) {
    burst.push_route(static_cast<std::size_t>(upstream));
    forward(payload, burst);
  }
  return out[static_cast<unsigned>(route(payload, burst))]->nb_transport_fw(payload, phase, delay);
}

tlm::tlm_sync_enum Interconnect::nb_transport_bw(int, tlm::tlm_generic_payload& payload,
                                                 tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  Burst& burst = burst_of(payload);
  const std::size_t upstream = burst.pop_route();
  back(payload, burst);
  return in[static_cast<unsigned>(upstream)]->nb_transport_bw(payload, phase, delay);
}

} // namespace umf::hw
