#pragma once

#include "hw/fabric/burst.h"
#include "hw/fabric/flow_clock.h"
#include "model/base/histogram.h"

#include <systemc>
#include <tlm>
#include <tlm_utils/multi_passthrough_target_socket.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace umf::hw {

/// Where a latency is taken: at the memory array, at the port of the path to it, at the
/// scheduler, at the L2's miss, at the SM. Each includes the ones before.
enum class Boundary : std::uint8_t { media, port, scheduler, l2_miss, sm };
inline constexpr std::size_t kBoundaries = 5;
std::string_view name_of(Boundary boundary);

/// What a tier served.
struct TierStatistics {
  std::uint64_t read_bytes = 0, write_bytes = 0;
  Femtojoules read_energy{}, write_energy{};
  std::uint64_t demand_read_bytes = 0; ///< of read_bytes
  std::uint64_t bursts = 0;
  /// Picoseconds, weighted by lines: latency of a line within its burst, queueing included.
  std::array<Histogram, kBoundaries> latency{};
};

/// What a bit read from or written to the media costs, its interface included.
struct MediaEnergy {
  PicojoulesPerBit read, write;
};

/// A tier: a TLM-2.0 target whose media carries bursts as flows. Any number of upstream
/// sockets. Moves no data.
class MediaTarget : public sc_core::sc_module, public FlowListener {
public:
  tlm_utils::multi_passthrough_target_socket<MediaTarget> in{"in"};

  MediaTarget(sc_core::sc_module_name name, FlowClock& clock, Bytes line, MediaEnergy energy = {});

  const TierStatistics& statistics() const { return statistics_; }
  struct Served {
    std::uint64_t read = 0, written = 0;
  };
  /// Bytes of bursts done, and of those on the way what has passed at `now`, rounded down.
  Served served_at(Femtoseconds now) const;
  /// Media resources, for utilisation.
  virtual std::vector<ResourceId> media() const = 0;

protected:
  /// Appends the media's hops and latency.
  virtual void admit(const tlm::tlm_generic_payload& payload, Burst& burst) = 0;
  /// The burst in `slot` has moved over its hops (a burst without hops at once). True: it is
  /// done. A tier that waits for more returns false and calls answer() in its own time.
  virtual bool moved(std::uint32_t /*slot*/) { return true; }
  /// After admit(), and moved() of a burst without hops: its time begins.
  virtual void begun(std::uint32_t /*slot*/, tlm::tlm_generic_payload&) {}
  /// Never within the call that brought the burst. `outside`: what it spent beside the flows,
  /// counted at boundary media.
  void answer(std::uint32_t slot, Femtoseconds outside = {});

  FlowClock& clock_;

private:
  struct Slot {
    tlm::tlm_generic_payload* payload = nullptr; ///< null: free
    Femtoseconds started{}, took{};
    int upstream = 0;
    ResourceId limit = kNoId; ///< what held it back last
  };

  tlm::tlm_sync_enum nb_transport_fw(int upstream, tlm::tlm_generic_payload& payload,
                                     tlm::tlm_phase& phase, sc_core::sc_time& delay);
  void flow_ended(std::uint64_t tag, ResourceId limit) override;
  void charge(const tlm::tlm_generic_payload& payload, Burst& burst);
  void record(const Slot& slot, const Burst& burst, Femtoseconds outside);
  std::int64_t queueing(const tlm::tlm_generic_payload& payload, const Burst& burst,
                        Femtoseconds took) const;

  Bytes line_;
  MediaEnergy energy_;
  TierStatistics statistics_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_slots_;
  std::vector<Hop> hops_;
};

} // namespace umf::hw
