#pragma once

#include "hw/fabric/burst.h"
#include "hw/fabric/flow_clock.h"
#include "hw/fabric/interconnect.h"
#include "hw/fabric/timer.h"
#include "hw/scheduler/scheduler_config.h"
#include "model/memory/extent_cache.h"
#include "model/scheduler/brain.h"

#include <systemc>
#include <tlm>
#include <tlm_utils/multi_passthrough_initiator_socket.h>
#include <tlm_utils/multi_passthrough_target_socket.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

namespace umf::hw {

struct SchedulerStatistics {
  std::uint64_t translations = 0; ///< pages looked up
  std::uint64_t tlb_hits = 0;
  std::uint64_t parked = 0;                          ///< pieces that waited for a command
  std::uint64_t copied_read = 0, copied_written = 0; ///< bytes of migrations, each side
  std::uint64_t carried = 0;                         ///< of copied_written: read by an access
  std::uint64_t fault_batches = 0;
  std::uint64_t demand_fills = 0; ///< bytes read for the L2
  std::uint64_t write_backs = 0;  ///< bytes written for the L2
  std::uint64_t dead_writes = 0;  ///< write-backs whose tensor was gone before they came
  std::uint64_t copy_bytes_read = 0, copy_bytes_written = 0; ///< copy engine
  Femtojoules migration_energy{};                            ///< of both sides, links included
  std::uint64_t operations = 0;                              ///< the host took, batches of them
  std::uint64_t synced_read = 0, synced_written = 0;         ///< bytes out of the staging buffer
  std::uint64_t saved_read = 0, saved_written = 0;           ///< bytes that packing kept from tiers
  std::uint64_t packed_read = 0;                             ///< of demand_fills: in packed pages
  Femtoseconds scanning{}; ///< from the first line read to the last, all scans
  std::uint64_t torn = 0;  ///< accesses to pool pages, read while written or written while read
};

/// The memory scheduler unit behind the L2: what translation, queues and commands cost.
/// It decides nothing; the Brain does.
///
/// Reads and posted writes arrive on sockets of their own, so a write passes a read that
/// waits. A burst is cut at the borders of page runs into pieces; pieces of suspended
/// pages, and writes to moving ones, wait in a finite queue that pushes back to the L2, one
/// for reads and one for writes.
class Scheduler : public sc_core::sc_module {
public:
  tlm_utils::multi_passthrough_target_socket<Scheduler> reads{"reads"};
  tlm_utils::multi_passthrough_target_socket<Scheduler> writes{"writes"};
  tlm_utils::multi_passthrough_initiator_socket<Scheduler> ports{"ports"};

  Scheduler(sc_core::sc_module_name name, FlowClock& clock, PayloadPool& pool,
            const SchedulerConfig& config, scheduler::Brain& brain, std::uint32_t gpu);

  /// Empties the TLB: page tables are to be read anew.
  void forget_translations() { tlb_.discard({0, UINT64_MAX}); }

  /// Downstream socket that leads to a tier, in order of binding.
  void set_route(std::uint16_t tier, std::size_t port);

  const SchedulerStatistics& statistics() const { return statistics_; }
  const SchedulerConfig& config() const { return config_; }

  /// Bytes that tiers have moved so far, as sensors count them.
  struct Moved {
    std::uint64_t hbm = 0, sram = 0, all = 0;
  };
  /// Where sensors read, and what the pins of HBM move in a second. They are read by the first
  /// access after a window: while nothing happens there is nothing to decide.
  void set_sensors(std::function<Moved(Femtoseconds now)> moved, BytesPerSecond hbm_peak) {
    moved_ = std::move(moved);
    hbm_peak_ = hbm_peak;
  }

  /// S7: how the way to a tier is from now on.
  void way_changed(std::uint16_t tier, const scheduler::Condition& condition);

  /// What a burst sent to this scheduler waits for now; payload is the asker's.
  void explain(const tlm::tlm_generic_payload& payload, CauseShares& shares) const;

  /// Commands in progress or waiting: the run is not over while there are any.
  bool busy() const { return !moves_.empty() || handling_faults_; }
  /// Called when a command has completed (tensors may be released then).
  void on_command_done(std::function<void()> listener) { command_done_ = std::move(listener); }
  /// Called whenever what a burst waits for may change outside the flow network.
  void before_change(std::function<void()> listener) { before_change_ = std::move(listener); }

private:
  using Payload = tlm::tlm_generic_payload;
  static constexpr std::uint64_t kMigration = std::uint64_t{1} << 63; ///< token flag

  struct Request { ///< one burst of the L2 or a copy engine
    Payload* payload = nullptr;
    std::uint32_t open = 0; ///< pieces not answered
    std::uint32_t first_piece = kNoId, last_piece = kNoId;
    std::int64_t done_at = 0;
    bool write = false;
    int upstream = 0;
  };
  struct Piece {
    Payload* payload = nullptr; ///< null while parked
    std::uint32_t request = kNoId;
    std::uint32_t next = kNoId; ///< of the same request
    std::uint64_t address = 0;  ///< unified, or physical below the regions
    std::uint64_t length = 0;
    memory::PageNumber first_page = 0;
    std::uint64_t pages = 0;
    bool parked = false, answered = false;
    bool in_sync = false; ///< what it waits for
  };
  struct Early {                ///< an answer that came while its request was being sent
    Payload* payload = nullptr; ///< null: `piece` has nowhere to go
    std::uint32_t piece = kNoId;
    Femtoseconds at{};
  };
  struct Move {
    scheduler::Command command;
    std::uint64_t read_at = 0, reading = 0, written = 0;
    std::uint32_t in_flight = 0;
    Femtoseconds accepted{}, issued{}; ///< taken from the brain; the host has issued it
    Femtoseconds begun{}, copied{};    ///< copying
    bool started = false, suspended = false;
    bool urgent = false; ///< an access waits for it
  };

  /// Told when a scan of the page table is over.
  struct Scans : FlowListener {
    explicit Scans(Scheduler& of) : scheduler(of) {}
    void flow_ended(std::uint64_t id, ResourceId) override { scheduler.scanned(id); }
    Scheduler& scheduler;
  };

  tlm::tlm_sync_enum fw_reads(int id, Payload& payload, tlm::tlm_phase& phase,
                              sc_core::sc_time& delay);
  tlm::tlm_sync_enum fw_writes(int id, Payload& payload, tlm::tlm_phase& phase,
                               sc_core::sc_time& delay);
  tlm::tlm_sync_enum accept(int id, bool write, Payload& payload, tlm::tlm_phase& phase);
  tlm::tlm_sync_enum bw_ports(int port, Payload& payload, tlm::tlm_phase& phase,
                              sc_core::sc_time& delay);

  void begin(int upstream, bool write, Payload& payload);
  void cut(std::uint32_t request);
  void resolve(const Payload& payload, const Burst& burst);
  std::uint32_t add_piece(std::uint32_t request, std::uint64_t address, std::uint64_t length);
  void dispatch(std::uint32_t piece, const memory::PageRun& run);
  /// Bytes of pages in a tier.
  struct Side {
    std::uint64_t address = 0, bytes = 0;
  };
  Side side_of(std::uint16_t tier, std::uint64_t frame, std::uint32_t packed, std::uint64_t from,
               std::uint64_t bytes) const;
  void pass_engine(Burst& burst, bool write, std::uint64_t packed, std::uint64_t plain);
  void send(Payload& payload, std::uint16_t tier);
  void send_by(std::size_t port, Payload& payload);
  void pump_port(std::size_t port);
  void postpone(Early answer);
  void take_early();
  void take_copies();
  void take_answer(Payload& payload, Femtoseconds at);
  void translate(Burst& burst, memory::PageNumber first, std::uint64_t pages, std::uint64_t bytes);
  void answered(std::uint32_t piece, Femtoseconds at);
  void retry_parked();
  void retry(std::uint32_t piece);

  void sense();
  void pump_faults();
  void handle_faults();
  Femtoseconds issue_by_host();
  void pump_commands();
  void start_move(Move& move);
  void advance_move(Move& move);
  void start_scan(Move& move);
  void scanned(std::uint64_t id);
  void send_copy(Move& move, bool write, std::uint64_t within, std::uint64_t length);
  void copy_answered(const Payload& payload);
  void suspend(Move& move);
  void hurry(const Piece& piece);
  void finish_drained_moves();
  template <class Counts>
  bool in_flight(const memory::PageRun& pages, Counts counts) const;
  bool may_begin(const scheduler::Command& command) const;
  bool read_or_written(const scheduler::Command& command) const;
  /// Whether the piece is of a page there; physical ones are of none.
  bool in_pool(std::uint16_t tier, const Piece& piece) const {
    return piece.pages > 0 && brain_.ground().is(tier, policy::TierClass::pool);
  }
  void note_torn(const Piece& piece, bool write, std::uint16_t tier);

  template <class T>
  static std::uint32_t take(std::vector<T>& slots, std::vector<std::uint32_t>& free);

  FlowClock& clock_;
  PayloadPool& pool_;
  SchedulerConfig config_;
  scheduler::Brain& brain_;
  std::uint32_t gpu_;
  std::uint64_t page_;
  SchedulerStatistics statistics_;
  std::vector<std::size_t> port_of_tier_;
  std::vector<RequestQueue> port_queues_;
  bool sending_ = false;
  std::deque<Early> early_;
  TimerQueue<Payload*> copies_; ///< halves of moves whose last bytes still travel
  sc_core::sc_event early_event_, copies_due_, faults_due_, drained_event_, issued_event_;
  bool handling_faults_ = false;
  std::uint64_t fault_batch_ = 0; ///< pages of the batch being handled
  memory::ExtentCache tlb_;
  memory::ExtentCache::Outcome tlb_outcome_;
  ResourceId lookups_, walkers_, engine_;

  std::vector<Request> requests_;
  std::vector<Piece> pieces_;
  std::vector<std::uint32_t> free_requests_, free_pieces_;
  std::deque<std::uint32_t> parked_[2];          ///< pieces by direction
  std::deque<std::pair<int, Payload*>> held_[2]; ///< refused requests by direction
  std::deque<Move> moves_;
  std::size_t carrying_ = 0;    ///< of moves_: carried by accesses
  std::size_t pool_writes_ = 0; ///< pieces on their way
  bool look_again_ = false;     ///< what waits for a sync may be read in the staging buffer
  std::vector<memory::PageRun> runs_, mapped_;
  std::function<void()> command_done_, before_change_;
  std::function<Moved(Femtoseconds)> moved_;
  BytesPerSecond hbm_peak_{};
  Moved seen_;                               ///< when sensors were read last
  Femtoseconds sensed_{};                    ///< likewise
  Femtoseconds batch_start_{}, host_free_{}; ///< of the host's last batch of operations
  std::uint32_t batched_ = 0;
  Scans scans_{*this};
};

} // namespace umf::hw
