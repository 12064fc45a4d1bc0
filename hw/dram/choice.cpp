#include "hw/dram/bits.h"
#include "hw/dram/channel.h"

#include <algorithm>

/// Which command of a channel goes next, and when.
namespace umf::hw::dram {

void Channel::choose() {
  turn();
  if (column_dirty_) choose_column();
  if (row_dirty_) choose_row();
  turn_dirty_ = column_dirty_ = row_dirty_ = false;
}

/// Reads or writes: which the bus carries now, and whether one of them has waited too long.
void Channel::turn() {
  const auto waits_long = [&](Index oldest) {
    return oldest != kNone && cursor_ - slots_[oldest].arrival > age_cap_;
  };
  if (!writing_ && count_[1] == 0 && (overdue_ | held_) == 0 && !waits_long(oldest_[0])) return;
  const std::uint32_t writes = count_[1] - static_cast<std::uint32_t>(parked_.size());
  const bool late = waits_long(oldest_[1]);
  // Of two beyond the cap the older goes first, but a drain does its least before it ends.
  const bool late_read =
      waits_long(oldest_[0]) && !(late && slots_[oldest_[1]].order < slots_[oldest_[0]].order);
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
  if (const Index old = oldest_[to]; waits_long(old)) {
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

/// Time first, then age, then the bank they belong to, in one number: the least is the choice.
struct Channel::Best {
  Cycle floor;
  std::uint64_t base; ///< order of the oldest
  std::uint64_t least = UINT64_MAX;

  void consider(Cycle at, std::uint64_t order, std::uint32_t bank) {
    const std::uint64_t age = std::min(order - base, kAges - 1);
    const auto wait = static_cast<std::uint64_t>(at - floor);
    least = std::min(least, (wait * kAges + age) * kBanks + bank);
  }
  Choice choice(Row kind) const {
    if (least == UINT64_MAX) return {};
    return {floor + static_cast<Cycle>(least / kBanks / kAges),
            static_cast<std::uint32_t>(least % kBanks), kind};
  }
  static constexpr std::uint64_t kAges = std::uint64_t{1} << 22;
};

void Channel::choose_column() {
  const Mask mask = hit_[writing_] & ~(refreshing_ | overdue_ | held_);
  const auto& ready = column_ready_[writing_];
  const auto& group = group_column_[writing_];
  const auto& order = hit_order_[writing_];
  if (mask == 0) {
    column_ = {};
    return;
  }
  const Cycle floor = std::max(cursor_, column_bus_);
  const auto earliest = [&](std::uint32_t b) {
    return std::max(std::max(floor, ready[b]),
                    std::max(group[group_[b]], ranks_[rank_[b]].column[writing_]));
  };
  // The oldest of all goes at once if nothing can go before it.
  const Index oldest = oldest_[writing_];
  const std::uint32_t first = slots_[oldest].bank;
  if (lines_[writing_][first].hit == oldest && (mask & bit(first)) != 0) {
    Cycle least = ranks_[0].column[writing_];
    for (std::uint32_t r = 1; r < rank_count_; ++r)
      least = std::min(least, ranks_[r].column[writing_]);
    const Cycle at = earliest(first);
    if (at <= std::max(floor, least)) {
      column_ = {at, first, Row::none};
      return;
    }
  }
  Best best{floor, slots_[oldest].order};
  each_bit(mask, [&](std::uint32_t b) { best.consider(earliest(b), order[b], b); });
  column_ = best.choice(Row::none);
}

void Channel::choose_row() {
  const Mask pending = pending_[writing_] & ~refreshing_;
  const Cycle floor = std::max(cursor_, row_bus_);
  const auto& order = head_order_[writing_];
  Best opening{floor, pending != 0 ? slots_[oldest_[writing_]].order : 0};
  each_bit(pending & ~open_, [&](std::uint32_t b) {
    const Cycle rank = ranks_[rank_[b]].act;
    opening.consider(
        std::max(std::max(floor, act_ready_[b]), std::max(group_act_[group_[b]], rank)), order[b],
        b);
  });
  Best closing{floor, opening.base};
  each_bit(pending & open_ & (~hit_[writing_] | overdue_), [&](std::uint32_t b) {
    closing.consider(std::max(std::max(floor, pre_ready_[b]), ranks_[rank_[b]].pre), order[b], b);
  });
  row_ = opening.least < closing.least ? opening.choice(Row::activate)
                                       : closing.choice(Row::precharge);
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
      consider(b, std::max({floor, pre_ready_[b], ranks_[r].pre}), Row::precharge);
    });
    if ((set & open_) != 0) continue;
    Cycle at = std::max(floor, ranks_[r].act);
    each_bit(set, [&](std::uint32_t b) { at = std::max(at, act_ready_[b]); });
    consider(static_cast<std::uint32_t>(std::countr_zero(set)), at, Row::refresh);
  }
}

} // namespace umf::hw::dram
