#pragma once

#include "hw/fabric/interconnect.h"
#include "hw/fabric/media_target.h"
#include "hw/foreign/modules.h"
#include "model/base/keys.h"

#include <tlm_utils/peq_with_get.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace umf::hw {

/// Which tier a foreign module takes the place of, for policies and for where time went.
enum class StandsFor : std::uint8_t { hbm, sram, pool, host };
/// How it is called: b_transport from processes of the tier, or the four-phase protocol.
enum class Transport : std::uint8_t { blocking, phases };

struct ForeignConfig {
  std::string model;
  StandsFor stands_for = StandsFor::hbm;
  Bytes capacity = 1_GiB;
  Transport transport = Transport::blocking;
  std::uint32_t outstanding = 64;
  std::optional<std::string> behind;
  PicojoulesPerBit read_energy{0};
  PicojoulesPerBit write_energy{0};
};

const Component<ForeignConfig>& foreign_component();
/// Faults a model that nobody registered.
void check_foreign(const ForeignConfig& config, const std::string& pointer, KeyContext& context);

/// A third party's TLM-2.0 target in place of a tier.
///
/// A burst goes to the module as one transaction: address within the tier, data pointer to a
/// buffer as long as the burst. At the same time it moves over the hops of its path (links, L2,
/// windows) and is done when both are. What the module takes is latency of the tier it stands
/// for, at boundary media. The module need know nothing of this project.
class ForeignTier : public MediaTarget {
public:
  ForeignTier(sc_core::sc_module_name name, FlowClock& clock, const ForeignConfig& config,
              std::string tier);
  std::vector<ResourceId> media() const override { return {}; }

private:
  using Payload = tlm::tlm_generic_payload;
  struct Transaction {
    std::uint64_t address = 0; ///< as the asker gave it
    Femtoseconds began{}, took{};
    bool moved = false, done = false;
  };

  void admit(const Payload& payload, Burst& burst) override;
  void begun(std::uint32_t slot, Payload& payload) override;
  bool moved(std::uint32_t slot) override;
  Transaction& transaction(std::uint32_t slot);
  void answer_both(std::uint32_t slot);

  void serve();
  void send(Payload& payload);
  void pump();
  tlm::tlm_sync_enum nb_transport_bw(Payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay);
  void take_answers();
  void finish(Payload& payload);

  ForeignConfig config_;
  std::string tier_;
  Cause cause_;
  tlm_utils::simple_initiator_socket<ForeignTier> out_{"out"};
  std::unique_ptr<sc_core::sc_module> module_;

  std::vector<Transaction> transactions_;                   ///< by slot
  std::unordered_map<const Payload*, std::uint32_t> slots_; ///< looked up, never walked
  std::deque<Payload*> waiting_;                            ///< for a process
  sc_core::sc_event called_;
  RequestQueue requests_;
  std::deque<Payload*> queue_; ///< beyond `outstanding`
  std::uint32_t in_flight_ = 0;
  bool sending_ = false;
  tlm_utils::peq_with_get<Payload> answers_{"answers"};
};

} // namespace umf::hw

template <>
struct umf::EnumNames<umf::hw::StandsFor> {
  static constexpr std::pair<std::string_view, umf::hw::StandsFor> list[] = {
      {"hbm", umf::hw::StandsFor::hbm},
      {"sram", umf::hw::StandsFor::sram},
      {"pool", umf::hw::StandsFor::pool},
      {"host", umf::hw::StandsFor::host}};
};
template <>
struct umf::EnumNames<umf::hw::Transport> {
  static constexpr std::pair<std::string_view, umf::hw::Transport> list[] = {
      {"blocking", umf::hw::Transport::blocking}, {"phases", umf::hw::Transport::phases}};
};
