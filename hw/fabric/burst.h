#pragma once

#include "hw/fabric/cause.h"
#include "hw/fabric/flow_network.h"
#include "model/base/units.h"

#include <tlm>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

/// What travels between modules: TLM-2.0 generic payloads, base protocol, approximately
/// timed, with one extension. A payload at burst resolution is a run of bytes.
namespace umf::hw {

enum class Purpose : std::uint8_t { demand_read, demand_write, write_back, copy, migration };

/// Who asked and why, the hops met on the way, and the unloaded latency by part.
///
/// A burst holds every hop of its path at once: interconnects append theirs as the request
/// passes, the target appends its media and starts the flow, and BEGIN_RESP comes back at
/// the instant the slowest hop is done, annotated with the latency of the whole path.
struct Burst : tlm::tlm_extension<Burst> {
  static constexpr std::size_t kHops = 24;
  static constexpr std::size_t kDepth = 8;

  std::uint64_t token = 0;       ///< the issuer's own
  std::uint32_t request = kNoId; ///< the scheduler's own, from its acceptance to its answer
  std::uint32_t gpu = 0;
  Row row;                         ///< of consecutive bytes, that it is a piece of
  std::uint32_t step = UINT32_MAX; ///< of the operation (Operation::step)
  std::uint16_t tier = 0;          ///< destination, once translated
  std::uint32_t plain = 0;         ///< of a migration: bytes, unpacked
  Purpose purpose = Purpose::demand_read;
  Urgency urgency = Urgency::demand;
  double weight = 1.0;            ///< in its class, where it shares a resource
  std::int64_t above_l2_miss = 0; ///< part of the latency spent before the L2's miss
  std::int64_t above_media = 0;   ///< part of the tier's own latency that is not the array's
  Femtojoules energy{};           ///< spent on it by links and media, once answered
  FlowId flow = kNoId;            ///< set by the target while the burst is moving
  std::optional<Cause> held_by;   ///< what it counts as while it waits outside the flows
  /// Windows of bytes in flight it counts against: held from the part of the path that lies
  /// behind them (`before`: latency already met) and `extra` longer.
  struct Window {
    ResourceId resource = kNoId;
    std::int64_t before = 0;
    std::int64_t extra = 0;
    double share = 1.0; ///< window bytes taken by one byte of the burst
  };
  std::array<Window, 8> windows{};
  /// Set by the target: lines come to its channels in batches that hold one so long; reads of the
  /// first window wait behind them (queue_behind).
  Femtoseconds batch_service{};
  double load_share = 1.0; ///< reads' share of what its issuer moves to and from the memory
  std::uint8_t window_count = 0;
  std::array<Hop, kHops> hops{};
  std::uint8_t hop_count = 0;
  /// Unloaded latency so far, request and response together, by the cause that owns it.
  std::array<std::int64_t, kCauses> latency{};
  std::array<std::uint16_t, kDepth> route{}; ///< upstream socket index at each interconnect
  std::uint8_t depth = 0;

  Burst* clone() const override { return new Burst(*this); }
  void copy_from(const tlm::tlm_extension_base& other) override {
    *this = static_cast<const Burst&>(other);
  }

  void add_hop(ResourceId resource, double use);
  void add_hop_ahead(ResourceId resource, double use); ///< Hop::ahead
  void add_latency(Cause cause, Femtoseconds both_ways);
  /// From here on the burst counts against `resource` for as long as the rest of its path
  /// takes, plus `extra`.
  void add_window(ResourceId resource, Femtoseconds extra, double share = 1.0);
  /// The payload stands for so many times its bytes on the way behind it, which it is not on the
  /// way ahead: what it uses so far is for those.
  void stand_for(double times);
  /// Called by the target before close_windows(): the first window is held for the wait that its
  /// own rate causes. `carried`: bytes a second of the slowest hop; `window`: bytes.
  void queue_behind(double carried, double window);
  /// Called by the target once the path is known: windows become hops (Little's law).
  void close_windows();
  Femtoseconds total_latency() const;
  void push_route(std::size_t upstream);
  std::size_t pop_route();
  void reset();
};

inline Burst& burst_of(tlm::tlm_generic_payload& payload) {
  return *payload.get_extension<Burst>();
}

/// Payloads with their extension, reused: no allocation once warm. Every payload's data
/// pointer is a scratch buffer as long as the longest burst, so that a foreign memory
/// target may write to it; our own targets move no data.
class PayloadPool : public tlm::tlm_mm_interface {
public:
  explicit PayloadPool(Bytes longest_burst);
  ~PayloadPool() override;
  PayloadPool(const PayloadPool&) = delete;
  PayloadPool& operator=(const PayloadPool&) = delete;

  /// A payload with reference count 1; release() returns it.
  tlm::tlm_generic_payload& acquire(bool write, std::uint64_t address, Bytes length);
  void free(tlm::tlm_generic_payload* payload) override;

  std::size_t created() const { return all_.size(); }
  std::size_t in_flight() const { return all_.size() - idle_.size(); }

private:
  std::uint64_t longest_;
  std::unique_ptr<unsigned char[]> scratch_;
  std::vector<std::unique_ptr<tlm::tlm_generic_payload>> all_;
  std::vector<tlm::tlm_generic_payload*> idle_;
};

} // namespace umf::hw
