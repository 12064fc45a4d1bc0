#include "hw/dram/bits.h"
#include "hw/dram/channel.h"
#include "model/base/error.h"

#include <algorithm>

/// Which command of a channel goes next, and when.
namespace umf::hw::dram {

/// Nobody waits long and the bus is not about to turn.
inline bool Channel::steady() const {
  if (cursor_ > late_[0] || cursor_ > late_[1] || (overdue_ | held_) != 0) return false;
  const std::uint32_t writes = count_[1] - static_cast<std::uint32_t>(parked_.size());
  if (!writing_) return writes == 0 || (writes < controller_.write_high && count_[0] > 0);
  return writes > 0 && writes < controller_.write_high &&
         (count_[0] == 0 || (draining_ && writes > controller_.write_low));
}

inline void Channel::choose_column() {
  const bool w = writing_;
  Mask mask = hit_[w] & ~(refreshing_ | overdue_ | held_);
  if (mask == 0) {
    column_ = {};
    return;
  }
  const Cycle floor = std::max(cursor_, column_bus_);
  const auto& ready = column_ready_[w];
  const auto& group = group_column_[w];
  const auto& rank = rank_column_[w];
  const auto& lines = lines_[w];
  Cycle least = rank[0];
  for (std::uint32_t r = 1; r < rank_count_; ++r)
    least = std::min(least, rank[r]);
  least = std::max(least, floor);
  const auto earliest = [&](std::uint32_t b) {
    return std::max(std::max(floor, ready[b]), std::max(group[group_[b]], rank[rank_[b]]));
  };
  Cycle at = kNever;
  std::uint32_t chosen = 0;
  // In order of age: the first that goes as early as any could is the choice.
  Index s = oldest_[w];
  for (std::uint32_t tries = kInOrder; tries > 0 && s != kNone; --tries, s = slots_[s].younger) {
    const std::uint32_t b = slots_[s].bank;
    if ((mask & bit(b)) == 0 || lines[b].hit != s) continue;
    mask ^= bit(b);
    const Cycle own = earliest(b);
    if (own < at) at = own, chosen = b;
    if (at <= least || mask == 0) {
      column_ = {at, chosen, Row::none};
      return;
    }
  }
  // Those left are younger.
  Serial order = 0;
  each_bit(mask, [&](std::uint32_t b) {
    const Serial age = slots_[lines[b].hit].order - slots_[oldest_[w]].order;
    const Cycle own = earliest(b);
    if (own < at || (own == at && age < order)) at = own, chosen = b, order = age;
  });
  column_ = {at, chosen, Row::none};
}

void Channel::choose() {
  if (!steady()) turn();
  if (column_dirty_) choose_column();
  if (row_dirty_) choose_row();
  turn_dirty_ = column_dirty_ = row_dirty_ = false;
}

void Channel::prove_choice() {
  next();
  const Choice column = column_, row = row_;
  choose_column();
  choose_row();
  const auto same = [](const Choice& a, const Choice& b) {
    return a.at == b.at && (a.at == kNever || (a.bank == b.bank && a.kind == b.kind));
  };
  ensure(same(column, column_) && same(row, row_), "a command was chosen that would not be now");
}

/// Reads or writes: which the bus carries now, and whether one of them has waited too long.
void Channel::turn() {
  const auto waits_long = [&](bool d) { return cursor_ > late_[d]; };
  const std::uint32_t writes = count_[1] - static_cast<std::uint32_t>(parked_.size());
  const bool late = waits_long(true);
  // Of two beyond the cap the older goes first, but a drain does its least before it ends.
  const bool late_read =
      waits_long(false) && !(late && before(slots_[oldest_[1]].order, slots_[oldest_[0]].order));
  bool to = writing_;
  if (!writing_) {
    if (!late_read && (writes >= controller_.write_high || late)) {
      to = draining_ = true;
    } else if (count_[0] == 0 && writes > 0) {
      to = true;
      draining_ = false;
    }
    drained_ = 0;
  } else if (writes == 0 ||
             (count_[0] > 0 && !late && (!draining_ || writes <= controller_.write_low)) ||
             (late_read && drained_ >= controller_.write_high - controller_.write_low)) {
    to = false;
  } else if (writes >= controller_.write_high) {
    draining_ = true;
  }
  // A request beyond the age cap keeps younger hits of another row of its bank from going first;
  // where it is a hit itself, those of other ranks, which the bus favours while it is theirs.
  Mask overdue = 0, held = 0;
  if (const Index old = oldest_[to]; waits_long(to)) {
    const std::uint32_t b = slots_[old].bank;
    if ((open_ & bit(b)) != 0 && open_row_[b] != slots_[old].row)
      overdue = bit(b);
    else if ((open_ & ~refreshing_ & bit(b)) != 0 && column_ready_[to][b] <= cursor_)
      held = ~banks_of(rank_of(b));
  }
  if (to == writing_ && overdue == overdue_ && held == held_) return;
  writing_ = to;
  overdue_ = overdue;
  held_ = held;
  column_dirty_ = row_dirty_ = true;
}

/// A bank has a hit where it had none: all else that can be chosen is as it was.
void Channel::offer_column(std::uint32_t b) {
  const bool w = writing_;
  if (column_dirty_ || (bit(b) & hit_[w] & ~(refreshing_ | overdue_ | held_)) == 0) return;
  const Cycle at = std::max(std::max(std::max(cursor_, column_bus_), column_ready_[w][b]),
                            std::max(group_column_[w][group_[b]], rank_column_[w][rank_[b]]));
  const auto order = [&](std::uint32_t bank) { return slots_[lines_[w][bank].hit].order; };
  if (at < column_.at || (at == column_.at && before(order(b), order(column_.bank))))
    column_ = {at, b, Row::none};
}

/// A bank waits to be opened or closed that did not: all else that can be chosen is as it was.
void Channel::offer_row(std::uint32_t b) {
  const bool w = writing_;
  const Mask waits = pending_[w] & ~refreshing_ & (~open_ | ~hit_[w] | overdue_);
  if (row_dirty_ || (bit(b) & waits) == 0) return;
  const bool closing = (open_ & bit(b)) != 0;
  const Cycle own =
      closing ? std::max(pre_ready_[b], rank_pre_[rank_[b]])
              : std::max(std::max(act_ready_[b], group_act_[group_[b]]), rank_act_[rank_[b]]);
  const Cycle at = std::max(std::max(cursor_, row_bus_), own);
  const auto& order = head_order_[w];
  const bool older = (refreshing_ & bit(row_.bank)) == 0 && before(order[b], order[row_.bank]);
  if (at < row_.at || (at == row_.at && older))
    row_ = {at, b, closing ? Row::precharge : Row::activate};
}

/// Time first, then age, then the bank they belong to, in one number: the least is the choice.
void Channel::choose_row() {
  constexpr std::uint32_t kAgeAt = 6, kTimeAt = 34; // bits
  constexpr Serial kMostAge = (Serial{1} << (kTimeAt - kAgeAt)) - 1;
  const bool w = writing_;
  const Mask pending = pending_[w] & ~refreshing_;
  const Mask opening = pending & ~open_;
  const Mask closing = pending & open_ & (~hit_[w] | overdue_);
  const Cycle floor = std::max(cursor_, row_bus_);
  row_ = {};
  if ((opening | closing) != 0) {
    const auto& order = head_order_[w];
    const Serial oldest = slots_[oldest_[w]].order;
    std::uint64_t least = UINT64_MAX;
    const auto consider = [&](std::uint32_t b, Cycle at) {
      const std::uint64_t age = std::min(order[b] - oldest, kMostAge);
      least =
          std::min(least, static_cast<std::uint64_t>(at - floor) << kTimeAt | age << kAgeAt | b);
    };
    for (std::uint32_t r = 0; r < rank_count_; ++r) {
      const Mask banks = banks_of(r);
      const Cycle act = std::max(floor, rank_act_[r]), pre = std::max(floor, rank_pre_[r]);
      each_bit(opening & banks, [&](std::uint32_t b) {
        consider(b, std::max(std::max(act, act_ready_[b]), group_act_[group_[b]]));
      });
      each_bit(closing & banks,
               [&](std::uint32_t b) { consider(b, std::max(pre, pre_ready_[b])); });
    }
    const auto b = static_cast<std::uint32_t>(least % kBanks);
    row_ = {floor + static_cast<Cycle>(least >> kTimeAt), b,
            (open_ & bit(b)) != 0 ? Row::precharge : Row::activate};
  }
  if (refreshing_ != 0) choose_refresh(floor);
}

/// Closing and refreshing banks out of service goes before all else that could go then.
void Channel::choose_refresh(Cycle floor) {
  const auto consider = [&](std::uint32_t b, Cycle at, Row kind) {
    if (at <= row_.at) row_ = {at, b, kind};
  };
  for (std::uint32_t r = 0; r < rank_count_; ++r) {
    if (ranks_[r].set == UINT32_MAX) continue;
    const Mask set = banks_of_set(r, ranks_[r].set);
    each_bit(set & open_, [&](std::uint32_t b) {
      consider(b, std::max({floor, pre_ready_[b], rank_pre_[r]}), Row::precharge);
    });
    if ((set & open_) != 0) continue;
    Cycle at = std::max(floor, rank_act_[r]);
    each_bit(set, [&](std::uint32_t b) { at = std::max(at, act_ready_[b]); });
    consider(static_cast<std::uint32_t>(std::countr_zero(set)), at, Row::refresh);
  }
}

} // namespace umf::hw::dram
