#pragma once

#include "hw/fabric/burst.h"
#include "hw/fabric/flow_clock.h"

#include <systemc>
#include <tlm>
#include <tlm_utils/multi_passthrough_initiator_socket.h>
#include <tlm_utils/multi_passthrough_target_socket.h>

namespace umf::hw {

/// System physical address = tier index in the top bits, address within the tier below.
inline constexpr unsigned kTierShift = 48;
inline constexpr std::uint64_t physical_address(std::uint16_t tier, std::uint64_t within) {
  return (static_cast<std::uint64_t>(tier) << kTierShift) | within;
}
inline constexpr std::uint16_t tier_of(std::uint64_t physical) {
  return static_cast<std::uint16_t>(physical >> kTierShift);
}

/// A TLM-2.0 interconnect: any number of upstream and downstream sockets, base protocol
/// without waiting. Derived classes say which way a payload goes and what the way costs.
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
};

} // namespace umf::hw
