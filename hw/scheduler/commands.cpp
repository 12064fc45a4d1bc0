#include "hw/scheduler/scheduler.h"

#include "model/base/error.h"

#include <algorithm>

/// The machine's side of the command handshake: a move is a background read of the old
/// frames and a background write of the new ones, then a quiesce of the range.
namespace umf::hw {

void Scheduler::pump_commands() {
  bool refused = false;
  while (const auto command = brain_.next_command()) {
    if (moves_.size() >= config_.command_queue) {
      brain_.refused(*command);
      refused = true;
      continue;
    }
    moves_.push_back({*command});
    moves_.back().accepted = sim_now();
    start_move(moves_.back());
  }
  if (refused) retry_parked(); // writes may have waited for a move that will not be
}

/// Copying starts once no write to the old place is on its way; new ones wait already.
void Scheduler::start_move(Move& move) {
  if (in_flight(move.command.from.first, move.command.from.count, true)) return;
  move.started = true;
  advance_move(move);
}

void Scheduler::advance_move(Move& move) {
  const scheduler::Command& command = move.command;
  const std::uint64_t total = command.from.count * page_;
  constexpr std::uint32_t kBurstsInFlight = 2; // one being read while one is being written
  while (move.in_flight < kBurstsInFlight && move.reading < total) {
    const std::uint64_t length = std::min(config_.max_burst.count, total - move.reading);
    Payload& read = pool_.acquire(
        false, physical_address(command.from.tier, command.from.frame * page_ + move.reading),
        {length});
    Burst& burst = burst_of(read);
    burst.token = kMigration | command.id;
    burst.gpu = gpu_;
    burst.tier = command.from.tier;
    burst.purpose = Purpose::migration;
    burst.urgency = Urgency::background;
    move.reading += length;
    ++move.in_flight;
    send(read, command.from.tier);
  }
}

void Scheduler::copy_answered(const Payload& payload) {
  const auto id = burst_of(const_cast<Payload&>(payload)).token & ~kMigration;
  const auto it = std::find_if(moves_.begin(), moves_.end(),
                               [&](const Move& move) { return move.command.id == id; });
  ensure(it != moves_.end(), "scheduler: answer to a move that is not in progress");
  Move& move = *it;
  const std::uint64_t length = payload.get_data_length();
  if (payload.is_read()) {
    statistics_.copied_read += length;
    const std::uint64_t within =
        payload.get_address() -
        physical_address(move.command.from.tier, move.command.from.frame * page_);
    Payload& write = pool_.acquire(
        true, physical_address(move.command.to, move.command.to_frame * page_ + within), {length});
    Burst& burst = burst_of(write);
    burst.token = kMigration | id;
    burst.gpu = gpu_;
    burst.tier = move.command.to;
    burst.purpose = Purpose::migration;
    burst.urgency = Urgency::background;
    send(write, move.command.to);
    return;
  }
  statistics_.copied_written += length;
  move.written += length;
  --move.in_flight;
  if (move.written < move.command.from.count * page_) {
    advance_move(move);
    return;
  }
  if (before_change_) before_change_();
  brain_.suspend(move.command);
  move.suspended = true;
  finish_drained_moves();
}

/// Switches the mapping of every suspended range that no access still reads.
void Scheduler::finish_drained_moves() {
  bool any = false;
  for (auto it = moves_.begin(); it != moves_.end();) {
    if (!it->started) start_move(*it);
    if (!it->suspended || in_flight(it->command.from.first, it->command.from.count, false)) {
      ++it;
      continue;
    }
    if (before_change_) before_change_();
    brain_.quiesced(it->command);
    std::uint64_t first = it->command.from.first;
    tlb_.discard({first, first + it->command.from.count}); // shoot the old translation down
    brain_.completed(it->command);
    if (Observer* observer = clock_.observer())
      observer->moved({it->command.id, gpu_, it->command.from.tier, it->command.to,
                       it->command.from.count, it->accepted, sim_now()});
    it = moves_.erase(it);
    any = true;
  }
  if (!any) return;
  retry_parked();
  pump_commands();
  if (command_done_) command_done_();
}

bool Scheduler::in_flight(memory::PageNumber first, std::uint64_t pages, bool only_writes) const {
  return std::any_of(pieces_.begin(), pieces_.end(), [&](const Piece& piece) {
    return piece.request != kNoId && piece.payload != nullptr &&
           (!only_writes || piece.payload->is_write()) && piece.first_page < first + pages &&
           first < piece.first_page + piece.pages;
  });
}

} // namespace umf::hw
