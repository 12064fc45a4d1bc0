#include "model/scheduler/degrade.h"

#include "model/base/error.h"
#include "model/scheduler/brain.h"
#include "model/scheduler/tap.h"

#include <algorithm>

/// The state of one way, and what a Brain makes of it.
namespace umf::scheduler {

std::optional<Trigger> Degrade::set(const Condition& condition, Femtoseconds now) {
  if (!closed_) {
    const auto fault = fault_of(condition);
    closed_ = fault.has_value();
    return fault;
  }
  if (!recovered(condition))
    due_ = kNever;
  else if (due_ == kNever)
    due_ = now + settings_.recover_after;
  return std::nullopt;
}

void Degrade::open() {
  closed_ = false;
  due_ = kNever;
}

std::optional<Trigger> Degrade::fault_of(const Condition& condition) const {
  if (condition.rate < settings_.below) return Trigger::rate; // never below 0
  if (settings_.errors > 0 && condition.errors >= settings_.errors) return Trigger::errors;
  if (condition.hot) return Trigger::heat;
  return std::nullopt;
}

/// A rate that does not close the pool need not come back to open it.
bool Degrade::recovered(const Condition& condition) const {
  const double enough = settings_.below > 0 ? settings_.recover_above : 0;
  return condition.rate >= enough && !fault_of(condition);
}

void Brain::link_changed(TierIndex tier, const Condition& condition, Femtoseconds now) {
  ensure(tier < ways_.size(), "the way to a tier that does not exist has changed");
  reach(now);
  if (ground_.is(tier, policy::TierClass::pool)) { // the others have no other memory behind them
    if (const auto why = ways_[tier].set(condition, now)) {
      ++counters_.degrade.entered[static_cast<std::size_t>(*why)];
      ground_.tiers[tier].read_only = true;
      if (closed_++ == 0) closed_since_ = now;
    }
    find_due();
    reach(now);
  }
  if (tap_ != nullptr) tap_->link_changed(tier, condition, now);
}

/// In order of their times, whenever the next event finds them.
void Brain::reopen(Femtoseconds now) {
  while (due_ <= now) {
    const auto first =
        std::min_element(ways_.begin(), ways_.end(),
                         [](const Degrade& a, const Degrade& b) { return a.due() < b.due(); });
    const auto tier = static_cast<TierIndex>(first - ways_.begin());
    first->open();
    ground_.tiers[tier].read_only = false;
    if (--closed_ == 0) closed_for_ += due_ - closed_since_;
    find_due();
    policy_->opened(tier, ground_);
  }
}

void Brain::find_due() {
  due_ = kNever;
  for (const Degrade& way : ways_)
    due_ = std::min(due_, way.due());
}

Femtoseconds Brain::read_only_for(Femtoseconds now) const {
  if (closed_ == 0) return closed_for_;
  Femtoseconds end{0};
  for (const Degrade& way : ways_)
    if (way.closed()) end = std::max(end, way.due());
  return closed_for_ + (std::min(now, end) - closed_since_);
}

/// What finds no room elsewhere goes to tiers that are read only all the same: a bad link may make
/// a run slow, but must not end one that fits.
void Brain::lend(std::uint64_t pages) {
  const std::uint64_t room = policy_->room(ground_);
  std::uint64_t lacking = pages - std::min(pages, room);
  for (policy::Tier& tier : ground_.tiers) {
    if (!tier.read_only) continue;
    tier.lent = std::min(lacking, tier.frames->free());
    lacking -= tier.lent;
  }
}

/// A write that goes ahead; what waits comes again.
void Brain::note_forced(const PageRun& run) {
  if (closed_ > 0 && run.state == memory::PageState::resident && ground_.tiers[run.tier].read_only)
    ++counters_.degrade.forced_writes;
}

} // namespace umf::scheduler
