#include "hw/scheduler/scheduler.h"

#include "model/base/error.h"

#include <algorithm>
#include <utility>

/// The machine's side of the command handshake: a move is a read of the old frames and a write
/// of the new ones, then a quiesce of the range. Faults are handled in batches, which become moves.
namespace umf::hw {

void Scheduler::sense() {
  const auto window = brain_.sensor_window();
  const Femtoseconds now = sim_now(), span = now - sensed_;
  if (!window || !moved_ || span < *window) return;
  const Moved moved = moved_(now);
  const auto since = [](std::uint64_t all, std::uint64_t before) {
    return static_cast<double>(all - std::min(before, all));
  };
  policy::Sensors sensors{now, span};
  if (hbm_peak_.value > 0)
    sensors.hbm_utilisation = since(moved.hbm, seen_.hbm) / (hbm_peak_.value * span.seconds());
  if (moved.all > seen_.all)
    sensors.sram_hit_rate = since(moved.sram, seen_.sram) / since(moved.all, seen_.all);
  seen_ = moved;
  sensed_ = now;
  brain_.sense(sensors);
}

void Scheduler::way_changed(std::uint16_t tier, const scheduler::Condition& condition) {
  if (before_change_) before_change_();
  clock_.observe(sim_now());
  brain_.link_changed(tier, condition, sim_now());
}

/// When the host has issued one more operation: it works on one batch at a time, and takes with
/// each what waits for it.
Femtoseconds Scheduler::issue_by_host() {
  const Femtoseconds now = sim_now();
  if (config_.operation_cost.count == 0) return now;
  if (batched_ == 0 || batch_start_ <= now || batched_ == config_.operation_batch) {
    batch_start_ = std::max(now, host_free_);
    host_free_ = batch_start_ + config_.operation_cost;
    batched_ = 0;
    ++statistics_.operations;
  }
  ++batched_;
  return host_free_;
}

/// One batch of faults at a time; those that come meanwhile make the next one.
void Scheduler::pump_faults() {
  if (handling_faults_ || brain_.faults_waiting() == 0) return;
  handling_faults_ = true;
  fault_batch_ = std::min<std::uint64_t>(brain_.faults_waiting(), config_.fault_batch);
  faults_due_.notify(to_sc(config_.fault_latency + (issue_by_host() - sim_now())));
}

void Scheduler::handle_faults() {
  if (before_change_) before_change_();
  ++statistics_.fault_batches;
  handling_faults_ = false;
  brain_.serve_faults(fault_batch_, sim_now());
  retry_parked(); // pages that could not be moved are served where they are
  pump_commands();
  if (command_done_) command_done_();
}

/// Moves that accesses carry have slots of their own, as many as the others.
void Scheduler::pump_commands() {
  bool changed = brain_.make_room();
  const auto accept = [this](const scheduler::Command& command) {
    moves_.push_back({command});
    Move& move = moves_.back();
    move.accepted = sim_now();
    move.urgent = command.demand();
    move.issued = issue_by_host();
    if (command.carried) ++carrying_;
    start_move(move);
  };
  const auto refuse = [&](const scheduler::Command& command) {
    brain_.refused(command, sim_now());
    changed = true;
  };
  while (const auto command = brain_.next_carried())
    carrying_ < config_.command_queue ? accept(*command) : refuse(*command);
  while (moves_.size() - carrying_ < config_.command_queue) {
    const auto command = brain_.next_command();
    if (!command) break;
    accept(*command);
  }
  if (moves_.size() - carrying_ >= config_.command_queue)
    while (const auto command = brain_.next_background())
      refuse(*command);
  if (std::exchange(look_again_, false)) changed = true;
  if (changed) retry_parked(); // for a move that will not be, a write or a fault may have waited
}

/// Copying starts once no write to the old place is on its way; new ones wait already. What comes
/// out of the staging buffer waits for reads of what it overwrites too.
bool Scheduler::may_begin(const scheduler::Command& command) const {
  return !in_flight(command.from, [&](Payload& payload) {
    return payload.is_write() || (command.sync && burst_of(payload).tier == command.to);
  });
}

bool Scheduler::read_or_written(const scheduler::Command& command) const {
  return in_flight(command.from, [](Payload&) { return true; });
}

void Scheduler::start_move(Move& move) {
  if (move.issued > sim_now()) return issued_event_.notify(to_sc(move.issued - sim_now()));
  if (move.command.scan > 0) return start_scan(move);
  if (!may_begin(move.command)) return;
  move.started = true;
  move.begun = sim_now();
  if (move.command.sync && brain_.landed(move.command)) look_again_ = true;
  if (move.command.copies()) return advance_move(move);
  suspend(move);
  drained_event_.notify(sc_core::SC_ZERO_TIME); // nothing will be answered
}

/// A walker reads a line of entries in the time of a walk, behind the walks of accesses.
void Scheduler::start_scan(Move& move) {
  constexpr std::uint64_t kEntry = 8, kLine = 128; // bytes; as CUDA's 64-bit entries and lines
  const std::uint64_t lines = (move.command.scan * kEntry + kLine - 1) / kLine;
  const std::uint64_t rounds = (lines + config_.walkers - 1) / config_.walkers;
  move.started = true;
  move.begun = sim_now();
  if (config_.walk_latency.count == 0) return scanned(move.command.id);
  clock_.start(static_cast<double>(rounds * config_.walkers),
               {{walkers_, config_.walk_latency.seconds()}}, Urgency::background, false, scans_,
               move.command.id);
}

void Scheduler::scanned(std::uint64_t id) {
  const auto it = std::find_if(moves_.begin(), moves_.end(),
                               [&](const Move& move) { return move.command.id == id; });
  ensure(it != moves_.end(), "scheduler: a scan ends that is not in progress");
  it->suspended = true; // nobody is to be waited for
  it->copied = sim_now();
  statistics_.scanning += it->copied - it->begun;
  drained_event_.notify(sc_core::SC_ZERO_TIME);
}

void Scheduler::advance_move(Move& move) {
  const std::uint64_t total = move.command.bytes;
  constexpr std::uint32_t kBurstsInFlight = 2; // one being read while one is being written
  while (move.in_flight < kBurstsInFlight && move.reading < total) {
    const std::uint64_t length =
        std::min({config_.move_burst.count, config_.max_burst.count, total - move.reading});
    const std::uint64_t within = move.reading;
    move.reading += length;
    ++move.in_flight;
    // What an access reads is written as it passes; the mapping waits for the access.
    if (move.command.carried) statistics_.carried += length;
    send_copy(move, move.command.carried, within, length);
  }
}

/// Half of a copy. It yields to demand, unless an access waits for the move.
void Scheduler::send_copy(Move& move, bool write, std::uint64_t within, std::uint64_t length) {
  const scheduler::Command& command = move.command;
  const std::uint16_t tier = write ? command.to : command.from.tier;
  const std::uint32_t packed = write ? command.packed : command.from.packed;
  const Side side = side_of(tier, write ? command.to_frame : command.from.frame, packed,
                            command.skip + within, length);
  Payload& payload = pool_.acquire(write, side.address, {side.bytes});
  Burst& burst = burst_of(payload);
  burst.plain = static_cast<std::uint32_t>(length);
  burst.token = kMigration | command.id;
  burst.gpu = gpu_;
  burst.tier = tier;
  burst.purpose = Purpose::migration;
  burst.urgency = move.urgent ? Urgency::demand : Urgency::background;
  if (packed > 0) pass_engine(burst, write, side.bytes, length);
  send(payload, tier);
}

void Scheduler::copy_answered(const Payload& payload) {
  const auto id = burst_of(const_cast<Payload&>(payload)).token & ~kMigration;
  const auto it = std::find_if(moves_.begin(), moves_.end(),
                               [&](const Move& move) { return move.command.id == id; });
  ensure(it != moves_.end(), "scheduler: answer to a move that is not in progress");
  Move& move = *it;
  const std::uint64_t length = burst_of(const_cast<Payload&>(payload)).plain;
  const bool sync = move.command.sync;
  if (payload.is_read()) {
    (sync ? statistics_.synced_read : statistics_.copied_read) += length;
    // Packed pages are moved whole, so that their bytes are in proportion to the last one.
    const std::uint32_t packed = move.command.from.packed;
    const std::uint64_t start =
        side_of(move.command.from.tier, move.command.from.frame, packed, move.command.skip, 1)
            .address;
    const std::uint64_t ahead = payload.get_address() - start;
    send_copy(move, true, packed > 0 ? ahead * page_ / packed : ahead, length);
    return;
  }
  (sync ? statistics_.synced_written : statistics_.copied_written) += length;
  move.written += length;
  --move.in_flight;
  if (move.written < move.command.bytes) {
    advance_move(move);
    return;
  }
  suspend(move);
  finish_drained_moves();
}

void Scheduler::suspend(Move& move) {
  if (before_change_) before_change_();
  brain_.suspend(move.command);
  move.suspended = true;
  move.copied = sim_now();
}

/// What is still to be copied of the pages that this piece waits for goes ahead as demand.
void Scheduler::hurry(const Piece& piece) {
  for (Move& move : moves_) {
    const memory::PageRun& pages = move.command.from;
    if (pages.first < piece.first_page + piece.pages &&
        piece.first_page < pages.first + pages.count)
      move.urgent = true;
  }
}

/// Switches the mapping of every suspended range that no access still reads.
void Scheduler::finish_drained_moves() {
  bool any = false;
  for (auto it = moves_.begin(); it != moves_.end();) {
    if (!it->started) start_move(*it);
    if (!it->suspended || read_or_written(it->command)) {
      ++it;
      continue;
    }
    if (before_change_) before_change_();
    brain_.quiesced(it->command, sim_now());
    const std::uint64_t first = it->command.from.first;
    if (it->command.scan == 0) // shoot the old translation down
      tlb_.discard({first, first + it->command.from.count});
    brain_.completed(it->command);
    if (Observer* observer = clock_.observer())
      observer->moved({it->command.id, gpu_, it->command.from.tier, it->command.to,
                       it->command.scan > 0 ? it->command.scan : it->command.from.count,
                       it->command.bytes, it->command.sync, it->command.scan > 0,
                       it->command.sync ? it->command.begun : it->accepted, it->begun, it->copied,
                       sim_now()});
    if (it->command.carried) --carrying_;
    it = moves_.erase(it);
    any = true;
  }
  if (!any && !look_again_) return;
  look_again_ = false;
  retry_parked();
  if (!any) return;
  pump_commands();
  if (command_done_) command_done_();
}

template <class Counts>
bool Scheduler::in_flight(const memory::PageRun& pages, Counts counts) const {
  return std::any_of(pieces_.begin(), pieces_.end(), [&](const Piece& piece) {
    return piece.request != kNoId && piece.payload != nullptr &&
           piece.first_page < pages.first + pages.count &&
           pages.first < piece.first_page + piece.pages && counts(*piece.payload);
  });
}

/// Counts an access that may see, or make, half of a page new and half old.
void Scheduler::note_torn(const Piece& piece, bool write, std::uint16_t tier) {
  if (!in_pool(tier, piece)) return;
  if (write) ++pool_writes_;
  if (pool_writes_ == 0) return;
  const bool torn = in_flight({piece.first_page, piece.pages}, [&](Payload& other) {
    return &other != piece.payload && other.is_write() != write && burst_of(other).tier == tier;
  });
  statistics_.torn += torn;
}

} // namespace umf::hw
