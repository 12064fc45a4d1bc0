#pragma once

#include "hw/fabric/burst.h"
#include "hw/fabric/flow_clock.h"

#include <systemc>
#include <tlm>
#include <tlm_utils/multi_passthrough_initiator_socket.h>
#include <tlm_utils/multi_passthrough_target_socket.h>

#include <deque>
#include <vector>

namespace umf::hw {

/// System physical address = tier index in the top bits, address within the tier below.
inline constexpr unsigned kTierShift = 48;
inline constexpr std::uint64_t physical_address(std::uint16_t tier, std::uint64_t within) {
  return (static_cast<std::uint64_t>(tier) << kTierShift) | within;
}
inline constexpr std::uint16_t tier_of(std::uint64_t physical) {
  return static_cast<std::uint16_t>(physical >> kTierShift);
}

/// Requests of one initiator socket. By the base protocol the next BEGIN_REQ waits until the
/// target has taken the one before: END_REQ, or a response, which implies it. Our own targets
/// take every request at once.
class RequestQueue {
public:
  using Payload = tlm::tlm_generic_payload;

  /// Sends the request, or keeps it until the target is free. True: the target answered at
  /// once, `delay` is the response's and no call on the backward path will come.
  bool send(tlm::tlm_fw_transport_if<>& target, Payload& payload, sc_core::sc_time& delay);
  /// END_REQ or BEGIN_RESP has come for the payload.
  void taken(const Payload& payload) {
    if (untaken_ == &payload) untaken_ = nullptr;
  }
  /// The next request to send() now, removed from the queue; null: none, or the target is busy.
  Payload* next();

private:
  const Payload* untaken_ = nullptr;
  std::deque<Payload*> waiting_;
};

/// A TLM-2.0 interconnect: any number of upstream and downstream sockets, base protocol. It
/// takes every request at once and keeps it while the downstream target is busy. Derived
/// classes say which way a payload goes and what the way costs.
class Interconnect : public sc_core::sc_module {
public:
  tlm_utils::multi_passthrough_target_socket<Interconnect> in{"in"};
  tlm_utils::multi_passthrough_initiator_socket<Interconnect> out{"out"};

  explicit Interconnect(sc_core::sc_module_name name);

protected:
  /// Index of the downstream socket.
  virtual std::size_t route(const tlm::tlm_generic_payload& payload, const Burst& burst) = 0;
  /// The request passes: append hops, windows and latency.
  virtual void forward(const tlm::tlm_generic_payload& payload, Burst& burst) = 0;
  /// The response passes.
  virtual void back(const tlm::tlm_generic_payload& payload, Burst& burst) = 0;

private:
  tlm::tlm_sync_enum nb_transport_fw(int upstream, tlm::tlm_generic_payload& payload,
                                     tlm::tlm_phase& phase, sc_core::sc_time& delay);
  tlm::tlm_sync_enum nb_transport_bw(int downstream, tlm::tlm_generic_payload& payload,
                                     tlm::tlm_phase& phase, sc_core::sc_time& delay);
  RequestQueue& queue(std::size_t downstream);
  tlm::tlm_sync_enum respond(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay);
  void pump(std::size_t downstream);

  std::vector<RequestQueue> queues_;
};

} // namespace umf::hw
