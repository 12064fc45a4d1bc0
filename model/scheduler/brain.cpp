#include "model/scheduler/brain.h"

#include "model/base/error.h"

#include <algorithm>
#include <utility>

namespace umf::scheduler {

using memory::PageState;

namespace {
/// From the GPU: on it, one hop away, behind the host.
int distance(policy::TierClass kind) {
  switch (kind) {
  case policy::TierClass::hbm:
  case policy::TierClass::sram:
    return 0;
  case policy::TierClass::pool:
    return 1;
  case policy::TierClass::host:
    return 2;
  }
  return 2;
}
} // namespace

Brain::Brain(policy::Ground ground, std::unique_ptr<policy::Policy> policy)
    : ground_(std::move(ground)), policy_(std::move(policy)), space_(ground_.page),
      leaving_(ground_.tiers.size()), hurried_(ground_.tiers.size()),
      arriving_(ground_.tiers.size()) {}

Brain::~Brain() = default;

void Brain::foresee(std::shared_ptr<const policy::Future> future) {
  policy_->foresee(std::move(future));
}

void Brain::declare(const stream::Tensor& tensor) {
  const auto& entry = space_.declare(tensor);
  padding_ += Bytes{entry.pages * ground_.page.count} - tensor.bytes;
  peak_padding_ = std::max(peak_padding_, padding_);
}

void Brain::preload(stream::TensorId tensor) {
  const auto& entry = space_.at(tensor);
  if (entry.pages > 0) materialise(entry, entry.base / ground_.page.count, entry.pages, true);
}

void Brain::release(stream::TensorId tensor) {
  const auto& entry = space_.at(tensor);
  ensure(!busy(tensor), "release of a tensor whose pages are moving");
  for (const PageRun& run : table_.unmap(entry.base / ground_.page.count, entry.pages)) {
    ground_.tiers[run.tier].frames->give_back({run.frame, run.count}, entry.region);
    if (run.copy)
      ground_.tiers[run.copy.tier].frames->forget({run.copy.frame, run.count}, run.copy.id);
    leave_prefetch(run.first, run.count);
    policy_->released(entry, run, ground_);
  }
  padding_ -= Bytes{entry.pages * ground_.page.count} - entry.tensor.bytes;
  space_.release(tensor);
  fill_free();
}

bool Brain::busy(stream::TensorId tensor) const {
  const auto& entry = space_.at(tensor);
  const PageNumber first = entry.base / ground_.page.count;
  const auto within = [&](PageNumber from, std::uint64_t pages) {
    return from < first + entry.pages && first < from + pages;
  };
  const auto command = [&](const Command& c) { return within(c.from.first, c.from.count); };
  const auto fault = [&](const Fault& f) { return within(f.first, f.count); };
  return std::any_of(active_.begin(), active_.end(),
                     [&](const Active& a) { return command(a.command); }) ||
         std::any_of(pending_.begin(), pending_.end(), command) ||
         std::any_of(urgent_.begin(), urgent_.end(), command) ||
         std::any_of(riding_.begin(), riding_.end(), command) ||
         std::any_of(faults_.begin(), faults_.end(), fault) ||
         std::any_of(fills_.begin(), fills_.end(), fault);
}

void Brain::materialise(const memory::AddressSpace::Entry& entry, PageNumber first,
                        std::uint64_t count, bool initial) {
  const PageNumber base = entry.base / ground_.page.count;
  grants_.clear();
  policy_->place({&entry, first - base, count, initial}, ground_, grants_);
  PageNumber at = first;
  for (const policy::Grant& grant : grants_) {
    ensure(grant.tier < ground_.tiers.size(), "policy grants from a tier that does not exist");
    const auto frames = ground_.tiers[grant.tier].frames->take(grant.pages, entry.region);
    ensure(grant.pages == 0 || !frames.empty(), "policy granted more than a tier has");
    for (const auto& run : frames) {
      table_.map(at, run.count, grant.tier, run.first);
      if (grant.blank) table_.set_state(at, run.count, PageState::blank);
      at += run.count;
    }
  }
  ensure(at == first + count, "policy's grants do not add up to the need");
}

memory::Region Brain::region_of(PageNumber page) const {
  return memory::region_at(page * ground_.page.count);
}

void Brain::look(std::uint64_t address, Bytes length, std::vector<PageRun>& runs) const {
  const PageNumber first = address / ground_.page.count;
  const PageNumber last = (address + length.count - 1) / ground_.page.count;
  table_.lookup(first, last - first + 1, runs);
}

void Brain::reserve(std::uint64_t address, Bytes length) {
  runs_.clear();
  find(address, length, runs_);
}

/// Looks, once deferred pages have their frames; the tensor, which must hold all of it.
const memory::AddressSpace::Entry& Brain::find(std::uint64_t address, Bytes length,
                                               std::vector<PageRun>& runs) {
  const auto* entry = space_.holder(address);
  ensure(entry != nullptr &&
             address + length.count <= entry->base + entry->pages * ground_.page.count,
         "access outside every live tensor");
  const auto before = runs.size();
  look(address, length, runs);
  bool fresh = false;
  for (std::size_t i = before; i < runs.size(); ++i) {
    if (runs[i].state != PageState::deferred) continue;
    counters_.first_touches += runs[i].count;
    materialise(*entry, runs[i].first, runs[i].count, false);
    fresh = true;
  }
  if (!fresh) return *entry;
  runs.resize(before);
  look(address, length, runs);
  return *entry;
}

policy::Touch Brain::touch_of(const memory::AddressSpace::Entry* tensor, const PageRun& run,
                              std::uint64_t address, Bytes length, bool write, Femtoseconds now,
                              policy::StepNumber step) const {
  const std::uint64_t from = std::max(address, run.first * ground_.page.count);
  const std::uint64_t to =
      std::min(address + length.count, (run.first + run.count) * ground_.page.count);
  return {tensor, run, write, now, {to - from}, step, from};
}

void Brain::touch(std::uint64_t address, Bytes length, bool write, Femtoseconds now,
                  std::vector<PageRun>& runs, policy::StepNumber step) {
  const auto before = runs.size();
  const memory::AddressSpace::Entry& tensor = find(address, length, runs);
  for (std::size_t i = before; i < runs.size(); ++i) {
    ++counters_.touches;
    if (write) overwrite(runs[i]); // before the policy may send pages back to their copies
    const policy::Touch touch = touch_of(&tensor, runs[i], address, length, write, now, step);
    if (still(runs[i]) && policy_->faults(touch, ground_))
      raise_fault(runs[i], write, step);
    else
      policy_->touched(touch, ground_, orders_);
  }
  const bool filled = std::any_of(orders_.begin(), orders_.end(), [](const policy::Order& order) {
    return order.why == policy::Order::Why::fill;
  });
  take_orders();
  if (filled) { // the access may wait for what it touches
    pump_fills();
    runs.resize(before);
    look(address, length, runs);
  }
  for (std::size_t i = before; i < runs.size(); ++i) {
    if (runs[i].state == PageState::blank) make_resident(runs[i]);
    meet_prefetch(runs[i]);
    if (runs[i].state != PageState::suspended && distance(ground_.tiers[runs[i].tier].kind) > 0) {
      ++counters_.remote_hits;
      counters_.remote_pages += runs[i].count;
    }
  }
}

void Brain::again(std::uint64_t address, Bytes length, bool write, Femtoseconds now,
                  std::vector<PageRun>& runs, policy::StepNumber step) {
  const auto before = runs.size();
  look(address, length, runs);
  for (std::size_t i = before; i < runs.size(); ++i) {
    if (!still(runs[i])) continue;
    const auto* tensor = space_.holder(runs[i].first * ground_.page.count);
    if (policy_->faults(touch_of(tensor, runs[i], address, length, write, now, step), ground_))
      raise_fault(runs[i], write, step);
    else if (runs[i].state == PageState::blank)
      make_resident(runs[i]);
    if (write) overwrite(runs[i]);
  }
}

/// Before a write to pages that lie still: what a copy holds is no longer what they hold. Pages in
/// motion are not written before they rest, and who waits asks again.
void Brain::overwrite(PageRun& run) {
  if (!run.copy || run.state != PageState::resident) return;
  ground_.tiers[run.copy.tier].frames->forget({run.copy.frame, run.count}, run.copy.id);
  run.copy = {};
  table_.set_copy(run.first, run.count, {});
}

void Brain::meet_prefetch(const PageRun& run) {
  const memory::Range pages{run.first, run.first + run.count};
  if (!fresh_.empty()) counters_.prefetch.useful += fresh_.erase(pages);
  if (!coming_.empty()) counters_.prefetch.late += coming_.erase(pages);
}

/// Pages leave where they are.
void Brain::leave_prefetch(PageNumber first, std::uint64_t count) {
  if (!fresh_.empty()) counters_.prefetch.wasted += fresh_.erase({first, first + count});
}

void Brain::sense(policy::Sensors sensors) {
  const double seconds = sensors.window.seconds();
  const auto rate = [&](std::uint64_t now, std::uint64_t before) {
    return static_cast<double>(now - before) / seconds;
  };
  sensors.faults_per_s = rate(counters_.faults, sensed_.faults);
  sensors.remote_reads_per_s = rate(counters_.remote_pages, sensed_.remote_pages);
  sensed_ = counters_;
  policy_->sensed(sensors, ground_, orders_);
  take_orders();
}

bool Brain::still(const PageRun& run) {
  return run.state == PageState::resident || run.state == PageState::blank;
}

void Brain::make_resident(PageRun& run) {
  run.state = PageState::resident;
  table_.set_state(run.first, run.count, PageState::resident);
}

void Brain::raise_fault(PageRun& run, bool write, policy::StepNumber step) {
  faults_.push_back({run.first, run.count, write, run.state == PageState::blank, 0, step});
  fault_pages_ += run.count;
  counters_.faults += run.count;
  run.state = PageState::suspended;
  table_.set_state(run.first, run.count, PageState::suspended);
}

void Brain::take_orders() {
  const std::vector<policy::Order> orders = std::exchange(orders_, {});
  for (const policy::Order& order : orders) {
    ensure(order.to < ground_.tiers.size(), "policy orders a move to a tier that does not exist");
    order.why == policy::Order::Why::fill ? take_fill(order) : take_move(order);
  }
}

/// Frames are reserved at the destination. What cannot be met now (no frames, pages not simply
/// resident) is dropped: the policy sees the pages again at their next touch.
void Brain::take_move(const policy::Order& order) {
  runs_.clear();
  table_.lookup(order.first, order.pages, runs_);
  for (const PageRun& run : runs_) {
    if (run.state != PageState::resident || run.tier == order.to) continue;
    if (order.from && run.tier != *order.from) continue;
    if (take_back(run, order)) continue;
    PageRun rest = run;
    const memory::Region region = region_of(run.first);
    for (const auto& frames : ground_.tiers[order.to].frames->take(run.count, region)) {
      rest.count = frames.count;
      table_.set_state(rest.first, rest.count, PageState::moving);
      issue({.from = rest,
             .to = order.to,
             .to_frame = frames.first,
             .why = order.why,
             .keep = order.keep,
             .carried = order.carried});
      rest.first += frames.count;
      rest.frame += frames.count;
    }
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
  leaving_[from.tier] += from.count;
  arriving_[command.to] += from.count;
  if (command.demand()) hurried_[from.tier] += from.count;
  if (command.why == policy::Order::Why::prefetch) {
    counters_.prefetch.issued += from.count;
    coming_.insert({from.first, from.first + from.count});
  }
  (command.demand() ? urgent_ : command.carried ? riding_ : pending_).push_back(command);
}

/// The faults a fill covers, and whatever else of its pages lies still elsewhere.
void Brain::take_fill(const policy::Order& order) {
  take_queued_faults(order);
  runs_.clear();
  table_.lookup(order.first, order.pages, runs_);
  for (const PageRun& run : runs_) {
    const bool blank = run.state == PageState::blank;
    if ((run.state != PageState::resident && !blank) || run.tier == order.to) continue;
    if (order.from && run.tier != *order.from) continue;
    table_.set_state(run.first, run.count, PageState::suspended);
    fills_.push_back({run.first, run.count, false, blank, order.to, policy::kNoStep, order.keep});
  }
}

void Brain::take_queued_faults(const policy::Order& order) {
  const PageNumber end = order.first + order.pages;
  std::deque<Fault> left;
  for (const Fault& fault : faults_) {
    const PageNumber stop = fault.first + fault.count;
    const PageNumber from = std::clamp(order.first, fault.first, stop);
    const PageNumber to = std::clamp(end, from, stop);
    const auto part = [&](PageNumber begin, PageNumber past) {
      Fault piece = fault;
      piece.first = begin;
      piece.count = past - begin;
      return piece;
    };
    if (from > fault.first) left.push_back(part(fault.first, from));
    if (to > from) {
      fills_.push_back(part(from, to));
      fills_.back().to = order.to;
      fills_.back().keep = order.keep;
      fault_pages_ -= to - from;
    }
    if (to < stop) left.push_back(part(to, stop));
  }
  faults_ = std::move(left);
}

void Brain::serve_faults(std::uint64_t pages, Femtoseconds now) {
  const std::uint64_t leave = fault_pages_ - std::min(pages, fault_pages_);
  while (fault_pages_ > leave) {
    const Fault fault = faults_.front();
    const std::uint64_t count = std::min(fault.count, fault_pages_ - leave);
    runs_.clear();
    table_.lookup(fault.first, count, runs_);
    const PageRun run = runs_.front(); // frames may differ along a fault: the rest comes next
    const std::uint64_t address = run.first * ground_.page.count;
    policy_->resolve(touch_of(space_.holder(address), run, address,
                              {run.count * ground_.page.count}, fault.write, now, fault.step),
                     ground_, orders_);
    take_orders();
    if (faults_.empty() || faults_.front().first != fault.first) continue;
    const std::uint64_t still = std::min(run.count, faults_.front().count); // nothing fills it
    map_in_place({run.first, still, fault.write, fault.blank, 0, fault.step});
    fault_pages_ -= still;
    faults_.front().first += still;
    faults_.front().count -= still;
    if (faults_.front().count == 0) faults_.pop_front();
  }
  pump_fills();
}

/// Gives fills the frames there are, in order of their faults.
void Brain::fill_free() {
  while (!fills_.empty() && ground_.free_pages(fills_.front().to) > 0)
    fill_front();
}

/// Where frames lack the policy makes room, or they are waited for: what arrives can leave again.
/// Where nothing leaves or arrives there will never be any, and the pages stay where they are.
void Brain::pump_fills() {
  for (fill_free(); !fills_.empty(); fill_free()) {
    const TierIndex to = fills_.front().to;
    if (landing(to)) return; // make_room() comes when who waited has looked
    std::uint64_t lacking = 0;
    for (const Fault& fill : fills_)
      if (fill.to == to) lacking += fill.count;
    if (lacking > hurried_[to]) { // background moves may take for ever
      policy_->make_room(to, lacking - hurried_[to], ground_, orders_);
      take_orders();
    }
    if (leaving_[to] > 0 || arriving_[to] > 0) return;
    map_in_place(fills_.front());
    fills_.pop_front();
  }
}

/// Whether pages have come to the tier that nobody who waited for them has seen.
bool Brain::landing(TierIndex tier) const {
  return std::any_of(active_.begin(), active_.end(), [&](const Active& a) {
    return a.stage == Stage::switched && a.command.to == tier;
  });
}

bool Brain::make_room() {
  pump_fills();
  return std::exchange(mapped_in_place_, false);
}

void Brain::fill_front() {
  Fault& fill = fills_.front();
  runs_.clear();
  table_.lookup(fill.first, fill.count, runs_);
  const PageRun run = runs_.front(); // its source frames may be in several runs
  const std::uint64_t count = std::min(run.count, ground_.free_pages(fill.to));
  PageRun rest = run;
  const memory::Region region = region_of(run.first);
  for (const auto& frames : ground_.tiers[fill.to].frames->take(count, region)) {
    rest.count = frames.count;
    issue({.from = rest,
           .to = fill.to,
           .to_frame = frames.first,
           .why = policy::Order::Why::fill,
           .blank = fill.blank,
           .keep = fill.keep});
    rest.first += frames.count;
    rest.frame += frames.count;
  }
  fill.first += count;
  fill.count -= count;
  if (fill.count == 0) fills_.pop_front();
}

void Brain::map_in_place(const Fault& fault) {
  table_.set_state(fault.first, fault.count, fault.blank ? PageState::blank : PageState::resident);
  counters_.unmet += fault.count;
  mapped_in_place_ = true;
  runs_.clear();
  table_.lookup(fault.first, fault.count, runs_);
  for (const PageRun& run : runs_)
    policy_->unmet(run, ground_);
}

std::optional<Command> Brain::take(std::deque<Command>& queue) {
  if (queue.empty()) return std::nullopt;
  const Command command = queue.front();
  queue.pop_front();
  active_.push_back({command});
  ++counters_.commands;
  return command;
}

std::optional<Command> Brain::next_command() {
  return take(!urgent_.empty() ? urgent_ : !riding_.empty() ? riding_ : pending_);
}

std::optional<Command> Brain::next_carried() {
  return take(riding_);
}

std::optional<Command> Brain::next_background() {
  return take(pending_);
}

std::vector<Brain::Active>::iterator Brain::active(const Command& command, Stage stage) {
  const auto it = std::find_if(active_.begin(), active_.end(),
                               [&](const Active& a) { return a.command.id == command.id; });
  ensure(it != active_.end() && it->stage == stage, "command event out of order");
  return it;
}

void Brain::refused(const Command& command, Femtoseconds now) {
  ensure(!command.demand(), "refusal of a command that a fault waits for");
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
    frames.give_back(there, region_of(from.first));
  if (gone.why == policy::Order::Why::prefetch)
    counters_.prefetch.refused += coming_.erase({from.first, from.first + from.count});
  active_.erase(it);
  settle(gone, false, now);
}

void Brain::suspend(const Command& command) {
  const auto it = active(command, Stage::issued);
  table_.set_state(it->command.from.first, it->command.from.count, PageState::suspended);
  it->stage = Stage::suspended;
}

void Brain::quiesced(const Command& command, Femtoseconds now) {
  const auto it = active(command, Stage::suspended);
  const Command done = it->command;
  const PageRun& from = done.from;
  switch_over(done);
  const memory::Range pages{from.first, from.first + from.count};
  leave_prefetch(from.first, from.count);
  coming_.erase(pages, [this](memory::Range part) { fresh_.insert(part); });
  if (done.back) counters_.returned += from.count;
  if (done.copies()) counters_.moved += Bytes{from.count * ground_.page.count};
  if (!done.blank) {
    const int before = distance(ground_.tiers[from.tier].kind);
    const int after = distance(ground_.tiers[done.to].kind);
    if (after < before) counters_.promotions += from.count;
    if (after > before) counters_.demotions += from.count;
  }
  it->stage = Stage::switched;
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
    left.give_back(behind, region_of(from.first));
  for (const PageRun& run : table_.unmap(from.first, from.count)) {
    const std::uint64_t ahead = run.first - from.first;
    if (kept && run.copy)
      ground_.tiers[run.copy.tier].frames->forget({run.copy.frame, run.count}, run.copy.id);
    table_.map(run.first, run.count, done.to, done.to_frame + ahead,
               kept ? kept.from(ahead) : run.copy);
  }
}

/// Frames have become free: at the old place, or those that were reserved. They go to fills, but
/// nobody is sent out yet: what has just come would leave before it was used, for ever if two
/// pages are written in turn in one frame.
void Brain::settle(const Command& command, bool moved, Femtoseconds now) {
  leaving_[command.from.tier] -= command.from.count;
  arriving_[command.to] -= command.from.count;
  if (command.demand()) hurried_[command.from.tier] -= command.from.count;
  policy_->settled({command.from, command.to, moved, now}, ground_, orders_);
  take_orders();
  fill_free();
}

void Brain::completed(const Command& command) {
  active_.erase(active(command, Stage::switched));
  ++counters_.completed;
}

} // namespace umf::scheduler
