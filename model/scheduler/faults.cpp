#include "model/scheduler/brain.h"

#include "model/base/error.h"
#include "model/scheduler/tap.h"

#include <algorithm>
#include <utility>

/// Accesses without a valid mapping, from the queue of faults to the fills that end them.
namespace umf::scheduler {

using memory::PageState;

void Brain::raise_fault(PageRun& run, bool write, policy::StepNumber step) {
  faults_.push_back({run.first, run.count, write, run.state == PageState::blank, 0, step});
  fault_pages_ += run.count;
  counters_.faults += run.count;
  run.state = PageState::suspended;
  table_.set_state(run.first, run.count, PageState::suspended);
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
  reach(now);
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
  if (tap_ != nullptr) tap_->served_faults(pages, now);
}

/// Gives fills the frames there are, in order of their faults.
void Brain::fill_free() {
  while (!fills_.empty() && ground_.tiers[fills_.front().to].frames->free() > 0)
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
    return a.stage == Stage::switched && a.command.to == tier && a.command.scan == 0;
  });
}

bool Brain::make_room() {
  pump_fills();
  const bool look_again = std::exchange(mapped_in_place_, false);
  if (tap_ != nullptr) tap_->made_room(look_again);
  return look_again;
}

void Brain::fill_front() {
  Fault& fill = fills_.front();
  runs_.clear();
  table_.lookup(fill.first, fill.count, runs_);
  const PageRun run = runs_.front(); // its source frames may be in several runs
  const std::uint64_t count = std::min(run.count, ground_.tiers[fill.to].frames->free());
  PageRun rest = run;
  const memory::Region region = region_of(run.first);
  for (const auto& frames : ground_.tiers[fill.to].frames->take(count, region)) {
    PageRun part = rest;
    part.count = frames.count;
    issue({.from = part,
           .to = fill.to,
           .to_frame = frames.first,
           .why = policy::Order::Why::fill,
           .blank = fill.blank,
           .keep = fill.keep});
    rest.skip(frames.count);
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

} // namespace umf::scheduler
