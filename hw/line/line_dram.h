#pragma once

#include "hw/dram/dram.h"
#include "model/base/histogram.h"

#include <systemc>
#include <tlm>
#include <tlm_utils/multi_passthrough_target_socket.h>

#include <cstdint>
#include <vector>

/// Tiers at line resolution: every access of 32 or 64 B goes through the banks.
namespace umf::hw {

/// What a line tier served, and how long reads took.
struct LineStatistics {
  std::uint64_t transactions = 0, read_bytes = 0, write_bytes = 0;
  /// Picoseconds. `media`: from the clock in which all of a read was in the queues to the last of
  /// its data, media_latency included. `port`: from its request to its response, waiting at the
  /// port and port_latency included.
  Histogram media, port;
};

/// A DRAM tier at line resolution: a TLM-2.0 target of the base protocol, any number of upstream
/// sockets, any generic payload whose address lies in the tier (taken modulo its size). A payload
/// longer than an access is a run of accesses; it is answered when the last is done. Moves no
/// data.
///
/// Back-pressure is the base protocol's: END_REQ comes when the queues of the units have taken
/// all of a request, so a socket's next request waits behind it. Where there is one socket, that
/// instant is known at once and annotated: a source that minds its local time may run ahead of
/// the simulation and costs no events while it waits. Reads are answered by BEGIN_RESP, annotated
/// with the time until the data is there. Writes are posted: TLM_COMPLETED (or BEGIN_RESP where
/// they had to wait) once the queues have them.
class LineDram : public sc_core::sc_module {
public:
  tlm_utils::multi_passthrough_target_socket<LineDram> in{"in"};

  struct Options {
    dram::DramConfig dram;
    /// Of a read between the controller's port and the queues, both ways (boundary: media).
    Femtoseconds media_latency{};
    /// And between the tier's port and the controller's, both ways (boundary: port).
    Femtoseconds port_latency{};
  };
  LineDram(sc_core::sc_module_name name, const Options& options);

  dram::Dram& dram() { return dram_; }
  Femtoseconds clock() const { return {clock_}; } ///< CK
  LineStatistics statistics() const;
  /// Plays what is still queued (posted writes) and returns when the last data was on the bus.
  Femtoseconds drain();

private:
  struct Slot {
    tlm::tlm_generic_payload* payload = nullptr;
    std::uint64_t address = 0; ///< of the next access to be taken
    std::uint32_t left = 0;    ///< accesses not taken yet
    std::uint32_t open = 0;    ///< taken and not done
    dram::Cycle arrived = 0, taken = 0, done = 0;
    std::int32_t upstream = 0;
    bool write = false;
  };
  /// A request that waits at its socket for room in a unit.
  struct Blocked {
    std::uint32_t slot, unit;
  };

  tlm::tlm_sync_enum nb_transport_fw(int upstream, tlm::tlm_generic_payload& payload,
                                     tlm::tlm_phase& phase, sc_core::sc_time& delay);
  bool take(std::uint32_t slot, dram::Cycle now, std::uint32_t& unit, dram::Cycle& data);
  void wake();
  void retry(dram::Cycle now);
  void deliver();
  void respond(std::uint32_t slot);
  void finish(std::uint32_t slot);
  void plan();
  void wake_by(dram::Cycle at);
  dram::Cycle cycle_of(Femtoseconds time);

  dram::Dram dram_;
  Femtoseconds media_latency_, port_latency_;
  std::int64_t clock_;
  double clocks_per_fs_;
  std::uint32_t access_bits_;
  LineStatistics statistics_; ///< less what at_once_ counts
  Histogram at_once_;         ///< of both boundaries: reads that found room when they came
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  std::vector<Blocked> blocked_, retried_;
  std::vector<dram::Done> arrived_;
  sc_core::sc_event due_;
  dram::Cycle wake_at_ = dram::kNever;
  std::int64_t last_time_ = 0; ///< cycle_of(last_time_) is last_cycle_
  dram::Cycle last_cycle_ = 0;
};

} // namespace umf::hw
