#pragma once

#include "hw/fabric/interconnect.h"
#include "hw/link/wire_cost.h"

#include <string>
#include <vector>

namespace umf::hw {

/// What crossed one link, in payload bytes; counted entering and leaving, so that the
/// ledger can prove that nothing was lost inside.
struct LinkStatistics {
  std::uint64_t tx_in = 0, tx_out = 0;  ///< writes
  std::uint64_t rx_in = 0, rx_out = 0;  ///< reads
  Femtojoules tx_energy{}, rx_energy{}; ///< of what came out
};

/// A full-duplex link as two resources, one a direction: a read never waits behind a
/// posted write of the other direction, and requests cost wire bytes of their own.
/// `count` parallel links are one link of `count` times the width, pages interleaved.
class Link : public Interconnect {
public:
  struct Options {
    std::string name;
    /// One direction, all parallel links, after line code and skips.
    double raw_bytes_per_second = 0;
    link::WireShape shape;
    Femtoseconds one_way{};       ///< wire, PHY and link layer of both ends
    bool posted_writes = true;    ///< no completion comes back for a write
    double read_window_bytes = 0; ///< read tags × request size; 0: no limit
    PicojoulesPerBit energy{};    ///< a bit on the wire, both ends
    /// Changes of rate, in order of time; the link carries next to nothing for `recovery` before
    /// each.
    struct Change {
      Femtoseconds at;
      double raw_bytes_per_second;
    };
    std::vector<Change> changes;
    Femtoseconds recovery{};
  };

  Link(sc_core::sc_module_name name, FlowClock& clock, Options options);

  const LinkStatistics& statistics() const { return statistics_; }
  const std::string& link_name() const { return options_.name; }
  ResourceId tx() const { return tx_; }
  ResourceId rx() const { return rx_; }

private:
  std::size_t route(const tlm::tlm_generic_payload&, const Burst&) override { return 0; }
  void forward(const tlm::tlm_generic_payload& payload, Burst& burst) override;
  void back(const tlm::tlm_generic_payload& payload, Burst& burst) override;

  void train();
  void set_rate(double raw_bytes_per_second);

  FlowClock& clock_;
  Options options_;
  sc_core::sc_event train_;
  std::size_t trained_ = 0; ///< changes that have begun
  bool recovering_ = false;
  LinkStatistics statistics_;
  ResourceId tx_, rx_, read_window_ = kNoId;
};

} // namespace umf::hw
