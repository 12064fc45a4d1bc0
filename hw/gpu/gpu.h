#pragma once

#include "hw/fabric/burst.h"
#include "hw/fabric/flow_clock.h"
#include "hw/fabric/timer.h"
#include "hw/gpu/arithmetic.h"
#include "hw/gpu/gpu_config.h"
#include "hw/gpu/l2.h"
#include "hw/gpu/occupancy.h"
#include "hw/gpu/operation.h"
#include "hw/scheduler/scheduler.h"

#include <systemc>
#include <tlm>
#include <tlm_utils/multi_passthrough_initiator_socket.h>

#include <array>
#include <deque>
#include <functional>
#include <vector>

namespace umf::hw {

/// Energy by where it was spent, without idling; bursts are counted by links and tiers.
struct GpuEnergy {
  Femtojoules compute{}, l2{};
  Femtojoules loose{}; ///< bursts of no operation: write-backs of what a release pushed out
};

/// A GPU at burst resolution.
///
/// An operation becomes resident after its launch cost, spends the kernel overhead, then
/// streams its accesses, in address order, through a window of bytes in flight; what the L2
/// does not hold goes to the scheduler. Its arithmetic runs on what has arrived, so compute
/// and transfer overlap except for the first and the last piece. Write-backs it causes are
/// posted, and it is not done before they are on their way out.
class Gpu : public sc_core::sc_module, public FlowListener, public RateWatcher {
public:
  tlm_utils::multi_passthrough_initiator_socket<Gpu> reads{"reads"};
  tlm_utils::multi_passthrough_initiator_socket<Gpu> writes{"writes"};

  struct Parts {
    FlowClock& clock;
    PayloadPool& pool;
    Scheduler& scheduler;
    std::uint32_t index = 0;
    Bytes max_burst = 16_MiB;
  };
  Gpu(sc_core::sc_module_name name, const GpuConfig& config, Parts parts);

  /// Hands over an operation whose dependencies are met now.
  void submit(Operation operation);
  void on_done(std::function<void(OperationResult)> listener) { done_ = std::move(listener); }

  L2& l2() { return l2_; }
  const L2& l2() const { return l2_; }
  /// Dirty data that a release or a stale range pushed out: written in the background.
  void write_back(const std::vector<Segment>& segments);

  /// Charges time up to `now`; afterwards causes().total() == now.
  void account(Femtoseconds now);
  const CauseLedger& causes() const { return ledger_; }
  const GpuEnergy& energy() const { return energy_; }
  bool idle() const { return residents_in_use_ == 0 && launching_ == 0 && loose_ == 0; }
  const GpuConfig& config() const { return config_; }
  ResourceId fabric() const { return fabric_; }
  /// Of an L2 hit, lines spread over both partitions (boundary: sm).
  Femtoseconds hit_latency() const { return hit_latency_; }

private:
  using Payload = tlm::tlm_generic_payload;
  static constexpr std::uint32_t kLoose = UINT32_MAX; ///< owner of write-backs of no operation

  struct AccessRun {
    std::vector<Segment> segments;
    std::size_t at = 0;                      ///< next segment
    std::uint64_t within = 0;                ///< bytes of it already issued
    std::uint64_t outstanding = 0, left = 0; ///< bytes on the way; bytes not arrived
    std::deque<std::uint32_t> slots;         ///< on the way, oldest first
    bool posted = false;
  };
  struct Resident {
    Operation operation;
    OperationResult result;
    std::vector<AccessRun> accesses; ///< the last one holds the write-backs
    ResourceId window = kNoId;
    std::uint64_t window_bytes = 0, piece = 0, total = 0, issued = 0, arrived = 0;
    Femtoseconds turnover{};
    double loads = 0;   ///< load_share()
    double refills = 1; ///< share of its bytes that wait for room in the window
    /// Seconds of the whole device's arithmetic; started ≤ allowed by arrivals.
    double work = 0, work_started = 0;
    double part = 1; ///< of the device's arithmetic
    bool in_use = false, starting = false, computing = false;
  };
  struct Slot { ///< a burst on the way
    std::uint32_t resident = kNoId, access = 0;
    std::uint64_t bytes = 0;
    Payload* payload = nullptr; ///< null: served by the L2
    FlowId flow = kNoId;
    std::array<std::int64_t, kCauses> latency{}; ///< once answered, until arrived
    bool answered = false;
  };
  struct Alarm {
    enum class Kind : std::uint8_t { launched, begin, arrived } kind;
    std::uint32_t id;
  };

  tlm::tlm_sync_enum bw_reads(int, Payload& payload, tlm::tlm_phase& phase,
                              sc_core::sc_time& delay);
  tlm::tlm_sync_enum bw_writes(int, Payload& payload, tlm::tlm_phase& phase,
                               sc_core::sc_time& delay);
  tlm::tlm_sync_enum response(bool write, Payload& payload, tlm::tlm_phase& phase,
                              sc_core::sc_time& delay);
  void flow_ended(std::uint64_t tag, ResourceId limit) override;
  void before_change(Femtoseconds now) override { account(now); }
  void after_change(Femtoseconds) override {}

  void tick();
  void arm();
  void become_resident(std::uint32_t id);
  void prepare(Resident& resident);
  static double load_share(const Resident& resident);
  void begin(std::uint32_t id);
  void issue(std::uint32_t id, std::uint32_t access);
  void issue_piece(std::uint32_t id, std::uint32_t access, const Segment& segment,
                   std::uint64_t address, std::uint64_t bytes);
  void start_local(std::uint32_t slot, Resident& resident, bool write);
  void send(std::uint32_t slot, const Segment& segment, std::uint64_t address);
  void push(bool write, Payload& payload);
  void drained(std::uint32_t slot, Femtoseconds arrives);
  void arrived(std::uint32_t slot);
  void pump_compute(std::uint32_t id);
  void end_compute(Femtoseconds now);
  void finish_if_done(std::uint32_t id);
  void charge(Femtoseconds span);
  void explain(const Resident& resident, CauseShares& shares) const;
  void explain_slot(const Slot& slot, CauseShares& shares) const;

  GpuConfig config_;
  FlowClock& clock_;
  PayloadPool& pool_;
  Scheduler& scheduler_;
  std::uint32_t index_;
  std::uint64_t max_burst_;
  L2 l2_;
  ResourceId fabric_, copy_engine_, copy_window_;
  Femtoseconds hit_latency_{};

  std::vector<Resident> residents_;
  std::vector<std::uint32_t> free_residents_;
  std::vector<std::uint32_t> order_; ///< residents by age
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_slots_;
  std::vector<std::vector<Segment>> plan_;
  std::vector<Segment> plan_write_backs_;
  std::deque<Payload*> waiting_[2];
  bool blocked_[2] = {false, false};
  std::size_t residents_in_use_ = 0, launching_ = 0, loose_ = 0;

  Arithmetic arithmetic_;
  std::vector<std::uint32_t> computed_; ///< of end_compute()
  TimerQueue<Alarm> alarms_;
  sc_core::sc_event alarm_;
  CauseLedger ledger_;
  GpuEnergy energy_;
  Femtoseconds accounted_{};
  Femtoseconds border_{}; ///< from here on the observer wants to know how time was charged
  std::function<void(OperationResult)> done_;
};

} // namespace umf::hw
