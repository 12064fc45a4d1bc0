#include "hw/dram/bits.h"
#include "hw/dram/channel.h"

#include <algorithm>
#include <bit>

/// Refresh of a channel: when it is due, how long it may be put off, what it closes.
namespace umf::hw::dram {

/// Due times lie on a grid without drift: interval k begins at phase + k × tREFI / sets.
Cycle Channel::due_at(const Rank& rank) const {
  const auto k = static_cast<Cycle>(rank.periods + 1);
  switch (controller_.refresh) {
  case RefreshMode::none:
    return kNever;
  case RefreshMode::all_bank:
    return refresh_phase_ + k * timings_.tREFI;
  case RefreshMode::per_bank:
    return refresh_phase_ + k * timings_.tREFI / static_cast<Cycle>(sets());
  }
  return kNever;
}

Channel::Mask Channel::banks_of_set(std::uint32_t rank, std::uint32_t set) const {
  const std::uint32_t first = rank * banks_of_rank_;
  if (timings_.refresh_banks == 1) return bit(first + set);
  // The same bank of every group.
  Mask mask = 0;
  for (std::uint32_t n = 0; n < timings_.refresh_banks; ++n)
    mask |= bit(first + set + n * sets());
  return mask;
}

/// The rank whose refresh is due first.
void Channel::find_due() {
  next_due_ = kNever;
  for (std::uint32_t r = 0; r < rank_count_; ++r)
    if (ranks_[r].due < next_due_) next_due_ = ranks_[r].due, due_rank_ = r;
}

void Channel::refresh_due(std::uint32_t r) {
  Rank& rank = ranks_[r];
  const Cycle at = rank.due;
  ++rank.periods;
  ++rank.owed;
  ++rank.refreshes.due;
  rank.due = due_at(rank);
  find_due();
  if (controller_.refresh == RefreshMode::per_bank) {
    if (rank.set == UINT32_MAX) begin_set(r);
    return;
  }
  if (rank.waiting == 0 || rank.owed > controller_.postpone) refresh_all(r, at);
}

/// Closes every bank of the rank and refreshes it, as often as it is owed while nobody waits.
void Channel::refresh_all(std::uint32_t r, Cycle from) {
  Rank& rank = ranks_[r];
  Cycle at = from, close = std::max(from, rank_pre_[r]);
  const std::uint32_t first = r * banks_of_rank_;
  const Mask open = open_ & banks_of(r);
  for (std::uint32_t b = first; b < first + banks_of_rank_; ++b) {
    if ((open & bit(b)) != 0) close = std::max(close, pre_ready_[b]);
    at = std::max(at, act_ready_[b]);
  }
  for (Mask left = open; left != 0; left &= left - 1) { // one PREab
    const auto b = static_cast<std::uint32_t>(std::countr_zero(left));
    closed(b);
    note(close, Order::precharge, b);
    ++statistics_.precharges;
  }
  if (open != 0) at = std::max(at, close + timings_.tRP);
  do {
    note(at, Order::refresh_all, first);
    --rank.owed;
    ++rank.refreshes.issued;
    at += timings_.tRFCab;
  } while (rank.owed > 0 && rank.waiting == 0);
  for (std::uint32_t b = first; b < first + banks_of_rank_; ++b) {
    act_ready_[b] = at;
    ready_limit_[b] = Limit::refresh;
  }
  row_dirty_ = column_dirty_ = true;
}

/// Takes a set of banks out of service for its refresh: one nobody waits for, or, once as many
/// are owed as may be, the next of the round.
void Channel::begin_set(std::uint32_t r) {
  Rank& rank = ranks_[r];
  const Mask busy = pending_[0] | pending_[1];
  std::uint32_t chosen = UINT32_MAX;
  for (Mask todo = rank.todo; todo != 0; todo &= todo - 1) {
    const auto set = static_cast<std::uint32_t>(std::countr_zero(todo));
    if ((banks_of_set(r, set) & busy) != 0) continue;
    chosen = set;
    break;
  }
  if (chosen == UINT32_MAX) {
    if (rank.owed <= controller_.postpone) return;
    chosen = static_cast<std::uint32_t>(std::countr_zero(rank.todo));
  }
  rank.set = chosen;
  refreshing_ |= banks_of_set(r, chosen);
  row_dirty_ = column_dirty_ = true;
}

void Channel::issue_set(std::uint32_t r, Cycle at) {
  Rank& rank = ranks_[r];
  const Mask set = banks_of_set(r, rank.set);
  for (Mask left = set; left != 0; left &= left - 1) {
    const auto b = static_cast<std::uint32_t>(std::countr_zero(left));
    act_ready_[b] = at + timings_.tRFCpb;
    ready_limit_[b] = Limit::refresh;
  }
  note(at, Order::refresh_bank, static_cast<std::uint32_t>(std::countr_zero(set)));
  rank_act_[r] = std::max(rank_act_[r], at + timings_.tRREFD);
  row_bus_ = at + 1;
  refreshing_ &= ~set;
  rank.todo &= ~bit(rank.set);
  if (rank.todo == 0) rank.todo = all_sets();
  rank.set = UINT32_MAX;
  --rank.owed;
  ++rank.refreshes.issued;
  column_dirty_ = true;
  if (rank.owed > 0) begin_set(r);
}

/// Nothing waits until `until`: whole rounds of refreshes are counted, not played. A round is
/// played before, which closes every row, and what is left after is played too.
void Channel::skip_idle(Cycle until) {
  if (controller_.refresh == RefreshMode::none) return;
  const Cycle round = timings_.tREFI; // all sets once, or one all-bank refresh
  if (until - next_due_ < 4 * round) return;
  const Cycle stop = next_due_ + 2 * round;
  commit_before(stop);
  const auto rounds = static_cast<std::uint64_t>((until - stop) / round - 1);
  const std::uint64_t each =
      controller_.refresh == RefreshMode::all_bank ? 1 : std::uint64_t{sets()};
  for (std::uint32_t r = 0; r < rank_count_; ++r) {
    Rank& rank = ranks_[r];
    rank.periods += rounds * each;
    rank.refreshes.due += rounds * each;
    rank.refreshes.issued += rounds * each;
    rank.due = due_at(rank);
  }
  find_due();
}

} // namespace umf::hw::dram
