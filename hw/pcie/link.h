#pragma once

#include "hw/fabric/interconnect.h"
#include "hw/link/wire_cost.h"

#include <functional>
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
    /// Wire bytes of what is sent again when it arrives wrong: of a packet or flit, and as many
    /// as there are parallel links.
    double packet_bytes = 0;
    /// Changes of rate, in order of time; where it trains the link carries next to nothing for
    /// `recovery` before.
    struct Change {
      Femtoseconds at;
      double raw_bytes_per_second; ///< what errors leave of it
      double errors = 0;           ///< share of packets that arrive wrong
      bool trains = true;
    };
    std::vector<Change> changes;
    Femtoseconds recovery{};
  };

  Link(sc_core::sc_module_name name, FlowClock& clock, Options options);

  /// Called when the rate or the share of errors has changed: after training, as PCIe's Link
  /// Bandwidth Notification comes. While it trains nothing can be sent, and that ends by itself.
  void on_change(std::function<void()> listener) { changed_ = std::move(listener); }
  /// Payload of reads, as configured, and since the last change.
  double configured_rate() const { return options_.raw_bytes_per_second / read_cost_; }
  double rate() const { return raw_ / read_cost_; }
  double errors() const { return errors_; }

  /// Nothing is left for changes to matter to: they do not come any more, but training ends.
  void stop_changing();

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
  double raw_, errors_ = 0, read_cost_;
  std::function<void()> changed_;
  LinkStatistics statistics_;
  ResourceId tx_, rx_, read_window_ = kNoId;
};

} // namespace umf::hw
