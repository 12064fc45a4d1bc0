#include "hw/fabric/interconnect.h"

#include "model/base/error.h"

namespace umf::hw {

bool RequestQueue::send(tlm::tlm_fw_transport_if<>& target, Payload& payload,
                        sc_core::sc_time& delay) {
  if (untaken_ != nullptr) {
    waiting_.push_back(&payload);
    return false;
  }
  untaken_ = &payload; // the target may come back on the backward path before it returns
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  const tlm::tlm_sync_enum status = target.nb_transport_fw(payload, phase, delay);
  if (status == tlm::TLM_ACCEPTED) return false;
  taken(payload);
  return status == tlm::TLM_COMPLETED || phase == tlm::BEGIN_RESP;
}

RequestQueue::Payload* RequestQueue::next() {
  if (untaken_ != nullptr || waiting_.empty()) return nullptr;
  Payload* payload = waiting_.front();
  waiting_.pop_front();
  return payload;
}

Interconnect::Interconnect(sc_core::sc_module_name name) : sc_core::sc_module(name) {
  in.register_nb_transport_fw(this, &Interconnect::nb_transport_fw);
  out.register_nb_transport_bw(this, &Interconnect::nb_transport_bw);
}

RequestQueue& Interconnect::queue(std::size_t downstream) {
  if (downstream >= queues_.size()) queues_.resize(downstream + 1);
  return queues_[downstream];
}

tlm::tlm_sync_enum Interconnect::nb_transport_fw(int upstream, tlm::tlm_generic_payload& payload,
                                                 tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  Burst& burst = burst_of(payload);
  const std::size_t port = route(payload, burst);
  auto& target = *out[static_cast<unsigned>(port)];
  if (phase != tlm::BEGIN_REQ) return target.nb_transport_fw(payload, phase, delay); // END_RESP
  burst.push_route(static_cast<std::size_t>(upstream));
  forward(payload, burst);
  if (queue(port).send(target, payload, delay)) {
    burst.pop_route();
    back(payload, burst);
    return tlm::TLM_COMPLETED;
  }
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

tlm::tlm_sync_enum Interconnect::nb_transport_bw(int downstream, tlm::tlm_generic_payload& payload,
                                                 tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  const auto port = static_cast<std::size_t>(downstream);
  queue(port).taken(payload);
  tlm::tlm_sync_enum answer = tlm::TLM_ACCEPTED;
  if (phase != tlm::END_REQ) answer = respond(payload, phase, delay);
  pump(port);
  return answer;
}

tlm::tlm_sync_enum Interconnect::respond(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                         sc_core::sc_time& delay) {
  ensure(phase == tlm::BEGIN_RESP, "interconnect: unexpected phase on the way back");
  Burst& burst = burst_of(payload);
  const std::size_t upstream = burst.pop_route();
  back(payload, burst);
  return in[static_cast<unsigned>(upstream)]->nb_transport_bw(payload, phase, delay);
}

/// Sends what waited for the downstream target.
void Interconnect::pump(std::size_t downstream) {
  while (tlm::tlm_generic_payload* payload = queue(downstream).next()) {
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    if (!queue(downstream).send(*out[static_cast<unsigned>(downstream)], *payload, delay)) continue;
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    respond(*payload, phase, delay);
  }
}

} // namespace umf::hw
