#pragma once

#include "model/base/units.h"
#include "model/memory/address_space.h"
#include "model/memory/page_table.h"
#include "model/memory/range_set.h"
#include "model/policy/policy.h"
#include "model/scheduler/coherence.h"
#include "model/scheduler/degrade.h"

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

/// The memory scheduler's decisions as a deterministic state machine: events in, commands
/// out, time as an argument. hw/scheduler gives the commands their time; exec/ will
/// perform them for real. It holds page-table state, never the cost of looking it up.
namespace umf::scheduler {

using memory::PageNumber;
using memory::PageRun;
using memory::TierIndex;
using CommandId = std::uint64_t;

/// Move pages to another tier. The machine takes it with next_command() and
///   either calls refused(): nothing has happened, accesses that waited may go on;
///   or copies, once writes sent to the old place before it are done, while readers go on
///   there and new writers wait; then suspend(): everybody new waits; then, once reads of the
///   old place are done, quiesced(): the mapping switches and the old frames are free; then
///   completed(): accesses that waited look() again and go on; then make_room().
/// From the order on its frames at the destination are taken. Any other sequence is a broken
/// invariant.
///
/// Demand commands serve faults: they may not be refused, and the pages of a fill have no valid
/// mapping from the fault on, so everybody waits from then.
///
/// A sync brings bytes that were written to the staging buffer to pages in the pool. It may not be
/// refused. Once writes to the buffer are done and reads of the old bytes have ended it has
/// landed(); the machine copies; then suspend(), and once nobody reads the buffer quiesced() and
/// completed().
///
/// A scan reads page-table entries and moves nothing: the machine takes its time, then calls
/// quiesced() and completed(). It waits for a slot instead of being refused.
struct Command {
  CommandId id = 0;
  PageRun from; ///< as it was when the command was issued
  TierIndex to = 0;
  std::uint64_t to_frame = 0;
  policy::Order::Why why = policy::Order::Why::background;
  bool blank = false;                ///< holds nothing
  bool back = false;                 ///< what it holds is at the destination already
  bool keep = false;                 ///< the old place stays as a copy
  bool carried = false;              ///< an access on its way reads it anyway: only to be written
  bool sync = false;                 ///< from the staging buffer to where the pages are mapped
  std::uint64_t skip = 0, bytes = 0; ///< what is copied of the pages: bytes behind the first skip
  Femtoseconds begun{};              ///< a sync: when it was ordered
  std::uint32_t packed = 0;          ///< bytes of a page there, as PageRun::packed
  std::uint64_t scan = 0;            ///< entries to read; nothing else of the command counts then

  /// Else the machine has nothing to move before it suspends.
  bool copies() const { return !blank && !back; }
  bool demand() const { return why == policy::Order::Why::room || why == policy::Order::Why::fill; }
};

/// Pages by what became of their prefetch: issued = useful + late + wasted + refused + those that
/// are on their way or wait for their first use.
struct PrefetchCounters {
  std::uint64_t issued = 0;
  std::uint64_t useful = 0;  ///< were there when first accessed
  std::uint64_t late = 0;    ///< were accessed while they came, at their old place
  std::uint64_t wasted = 0;  ///< left, or died, without an access
  std::uint64_t refused = 0; ///< by the machine

  PrefetchCounters& operator+=(const PrefetchCounters& other) {
    issued += other.issued;
    useful += other.useful;
    late += other.late;
    wasted += other.wasted;
    refused += other.refused;
    return *this;
  }
  bool operator==(const PrefetchCounters&) const = default;
};

/// S7.
struct DegradeCounters {
  std::array<std::uint64_t, kTriggers> entered = {}; ///< tiers that became read only, by Trigger
  std::uint64_t forced_writes = 0; ///< accesses that write pages there all the same
  std::uint64_t forced_pages = 0;  ///< placed there for want of other room
  std::uint64_t declined = 0;      ///< pages that were ordered there and stayed where they were

  DegradeCounters& operator+=(const DegradeCounters& other) {
    for (std::size_t t = 0; t < kTriggers; ++t)
      entered[t] += other.entered[t];
    forced_writes += other.forced_writes;
    forced_pages += other.forced_pages;
    declined += other.declined;
    return *this;
  }
  bool operator==(const DegradeCounters&) const = default;
};

struct Counters {
  std::uint64_t touches = 0;       ///< accesses resolved
  std::uint64_t first_touches = 0; ///< pages materialised on demand: not faults
  std::uint64_t faults = 0;        ///< pages that an access found with no valid mapping
  std::uint64_t unmet = 0;         ///< pages to be filled that stayed where they were for want of
                                   ///< room, and are accessed there
  std::uint64_t remote_hits = 0;   ///< accesses served by a mapped page outside HBM and SRAM
  std::uint64_t remote_pages = 0;  ///< pages of them
  std::uint64_t commands = 0, refused = 0, completed = 0;
  std::uint64_t promotions = 0, demotions = 0; ///< pages moved towards, away from the GPU
  std::uint64_t returned = 0;                  ///< pages that went back to a copy of theirs
  Bytes moved{};                             ///< copied; neither blank pages nor returned ones are
  std::uint64_t packed = 0, unpacked = 0;    ///< pages that moves packed, unpacked
  std::uint64_t syncs = 0, synced_pages = 0; ///< of the staging buffer with the pool
  Bytes synced{};
  std::uint64_t joined = 0;  ///< writes that a sync under way took along
  std::uint64_t crowded = 0; ///< writes that found the buffer full, or their pages in a sync
  PrefetchCounters prefetch;
  Bytes reclaimed{};                 ///< of tensors that live on
  std::uint64_t reclaimed_pages = 0; ///< that lost their frames by it
  DegradeCounters degrade;

  Counters& operator+=(const Counters& other);
  bool operator==(const Counters&) const = default;
};

class Tap;
enum class Asked : std::uint8_t;

class Brain {
public:
  Brain(policy::Ground ground, std::unique_ptr<policy::Policy> policy, Coherence coherence = {},
        const Degrading& degrading = {});
  ~Brain();
  Brain(const Brain&) = delete;
  Brain& operator=(const Brain&) = delete;

  /// Tells a policy that wants to know what is to come; before anything is placed.
  void foresee(std::shared_ptr<const policy::Future> future);

  /// Tells it of every call from now on; before any tensor is declared. What a policy knows of the
  /// future is not told.
  void tap(Tap* tap);

  /// Gives a tensor its logical range; no page exists yet (S2: deferred pages cost nothing).
  void declare(const stream::Tensor& tensor);
  /// Initial residency: places the whole tensor before time starts.
  void preload(stream::TensorId tensor);
  /// First touch of what an operation is about to use: deferred pages get their frames.
  void reserve(std::uint64_t address, Bytes length, bool write = false);
  /// The tensor is dead: its frames return. Its pages may not be in a command.
  void release(stream::TensorId tensor);
  /// Whether pages of the tensor are held by a command in progress.
  bool busy(stream::TensorId tensor) const;

  /// Resolves [address, address + length): appends one run per (state, tier, frame run),
  /// materialising deferred pages by the policy. The runs cover whole pages. Tensors that lie side
  /// by side may be accessed as one.
  /// `step`: the operation that asks.
  void touch(std::uint64_t address, Bytes length, bool write, Femtoseconds now,
             std::vector<PageRun>& runs, policy::StepNumber step = policy::kNoStep);
  /// An access that waited comes again: as look, but pages without a valid mapping fault.
  void again(std::uint64_t address, Bytes length, bool write, Femtoseconds now,
             std::vector<PageRun>& runs, policy::StepNumber step = policy::kNoStep);
  /// As touch, but looks only: no events, no placement.
  void look(std::uint64_t address, Bytes length, std::vector<PageRun>& runs) const;

  /// How long the policy's sensor windows are; none: it wants no sensors.
  std::optional<Femtoseconds> sensor_window() const { return policy_->sensor_window(); }
  /// A window is over. Rates of pages are filled in here.
  void sense(policy::Sensors sensors);

  /// The way to a tier is so from now on (S7). A GPU learns it of the downstream port's interrupt,
  /// PCIe's Link Bandwidth Notification, and of its own link's status. A pool behind a bad way is
  /// read only until the way has been good for a while, which the first event after that finds.
  void link_changed(TierIndex tier, const Condition& condition, Femtoseconds now);
  /// How long any pool has been read only by `now`, no earlier than the last event.
  Femtoseconds read_only_for(Femtoseconds now) const;

  /// Pages of faults whose turn has not come.
  std::uint64_t faults_waiting() const { return fault_pages_; }
  /// The turn of the oldest faults, at most so many pages of them. Commands may follow; pages
  /// that get none may be accessed where they are: who waited looks again().
  void serve_faults(std::uint64_t pages, Femtoseconds now);

  /// Victims for the fills that lack frames. To be called once those have looked who waited for a
  /// command that is over, and before commands are taken. Whether pages of faults were mapped
  /// where they are since the last call: who waited looks again().
  bool make_room();

  /// The oldest command the machine has not seen, if any: demand, then what an access carries, then
  /// background.
  std::optional<Command> next_command();
  /// The same among background commands, for a machine that is too busy to take them.
  std::optional<Command> next_background();
  /// The same among those that an access carries.
  std::optional<Command> next_carried();
  void refused(const Command& command, Femtoseconds now = {});
  /// A sync's bytes are in the staging buffer. Whether who waited should look again().
  bool landed(const Command& command);
  void suspend(const Command& command);
  void quiesced(const Command& command, Femtoseconds now = {});
  void completed(const Command& command);

  const memory::AddressSpace& space() const { return space_; }
  const memory::PageTable& table() const { return table_; }
  const policy::Ground& ground() const { return ground_; }
  const Counters& counters() const { return counters_; }
  const policy::Collections* collections() const { return policy_->collections(); }
  const policy::Tuning* tuning() const { return policy_->tuning(); }

  /// Packed pages of a tier and their frames.
  const memory::PackedStore& packed(TierIndex tier) const { return packed_[tier]; }

  /// Frames of a tier that the staging buffer has for itself.
  std::uint64_t staging_frames(TierIndex tier) const {
    return staging_ && staging_->tier() == tier ? staging_->pages() : 0;
  }

  /// Bytes of tensors against bytes of the pages that hold them, at their peak.
  Bytes peak_padding() const { return peak_padding_; }

  // Parts of tensors: reclaim.cpp.
  /// Bytes of a tensor that lives on are dead. Pages without a live byte lose their frames and are
  /// deferred again; padding behind the tensor's last byte is no live byte. Bytes die once, and
  /// their pages may not be in a command. Returns all dead bytes around these in one stretch.
  memory::Range reclaim(std::uint64_t address, Bytes length);
  /// Whether pages of the range are held by a command in progress.
  bool busy(std::uint64_t address, Bytes length) const;
  /// Dead bytes on pages that still have frames, for a neighbour's sake; and at their peak.
  Bytes holes() const { return holes_; }
  Bytes peak_holes() const { return peak_holes_; }

private:
  enum class Stage : std::uint8_t { issued, suspended, switched };
  struct Active {
    Command command;
    Stage stage = Stage::issued;
  };

  /// Pages of a fault, suspended until a fill has brought them or none can.
  struct Fault {
    PageNumber first = 0;
    std::uint64_t count = 0;
    bool write = false, blank = false;
    TierIndex to = 0;                          ///< once a fill was ordered
    policy::StepNumber step = policy::kNoStep; ///< of the first that faulted
    bool keep = false;                         ///< of the fill
  };

  /// Where pages may lie in a row: frames, or packed.
  struct Spot {
    std::uint64_t frame = 0, count = 0;
    std::uint32_t packed = 0;
  };

  /// As many of the pages as there is room for if packed, else all or none.
  std::vector<Spot> claim(TierIndex tier, std::uint64_t pages, std::uint32_t packed,
                          memory::Region region);
  void give_up(TierIndex tier, Spot spot, memory::Region region);
  std::uint32_t packed_page(PageNumber page) const;
  std::vector<Active>::iterator active(const Command& command, Stage stage);
  void materialise(const memory::AddressSpace::Entry& entry, PageNumber first, std::uint64_t count,
                   bool initial, bool write = false, std::uint64_t until = 0);
  memory::Region region_of(PageNumber page) const;
  const memory::AddressSpace::Entry& tensor_at(std::uint64_t address) const;
  std::uint64_t left_of(const memory::AddressSpace::Entry& tensor, std::uint64_t address) const;
  void find(const memory::AddressSpace::Entry& tensor, std::uint64_t address, Bytes length,
            bool write, std::vector<PageRun>& runs);
  policy::Touch touch_of(const memory::AddressSpace::Entry* tensor, const PageRun& run,
                         std::uint64_t address, Bytes length, bool write, Femtoseconds now,
                         policy::StepNumber step) const;
  static int distance(policy::TierClass kind);
  void reach(Femtoseconds now) {
    now_ = now;
    if (now >= due_) reopen(now);
  }
  void reopen(Femtoseconds now);
  void find_due();
  void lend(std::uint64_t pages);
  void note_forced(const PageRun& run);
  static bool still(const PageRun& run);
  void make_resident(PageRun& run);
  void split_by_mapping(std::vector<PageRun>& runs, std::size_t from) const;
  void raise_fault(PageRun& run, bool write, policy::StepNumber step);
  void take_orders();
  void take_move(const policy::Order& order);
  void take_fill(const policy::Order& order);
  void take_queued_faults(const policy::Order& order);
  bool take_back(const PageRun& run, const policy::Order& order);
  void moved(const Command& done, Femtoseconds now);
  void switch_over(const Command& done);
  void overwrite(PageRun& run);
  void route(std::uint64_t address, Bytes length, bool write, Femtoseconds now, std::size_t from,
             std::vector<PageRun>& runs);
  void stage(PageRun run, std::uint64_t begin, std::uint64_t end, Femtoseconds now,
             std::vector<PageRun>& out);
  void synced(const Command& command);
  void meet_prefetch(const PageRun& run);
  void leave_prefetch(PageNumber first, std::uint64_t count);
  std::uint64_t vacate(const memory::AddressSpace::Entry& entry, PageNumber first,
                       std::uint64_t count);
  bool is_dead(const memory::AddressSpace::Entry& entry, PageNumber page) const;
  Bytes dead_in(PageNumber first, std::uint64_t count) const;
  void issue(const Command& command);
  void pump_fills();
  void fill_free();
  void fill_front();
  bool landing(TierIndex tier) const;
  void map_in_place(const Fault& fault);
  std::optional<Command> take(std::deque<Command>& queue, Asked asked);
  void settle(const Command& command, bool moved, Femtoseconds now);

  policy::Ground ground_;
  std::unique_ptr<policy::Policy> policy_;
  memory::AddressSpace space_;
  memory::PageTable table_;
  Counters counters_;
  std::deque<Command> pending_, urgent_; ///< background, demand
  std::deque<Command> riding_, syncing_; ///< carried by accesses; out of the staging buffer
  std::deque<Command> scans_;
  std::deque<Fault> faults_, fills_;             ///< whose turn has not come; which lack frames
  std::uint64_t fault_pages_ = 0;                ///< of faults_
  std::vector<std::uint64_t> leaving_, hurried_; ///< by tier: pages in commands, in demand
                                                 ///< commands, out of it
  std::vector<std::uint64_t> arriving_;          ///< by tier: pages in commands to it
  bool mapped_in_place_ = false; ///< pages of faults, and make_room() has not said so
  std::vector<Active> active_;
  std::vector<policy::Order> orders_;
  std::vector<policy::Grant> grants_;
  std::vector<PageRun> runs_, routed_;
  std::vector<memory::PackedStore> packed_; ///< by tier
  std::optional<Staging> staging_;
  memory::RangeSet coming_, fresh_; ///< prefetched pages nobody has accessed: on their way, there
  Counters sensed_;                 ///< as they were when sensors were read last
  Bytes padding_{}, peak_padding_{};
  Femtoseconds now_{};    ///< of the last event
  memory::RangeSet dead_; ///< addresses of bytes that died before their tensors
  Bytes holes_{}, peak_holes_{};
  std::vector<Degrade> ways_;                  ///< by tier
  std::uint32_t closed_ = 0;                   ///< of them
  Femtoseconds due_ = kNever;                  ///< the first of them to open
  Femtoseconds closed_since_{}, closed_for_{}; ///< any of them
  CommandId next_id_ = 1;
  Tap* tap_ = nullptr;
  bool unmaps_ = false; ///< the policy does
};

} // namespace umf::scheduler
