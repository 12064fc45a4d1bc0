#include "hw/dram/channel.h"

#include "hw/dram/bits.h"
#include "model/base/error.h"

#include <algorithm>

namespace umf::hw::dram {

std::string_view name_of(Limit limit) {
  constexpr std::array<std::string_view, kLimits> names = {
      "refresh", "turnaround", "tFAW", "tRRD", "conflict", "bank_group", "command_bus", "queue"};
  return names[static_cast<std::size_t>(limit)];
}

Channel::Channel(const Config& config, std::vector<Done>& done)
    : timings_(config.timings), controller_(config.controller), age_cap_(config.age_cap),
      page_timeout_(config.page_timeout), refresh_phase_(config.refresh_phase),
      banks_of_rank_(config.organisation.banks_of_rank()), rank_count_(config.organisation.ranks),
      bank_count_(config.organisation.all_banks()), done_(&done) {
  ensure(bank_count_ <= kBanks && rank_count_ <= kRanks &&
             rank_count_ * config.organisation.bank_groups <= kGroups,
         "more banks, groups or ranks than a channel holds");
  capacity_ = {controller_.read_queue, controller_.write_queue};
  ensure(capacity_[0] + capacity_[1] < kNone, "a queue too long");
  slots_.resize(capacity_[0] + capacity_[1]);
  for (std::size_t s = slots_.size(); s-- > 0; free_ = static_cast<Index>(s))
    slots_[s].next = free_;
  after_ = {after(false), after(true)};
  parked_.reserve(capacity_[1]);
  for (std::uint32_t b = 0; b < bank_count_; ++b)
    group_[b] = static_cast<std::uint8_t>(b / config.organisation.banks),
    rank_[b] = static_cast<std::uint8_t>(b / banks_of_rank_);
  ready_limit_.fill(Limit::queue);
  for (std::uint32_t r = 0; r < rank_count_; ++r) {
    Rank& rank = ranks_[r];
    rank.acts.fill(-kNever);
    rank.todo = all_sets();
    rank.due = due_at(rank);
  }
  find_due();
}

Channel::AfterColumn Channel::after(bool w) const {
  const Timings& t = timings_;
  AfterColumn a;
  a.end = (w ? t.tCWL : t.tCL) + t.burst;
  a.column[0][w] = std::max(w ? t.tCCDSWR : t.tCCDS, t.burst);
  a.column[1][w] = std::max(t.tCCDR, t.burst + t.tRTRS);
  a.column[0][!w] = w ? a.end + t.tWTRS : t.tRTW;
  a.column[1][!w] = w ? a.end + t.tRTRS - t.tCL : t.tRTW;
  a.group = w ? t.tCCDLWR : t.tCCDL;
  a.group_read = w ? a.end + t.tWTRL : a.group;
  a.precharge = w ? a.end + t.tWR : t.tRTP;
  return a;
}

// ---------------------------------------------------------------- requests

inline void Channel::enlist(Index index) {
  Slot& slot = slots_[index];
  const bool d = slot.write;
  const std::uint32_t b = slot.bank;
  Line& line = lines_[d][b];
  slot.order = order_++; // a write that was parked takes its place now
  slot.next = kNone;
  slot.previous = line.tail;
  const bool first = line.tail == kNone;
  if (first)
    set_head(d, b, index);
  else
    slots_[line.tail].next = index;
  line.tail = index;
  slot.younger = kNone;
  slot.older = youngest_[d];
  if (youngest_[d] == kNone) {
    oldest_[d] = index;
    late_[d] = slot.arrival + age_cap_;
  } else {
    slots_[youngest_[d]].younger = index;
  }
  youngest_[d] = index;
  pending_[d] |= bit(b);
  turn_dirty_ = true;
  // Where older requests of the bank decide, the choice stands.
  if ((open_ & bit(b)) != 0 && open_row_[b] == slot.row) {
    if (line.hits++ > 0) return;
    line.hit = index;
    hit_[d] |= bit(b);
    offer_column(b);
    if (row_.bank == b) row_dirty_ = true; // it was to be closed
  } else if (first) {
    offer_row(b);
  }
}

bool Channel::push(const Access& access, Cycle now) {
  advance(now);
  cursor_ = std::max(cursor_, now);
  bound_ = std::min(bound_, cursor_);
  const std::uint8_t hash = filter_hash(access.bank, access.row, access.column);
  const auto same = [&](Index s) {
    return slots_[s].row == access.row && slots_[s].column == access.column &&
           slots_[s].bank == access.bank;
  };
  if (access.write) {
    done_->push_back({access.tag, true, now + 1});
  } else if (filter_[1][hash] != 0) {
    bool found = std::any_of(parked_.begin(), parked_.end(), same);
    for (Index s = lines_[1][access.bank].head; s != kNone && !found; s = slots_[s].next)
      found = same(s);
    if (found) {
      ++statistics_.forwarded;
      done_->push_back({access.tag, false, now + 1});
      return true;
    }
  }

  const Index index = free_;
  Slot& slot = slots_[index];
  free_ = slot.next;
  slot.arrival = now;
  slot.row = access.row;
  slot.column = static_cast<std::uint16_t>(access.column);
  slot.tag = access.tag;
  slot.bank = static_cast<std::uint8_t>(access.bank);
  slot.write = access.write;
  ++count_[access.write];
  ++filter_[access.write][hash];
  ++ranks_[rank_of(access.bank)].waiting;

  if (access.write && filter_[0][hash] != 0) {
    for (Index s = lines_[0][access.bank].head; s != kNone; s = slots_[s].next)
      if (same(s)) {
        parked_.push_back(index);
        return true;
      }
  }
  if (controller_.page == PagePolicy::timeout && (open_ & bit(access.bank)) != 0)
    close_idle(access.bank, now);
  enlist(index);
  return access.write;
}

/// Takes a request out of the queues; it was its line's oldest hit.
inline void Channel::retire(Index index) {
  Slot& slot = slots_[index];
  const bool d = slot.write;
  const std::uint32_t b = slot.bank;
  Line& line = lines_[d][b];
  if (slot.previous == kNone)
    set_head(d, b, slot.next);
  else
    slots_[slot.previous].next = slot.next;
  (slot.next == kNone ? line.tail : slots_[slot.next].previous) = slot.previous;
  if (slot.older == kNone) {
    oldest_[d] = slot.younger;
    late_[d] = slot.younger == kNone ? kNever : slots_[slot.younger].arrival + age_cap_;
  } else {
    slots_[slot.older].younger = slot.younger;
  }
  (slot.younger == kNone ? youngest_[d] : slots_[slot.younger].older) = slot.older;
  if (--line.hits == 0) {
    line.hit = kNone;
    hit_[d] &= ~bit(b);
    if (line.head != kNone) offer_row(b); // the row may be closed now
  } else {
    Index s = slot.next;
    while (slots_[s].row != slot.row)
      s = slots_[s].next;
    line.hit = s;
  }
  if (line.head == kNone) pending_[d] &= ~bit(b);
  --count_[d];
  --filter_[d][filter_hash(b, slot.row, slot.column)];
  --ranks_[rank_of(b)].waiting;
  slot.next = free_;
  free_ = index;
  turn_dirty_ = true;
}

/// Writes of the address that no older read waits for any more go to the queue proper.
void Channel::release_parked(const Slot& read) {
  if (filter_[0][filter_hash(read.bank, read.row, read.column)] != 0)
    for (Index s = lines_[0][read.bank].head; s != kNone; s = slots_[s].next)
      if (slots_[s].row == read.row && slots_[s].column == read.column) return;
  std::size_t kept = 0;
  for (std::size_t p = 0; p < parked_.size(); ++p) {
    const Slot& write = slots_[parked_[p]];
    if (write.bank == read.bank && write.row == read.row && write.column == read.column)
      enlist(parked_[p]);
    else
      parked_[kept++] = parked_[p];
  }
  parked_.resize(kept);
}

// ---------------------------------------------------------------- time

void Channel::play(Cycle until) {
  if (next_due_ < until && idle()) skip_idle(until);
  commit_before(until);
}

void Channel::commit_before(Cycle until) {
  while (next() < until) {
    cursor_ = std::max(cursor_, bound_);
    if (next_due_ == bound_)
      refresh_due(due_rank_);
    else if (column_.at == bound_)
      commit_column();
    else
      commit_row();
  }
}

// ---------------------------------------------------------------- commands

void Channel::commit_column() {
  const Cycle at = column_.at;
  const std::uint32_t b = column_.bank;
  const bool w = writing_;
  const Index index = lines_[w][b].hit;
  const Slot& slot = slots_[index];
  const std::uint32_t r = rank_of(b), g = group_[b];
  const Timings& t = timings_;
  const AfterColumn& next = after_[w];
  const Cycle end = at + next.end;
  if (const Cycle could = end - t.burst; could != statistics_.last_data) account_gap(slot, at);
  note(at, w ? Order::write : Order::read, b, slot.row);

  for (const bool d : {false, true}) {
    auto& ranks = rank_column_[d];
    const Cycle own = std::max(ranks[r], at + next.column[0][d]);
    if (rank_count_ > 1) {
      const Cycle other = at + next.column[1][d];
      for (std::uint32_t k = 0; k < rank_count_; ++k)
        ranks[k] = std::max(ranks[k], other);
    }
    ranks[r] = own;
  }
  group_column_[w][g] = at + next.group;
  if (w) group_column_[0][g] = at + next.group_read;
  pre_ready_[b] = std::max(pre_ready_[b], at + next.precharge);
  if (!w) done_->push_back({slot.tag, false, end});
  ++(w ? statistics_.writes : statistics_.reads);
  drained_ += w;
  statistics_.last_data = end;
  statistics_.busy += t.burst;
  statistics_.row_hits += !fresh_[b];
  fresh_[b] = false;
  if (controller_.page == PagePolicy::timeout) last_use_[b] = at;
  last_write_ = w;
  column_bus_ = at + t.column_clocks;
  if (t.shared_bus) {
    row_bus_ = column_bus_;
    row_dirty_ |= row_.at < row_bus_;
  }
  column_dirty_ = true;

  retire(index);
  if (!w && !parked_.empty()) release_parked(slot); // a slot taken out keeps its address
  if (controller_.page == PagePolicy::closed && lines_[0][b].hits + lines_[1][b].hits == 0) {
    // RDA, WRA: the bank closes by itself as soon as it may.
    closed(b);
    note(pre_ready_[b], Order::precharge, b);
    act_ready_[b] = std::max(act_ready_[b], pre_ready_[b] + t.tRP);
    ready_limit_[b] = Limit::conflict;
    ++statistics_.precharges;
  }
  Rank& rank = ranks_[r];
  if (rank.owed > 0 && rank.waiting == 0) {
    if (controller_.refresh == RefreshMode::all_bank)
      refresh_all(r, at);
    else if (rank.set == UINT32_MAX)
      begin_set(r);
  }
}

/// Books the time since the end of the last data under what this access waited for.
void Channel::account_gap(const Slot& slot, Cycle at) {
  const Cycle latency = slot.write ? timings_.tCWL : timings_.tCL;
  const bool first = statistics_.last_data == 0;
  if (first) statistics_.first_data = slot.arrival + latency;
  const Cycle could = first ? statistics_.first_data : statistics_.last_data;
  Cycle gap = at + latency - could;
  const auto lose = [&](Limit limit, Cycle clocks) {
    statistics_.lost[static_cast<std::size_t>(limit)] += clocks;
    gap -= clocks;
  };
  if (slot.arrival + latency > could) lose(Limit::queue, slot.arrival + latency - could);
  if (gap == 0) return;
  const std::uint32_t b = slot.bank;
  const bool turned = !first && last_write_ != slot.write;
  if (column_ready_[slot.write][b] >= at)
    lose(act_limit_[b], gap);
  else if (group_column_[slot.write][group_[b]] >= at)
    lose(turned ? Limit::turnaround : Limit::bank_group, gap);
  else if (turned || rank_column_[slot.write][rank_of(b)] >= at)
    lose(Limit::turnaround, gap);
  else
    lose(Limit::command_bus, gap);
}

void Channel::commit_row() {
  const Choice choice = row_;
  row_dirty_ = true;
  switch (choice.kind) {
  case Row::activate:
    activate(choice.bank, choice.at);
    break;
  case Row::precharge:
    precharge(choice.bank, choice.at);
    break;
  case Row::refresh:
    issue_set(rank_of(choice.bank), choice.at);
    break;
  case Row::none:
    break;
  }
  if (timings_.shared_bus) {
    column_bus_ = std::max(column_bus_, row_bus_);
    column_dirty_ |= column_.at < column_bus_;
  }
}

void Channel::activate(std::uint32_t b, Cycle at) {
  Rank& rank = ranks_[rank_of(b)];
  const Timings& t = timings_;
  const Slot& wanted = slots_[lines_[writing_][b].head];
  Limit limit = Limit::queue;
  if (act_ready_[b] >= at)
    limit = ready_limit_[b];
  else if (rank.acts[rank.oldest_act] + t.tFAW >= at)
    limit = Limit::four_acts;
  else if (rank_act_[rank_of(b)] >= at || group_act_[group_[b]] >= at)
    limit = Limit::activation;
  else if (wanted.arrival < at)
    limit = Limit::conflict; // it waited for its turn
  act_limit_[b] = limit;
  note(at, Order::activate, b, wanted.row);

  open_ |= bit(b);
  open_row_[b] = wanted.row;
  fresh_[b] = true;
  column_ready_[0][b] = at + t.tRCDRD;
  column_ready_[1][b] = at + t.tRCDWR;
  pre_ready_[b] = at + t.tRAS;
  act_ready_[b] = at + t.tRC;
  ready_limit_[b] = Limit::conflict;
  group_act_[group_[b]] = at + t.tRRDL;
  rank.acts[rank.oldest_act] = at;
  rank.oldest_act = (rank.oldest_act + 1) % 4;
  rank_act_[rank_of(b)] = std::max(at + t.tRRDS, rank.acts[rank.oldest_act] + t.tFAW);
  row_bus_ = at + t.act_clocks;
  ++statistics_.activates;
  opened(b);
}

/// Finds the requests of the row now open.
void Channel::opened(std::uint32_t b) {
  for (const bool d : {false, true}) {
    Line& line = lines_[d][b];
    line.hits = 0;
    for (Index s = line.head; s != kNone; s = slots_[s].next)
      if (slots_[s].row == open_row_[b] && line.hits++ == 0) line.hit = s;
    if (line.hits > 0) hit_[d] |= bit(b);
  }
  offer_column(b);
}

void Channel::closed(std::uint32_t b) {
  if ((hit_[writing_] & bit(b)) != 0) column_dirty_ = true;
  open_ &= ~bit(b);
  for (const bool d : {false, true}) {
    lines_[d][b].hits = 0;
    lines_[d][b].hit = kNone;
    hit_[d] &= ~bit(b);
  }
  row_dirty_ = true;
}

void Channel::precharge(std::uint32_t b, Cycle at) {
  note(at, Order::precharge, b);
  closed(b);
  act_ready_[b] = std::max(act_ready_[b], at + timings_.tRP);
  ready_limit_[b] = (refreshing_ & bit(b)) != 0 ? Limit::refresh : Limit::conflict;
  rank_pre_[rank_of(b)] = at + timings_.tPPD;
  row_bus_ = at + 1;
  ++statistics_.precharges;
  statistics_.conflicts += (refreshing_ & bit(b)) == 0;
}

/// Timeout pages: the row closed by itself, with nobody to see the slot it took.
void Channel::close_idle(std::uint32_t b, Cycle now) {
  if (lines_[0][b].head != kNone || lines_[1][b].head != kNone) return;
  const Cycle at = std::max(last_use_[b] + page_timeout_, pre_ready_[b]);
  if (at >= now) return;
  note(at, Order::precharge, b);
  closed(b);
  act_ready_[b] = std::max(act_ready_[b], at + timings_.tRP);
  ready_limit_[b] = Limit::conflict;
  ++statistics_.precharges;
}

} // namespace umf::hw::dram
