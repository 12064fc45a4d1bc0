#include "model/scheduler/brain.h"

#include "model/base/error.h"
#include "model/scheduler/tap.h"

#include <algorithm>
#include <utility>

/// From orders to commands, and what becomes of those.
namespace umf::scheduler {

using memory::PageState;

void Brain::take_orders() {
  const std::vector<policy::Order> orders = std::exchange(orders_, {});
  for (const policy::Order& order : orders) {
    ensure(order.to < ground_.tiers.size(), "policy orders a move to a tier that does not exist");
    if (order.scan > 0) {
      Command command;
      command.id = next_id_++;
      command.scan = order.scan;
      scans_.push_back(command);
      continue;
    }
    order.why == policy::Order::Why::fill ? take_fill(order) : take_move(order);
  }
}

/// Frames are reserved at the destination. What cannot be met now (no frames, pages not simply
/// resident) is dropped: the policy sees the pages again at their next touch. Of pages in sync,
/// which it cannot know, it is told.
void Brain::take_move(const policy::Order& order) {
  runs_.clear();
  table_.lookup(order.first, order.pages, runs_);
  for (const PageRun& run : runs_) {
    const std::uint32_t packed = order.packed ? packed_page(run.first) : 0;
    if (run.tier == order.to && run.packed == packed) continue;
    if (order.from && run.tier != *order.from) continue;
    if (run.state == PageState::syncing)
      policy_->settled({run, order.to, false, now_}, ground_, orders_);
    if (run.state != PageState::resident) continue;
    if (take_back(run, order)) continue;
    if (ground_.tiers[order.to].read_only) {
      counters_.degrade.declined += run.count;
      policy_->settled({run, order.to, false, now_}, ground_, orders_);
      continue;
    }
    PageRun rest = run;
    const memory::Region region = region_of(run.first);
    for (const Spot& spot : claim(order.to, run.count, packed, region)) {
      PageRun part = rest;
      part.count = spot.count;
      table_.set_state(part.first, part.count, PageState::moving);
      issue({.from = part,
             .to = order.to,
             .to_frame = spot.frame,
             .why = order.why,
             .keep = order.keep && run.packed == 0, // copies are of whole frames
             .carried = order.carried,
             .packed = packed});
      rest.skip(spot.count);
    }
    if (rest.count > 0) policy_->settled({rest, order.to, false, now_}, ground_, orders_);
  }
}

/// A move to where a copy of the pages is still whole.
bool Brain::take_back(const PageRun& run, const policy::Order& order) {
  if (!run.copy || run.copy.tier != order.to) return false;
  memory::FrameAllocator& frames = *ground_.tiers[order.to].frames;
  const memory::FrameRun there{run.copy.frame, run.count};
  table_.set_copy(run.first, run.count, {});
  if (!frames.restore(there, run.copy.id, region_of(run.first))) {
    frames.forget(there, run.copy.id);
    return false;
  }
  table_.set_state(run.first, run.count, PageState::moving);
  issue({.from = run, .to = order.to, .to_frame = there.first, .why = order.why, .back = true});
  return true;
}

void Brain::issue(const Command& wanted) {
  Command command = wanted;
  command.id = next_id_++;
  const PageRun& from = command.from;
  command.bytes = from.count * ground_.page.count;
  leaving_[from.tier] += from.count;
  arriving_[command.to] += from.count;
  if (command.demand()) hurried_[from.tier] += from.count;
  if (command.why == policy::Order::Why::prefetch) {
    counters_.prefetch.issued += from.count;
    coming_.insert({from.first, from.first + from.count});
  }
  (command.demand() ? urgent_ : command.carried ? riding_ : pending_).push_back(command);
}

std::optional<Command> Brain::take(std::deque<Command>& queue, Asked asked) {
  if (queue.empty()) {
    if (tap_ != nullptr) tap_->gave(asked, nullptr);
    return std::nullopt;
  }
  const Command command = queue.front();
  queue.pop_front();
  active_.push_back({command});
  ++counters_.commands;
  if (tap_ != nullptr) tap_->gave(asked, &command);
  return command;
}

std::optional<Command> Brain::next_command() {
  if (!urgent_.empty()) return take(urgent_, Asked::any);
  if (!riding_.empty()) return take(riding_, Asked::any);
  if (!scans_.empty()) return take(scans_, Asked::any);
  if (syncing_.empty()) return take(pending_, Asked::any);
  const Staging::Sync sync = staging_->of(syncing_.front().id);
  syncing_.front().skip = sync.begin - sync.home.first * ground_.page.count;
  syncing_.front().bytes = sync.end - sync.begin;
  staging_->of(sync.command).taken = true;
  return take(syncing_, Asked::any);
}

std::optional<Command> Brain::next_carried() {
  return take(riding_, Asked::carried);
}

std::optional<Command> Brain::next_background() {
  return take(pending_, Asked::background);
}

std::vector<Brain::Active>::iterator Brain::active(const Command& command, Stage stage) {
  const auto it = std::find_if(active_.begin(), active_.end(),
                               [&](const Active& a) { return a.command.id == command.id; });
  ensure(it != active_.end() && it->stage == stage, "command event out of order");
  return it;
}

void Brain::refused(const Command& command, Femtoseconds now) {
  ensure(!command.demand(), "refusal of a command that a fault waits for");
  ensure(!command.sync, "refusal of a command that brings written bytes home");
  ensure(command.scan == 0, "refusal of a scan");
  const auto it = active(command, Stage::issued);
  const Command gone = it->command;
  ++counters_.refused;
  const PageRun& from = gone.from;
  table_.set_state(from.first, from.count, PageState::resident);
  memory::FrameAllocator& frames = *ground_.tiers[gone.to].frames;
  const memory::FrameRun there{gone.to_frame, from.count};
  if (gone.back)
    table_.set_copy(from.first, from.count,
                    {frames.keep(there, region_of(from.first)), gone.to, there.first});
  else
    give_up(gone.to, {gone.to_frame, from.count, gone.packed}, region_of(from.first));
  if (gone.why == policy::Order::Why::prefetch)
    counters_.prefetch.refused += coming_.erase({from.first, from.first + from.count});
  active_.erase(it);
  settle(gone, false, now);
  if (tap_ != nullptr) tap_->refused(gone, now);
}

void Brain::suspend(const Command& command) {
  ensure(command.scan == 0, "a scan suspends nothing");
  const auto it = active(command, Stage::issued);
  it->stage = Stage::suspended;
  if (command.sync)
    staging_->of(command.id).closed = true;
  else
    table_.set_state(it->command.from.first, it->command.from.count, PageState::suspended);
  if (tap_ != nullptr) tap_->suspended(command);
}

void Brain::quiesced(const Command& command, Femtoseconds now) {
  const auto it = active(command, command.scan > 0 ? Stage::issued : Stage::suspended);
  const Command done = it->command;
  it->stage = Stage::switched;
  if (done.scan > 0) {
    now_ = now;
    policy_->scanned(done.scan, now, ground_, orders_);
    take_orders();
  } else {
    done.sync ? synced(done) : moved(done, now);
  }
  if (tap_ != nullptr) tap_->quiesced(done, now);
}

void Brain::moved(const Command& done, Femtoseconds now) {
  const PageRun& from = done.from;
  switch_over(done);
  const memory::Range pages{from.first, from.first + from.count};
  leave_prefetch(from.first, from.count);
  coming_.erase(pages, [this](memory::Range part) { fresh_.insert(part); });
  if (done.back) counters_.returned += from.count;
  if (done.copies()) counters_.moved += Bytes{from.count * ground_.page.count};
  if (done.packed > 0 && from.packed == 0) counters_.packed += from.count;
  if (done.packed == 0 && from.packed > 0) counters_.unpacked += from.count;
  if (!done.blank) {
    const int before = distance(ground_.tiers[from.tier].kind);
    const int after = distance(ground_.tiers[done.to].kind);
    if (after < before) counters_.promotions += from.count;
    if (after > before) counters_.demotions += from.count;
  }
  settle(done, true, now);
}

/// Maps the pages where the command has brought them. What is left behind is a copy or nothing; an
/// older copy stays one unless there is a newer.
void Brain::switch_over(const Command& done) {
  const PageRun& from = done.from;
  memory::FrameAllocator& left = *ground_.tiers[from.tier].frames;
  const memory::FrameRun behind{from.frame, from.count};
  memory::Copy kept;
  if (done.keep)
    kept = {left.keep(behind, region_of(from.first)), from.tier, from.frame};
  else
    give_up(from.tier, {from.frame, from.count, from.packed}, region_of(from.first));
  for (const PageRun& run : table_.unmap(from.first, from.count)) {
    const std::uint64_t ahead = run.first - from.first;
    if (kept && run.copy)
      ground_.tiers[run.copy.tier].frames->forget({run.copy.frame, run.count}, run.copy.id);
    table_.map(run.first, run.count, done.to, done.to_frame + ahead * PageRun::stride(done.packed),
               kept ? kept.from(ahead) : run.copy, done.packed);
  }
}

/// Frames have become free: at the old place, or those that were reserved. They go to fills, but
/// nobody is sent out yet: what has just come would leave before it was used, for ever if two
/// pages are written in turn in one frame.
void Brain::settle(const Command& command, bool moved, Femtoseconds now) {
  leaving_[command.from.tier] -= command.from.count;
  arriving_[command.to] -= command.from.count;
  if (command.demand()) hurried_[command.from.tier] -= command.from.count;
  reach(now);
  policy_->settled({command.from, command.to, moved, now}, ground_, orders_);
  take_orders();
  fill_free();
}

void Brain::completed(const Command& command) {
  active_.erase(active(command, Stage::switched));
  ++counters_.completed;
  if (tap_ != nullptr) tap_->completed(command);
}

} // namespace umf::scheduler
