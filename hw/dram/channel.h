#pragma once

#include "hw/dram/controller.h"
#include "hw/dram/timings.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

namespace umf::hw::dram {

inline constexpr Cycle kNever = std::numeric_limits<Cycle>::max() / 4;

/// Why the data bus was not busy.
enum class Limit : std::uint8_t {
  refresh,     ///< a row was opened late because its bank or rank was being refreshed
  turnaround,  ///< reads after writes or writes after reads, or another rank on the bus
  four_acts,   ///< tFAW
  activation,  ///< tRRD
  conflict,    ///< a bank had to close a row and open another: tRP, tRAS, tRC, tRCD
  bank_group,  ///< tCCD_L: accesses in one bank group
  command_bus, ///< no slot for the command
  queue,       ///< nothing to do: too few requests reach this unit
};
inline constexpr std::size_t kLimits = 8;
std::string_view name_of(Limit limit);

/// One access of the unit's burst size.
struct Access {
  std::uint32_t bank = 0; ///< (rank × groups + group) × banks + bank
  std::uint32_t row = 0, column = 0;
  std::uint32_t tag = 0; ///< the asker's own
  bool write = false;
};

enum class Order : std::uint8_t { activate, precharge, read, write, refresh_bank, refresh_all };
/// A command as it went to the DRAM.
struct Command {
  Cycle at;
  Order order;
  std::uint32_t bank; ///< of the channel; refreshes and closing for them: the first one concerned
  std::uint32_t row;
};

/// Read: the last of its data is on the pins at `at`. Write: taken over by the queue at `at`.
struct Done {
  std::uint32_t tag;
  bool write;
  Cycle at;
};

struct ChannelStatistics {
  std::uint64_t reads = 0, writes = 0; ///< on the bus
  std::uint64_t forwarded = 0;         ///< reads answered from the write queue
  std::uint64_t row_hits = 0;          ///< accesses to a row that an earlier one had opened
  std::uint64_t activates = 0, precharges = 0;
  std::uint64_t conflicts = 0; ///< precharges for want of another row
  Cycle busy = 0;              ///< data on the bus
  Cycle first_data = 0;        ///< where the first data would have begun had nothing held it up
  Cycle last_data = 0;         ///< end of the last data
  std::array<Cycle, kLimits> lost{};
};

/// The memory controller of one unit and its banks, with time as an argument.
///
/// Model: in every clock the column bus may take one RD or WR, the row bus one ACT or PRE (DDR:
/// one bus for all). Among commands whose timings are met the oldest request's goes first, and
/// row hits need no other; a row with hits waiting stays open (FR-FCFS: Rixner et al., ISCA 2000),
/// unless a request of that bank has waited longer than the age cap. Reads go before writes until
/// writes reach the high watermark or no reads wait; a drain that a read has waited for longer than
/// the cap ends once it has done what lies between the watermarks. Nothing is done clock by clock:
/// each step computes when the next command can go and commits it.
///
/// Requests that arrive in clock c are seen by commands of clock c and later; room made by a
/// command of clock c is seen from clock c + 1 on.
class Channel {
public:
  struct Config {
    Organisation organisation;
    Timings timings;
    ControllerConfig controller;
    Cycle age_cap = 0, page_timeout = 0; ///< the controller's, in clocks
    Cycle refresh_phase = 0;             ///< of the first refresh, within its interval
  };

  /// `done` outlives the channel and receives what completes.
  Channel(const Config& config, std::vector<Done>& done);

  bool full(bool write) const { return count_[write] == capacity_[write]; }
  /// Advances to `now` first. The queue must have room. True: its Done is there already (a write
  /// is queued, a read found its data in the write queue).
  bool push(const Access& access, Cycle now);
  /// Commits every command of clocks before `until`.
  void advance(Cycle until) {
    if (bound_ < until) play(until);
  }
  /// The clock of the next command unless something is pushed before.
  Cycle next() {
    if (turn_dirty_ || column_dirty_ || row_dirty_) choose();
    return bound_ = std::min(std::min(column_.at, row_.at), next_due_);
  }
  /// No read completes before this clock unless something is pushed; kNever: none waits.
  Cycle next_data() const {
    if (count_[0] == 0) return kNever;
    // Without a hit among the reads a row has to be opened first.
    return bound_ + (hit_[0] == 0 ? timings_.tRCDRD : 0) + timings_.tCL + timings_.burst;
  }
  /// Throws InvariantError unless the commands chosen are those that would be chosen anew.
  void prove_choice();
  bool idle() const { return count_[0] + count_[1] == 0; }
  std::uint32_t waiting(bool write) const { return count_[write]; }

  /// From now on every command is written down, not always in order of time: an all-bank refresh
  /// and what it closes are entered when they are decided. Closings that need no command of
  /// their own (auto-precharge, timeout) are entered as PRE.
  void log_to(std::vector<Command>* log) { log_ = log; }

  const ChannelStatistics& statistics() const { return statistics_; }
  /// Per rank. All-bank: refreshes of the rank; per-bank: of one set of its banks. Both sides
  /// count up to the last clock committed.
  struct Refreshes {
    std::uint64_t due = 0, issued = 0;
  };
  Refreshes refreshes(std::uint32_t rank) const { return ranks_[rank].refreshes; }

private:
  using Mask = std::uint64_t;
  using Index = std::uint16_t;
  static constexpr Index kNone = 0xffff;
  static constexpr std::size_t kBanks = 64, kGroups = 32, kRanks = 8, kFilter = 128;
  static constexpr std::uint32_t kInOrder = 8; ///< requests looked at by age before banks are

  using Serial = std::uint32_t; ///< order in the queues, compared by difference: it may wrap round
  static bool before(Serial a, Serial b) { return static_cast<std::int32_t>(a - b) < 0; }

  struct Slot {
    Cycle arrival;
    std::uint32_t row, tag;
    Serial order;
    std::uint16_t column;
    Index next, previous; ///< of the same bank and direction; `next` also links free slots
    Index younger, older; ///< of the same direction
    std::uint8_t bank;
    bool write;
  };
  static_assert(sizeof(Slot) == 32);
  /// The requests of one bank in one direction, oldest first.
  struct Line {
    Index head = kNone, tail = kNone;
    Index hit = kNone; ///< oldest request of the open row
    std::uint16_t hits = 0;
  };
  struct Rank {
    std::array<Cycle, 4> acts{}; ///< the last four, a ring
    std::uint32_t oldest_act = 0;
    Cycle due = kNever;        ///< next refresh
    std::uint64_t periods = 0; ///< refresh intervals gone by
    std::uint32_t owed = 0, waiting = 0;
    std::uint32_t set = UINT32_MAX; ///< being refreshed bank by bank, not yet issued
    Mask todo = 0;                  ///< sets left in this round
    Refreshes refreshes;
  };
  enum class Row : std::uint8_t { none, activate, precharge, refresh };
  struct Choice {
    Cycle at = kNever;
    std::uint32_t bank = 0;
    Row kind = Row::none;
  };

  void note(Cycle at, Order order, std::uint32_t bank, std::uint32_t row = 0) {
    if (log_ != nullptr) log_->push_back({at, order, bank, row});
  }
  void play(Cycle until);
  void commit_before(Cycle until);
  void choose();
  void choose_column();
  void choose_row();
  void choose_refresh(Cycle floor);
  void offer_column(std::uint32_t bank);
  void offer_row(std::uint32_t bank);
  bool steady() const;
  void turn();
  void commit_column();
  void commit_row();
  void activate(std::uint32_t bank, Cycle at);
  void precharge(std::uint32_t bank, Cycle at);
  void set_head(bool write, std::uint32_t bank, Index slot) {
    lines_[write][bank].head = slot;
    if (slot != kNone) head_order_[write][bank] = slots_[slot].order;
  }
  void opened(std::uint32_t bank);
  void closed(std::uint32_t bank);
  void enlist(Index slot);
  void retire(Index slot);
  void release_parked(const Slot& read);
  void account_gap(const Slot& slot, Cycle at);
  void close_idle(std::uint32_t bank, Cycle now);

  void refresh_due(std::uint32_t rank);
  void refresh_all(std::uint32_t rank, Cycle at);
  void begin_set(std::uint32_t rank);
  void find_due();
  void issue_set(std::uint32_t rank, Cycle at);
  void skip_idle(Cycle until);
  Cycle due_at(const Rank& rank) const;
  Mask banks_of_set(std::uint32_t rank, std::uint32_t set) const;
  std::uint32_t sets() const { return banks_of_rank_ / timings_.refresh_banks; }
  Mask all_sets() const { return ((Mask{1} << (sets() - 1)) << 1) - 1; }

  std::uint32_t rank_of(std::uint32_t bank) const { return rank_[bank]; }
  Mask banks_of(std::uint32_t rank) const {
    return (((Mask{1} << (banks_of_rank_ - 1)) << 1) - 1) << (rank * banks_of_rank_);
  }
  static std::uint8_t filter_hash(std::uint32_t bank, std::uint32_t row, std::uint32_t column) {
    return static_cast<std::uint8_t>((column ^ (row * 37) ^ (bank * 101)) % kFilter);
  }

  /// From a column command, RD or WR, to what may follow it.
  struct AfterColumn {
    Cycle end;                                    ///< of its data
    std::array<std::array<Cycle, 2>, 2> column{}; ///< by [other rank][RD, WR]
    Cycle group = 0, group_read = 0;              ///< the same of its group, reads of it
    Cycle precharge = 0;
  };
  AfterColumn after(bool write) const;

  Timings timings_;
  std::array<AfterColumn, 2> after_{};
  ControllerConfig controller_;
  Cycle age_cap_, page_timeout_, refresh_phase_;
  std::uint32_t banks_of_rank_, rank_count_, bank_count_;
  std::vector<Done>* done_;
  std::vector<Command>* log_ = nullptr;

  // By bank, group and rank.
  std::array<Cycle, kBanks> act_ready_{}, pre_ready_{};
  std::array<Cycle, kBanks> last_use_{};                    ///< where pages time out
  std::array<std::array<Cycle, kBanks>, 2> column_ready_{}; ///< RD, WR: tRCD
  std::array<std::uint32_t, kBanks> open_row_{};
  std::array<std::uint8_t, kBanks> group_{}; ///< rank × groups + group
  std::array<std::uint8_t, kBanks> rank_{};
  std::array<Limit, kBanks> act_limit_{};   ///< what held the last ACT
  std::array<Limit, kBanks> ready_limit_{}; ///< what act_ready_ waits for
  std::array<bool, kBanks> fresh_{};        ///< opened and not yet accessed
  std::array<std::array<Cycle, kGroups>, 2> group_column_{};
  std::array<Cycle, kGroups> group_act_{};
  std::array<std::array<Cycle, kRanks>, 2> rank_column_{}; ///< RD, WR
  std::array<Cycle, kRanks> rank_act_{};                   ///< by tRRD_S, tFAW, tRREFD
  std::array<Cycle, kRanks> rank_pre_{};                   ///< by tPPD
  std::array<Rank, kRanks> ranks_{};
  Mask open_ = 0, refreshing_ = 0;
  Mask overdue_ = 0; ///< the bank whose row must close for a request beyond the age cap
  Mask held_ = 0;    ///< the other ranks' banks while one of its own goes first
  std::array<Mask, 2> pending_{}, hit_{};                  ///< reads, writes
  std::array<std::array<Serial, kBanks>, 2> head_order_{}; ///< of each line's head

  // Requests.
  std::vector<Slot> slots_;
  std::array<std::array<Line, kBanks>, 2> lines_{};
  Index free_ = kNone;
  std::array<Index, 2> oldest_{kNone, kNone}, youngest_{kNone, kNone};
  std::array<Cycle, 2> late_{kNever, kNever}; ///< after it the oldest is beyond the age cap
  std::array<std::uint32_t, 2> count_{}, capacity_{};
  std::vector<Index> parked_; ///< writes that wait for an older read of the same address
  std::array<std::array<std::uint16_t, kFilter>, 2>
      filter_{}; ///< requests by hash of their address
  Serial order_ = 0;

  // Buses and choices.
  Cycle cursor_ = 0; ///< no decision before
  Cycle bound_ = 0;  ///< no command before, as far as is known without choosing
  Cycle column_bus_ = 0, row_bus_ = 0;
  bool last_write_ = false;
  bool writing_ = false, draining_ = false;
  std::uint32_t drained_ = 0; ///< writes since the bus turned to them
  bool turn_dirty_ = true, column_dirty_ = true, row_dirty_ = true; ///< to be chosen again
  Choice column_, row_;
  Cycle next_due_ = kNever;
  std::uint32_t due_rank_ = 0;
  ChannelStatistics statistics_;
};

} // namespace umf::hw::dram
