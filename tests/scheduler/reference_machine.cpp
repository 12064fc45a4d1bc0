#include "tests/scheduler/reference_machine.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace umf::test {

using memory::PageRun;
using memory::PageState;
using policy::TierIndex;

namespace {

constexpr Bytes kHalf{kPage.count / 2};
constexpr std::uint64_t kMostPages = 12; // of a tensor
constexpr std::size_t kMostTensors =
    5; // 60 pages and as many reserved fit 120 frames of the standard machine
constexpr std::size_t kMostAccesses = 16; // pages accessed, before more are: else moves never find
                                          // a page that nobody reads, and tensors never die
constexpr Halves kPoison = {UINT64_MAX, UINT64_MAX}; // content of a frame nobody owns

void require(bool holds, const char* what) {
  if (!holds) throw std::logic_error(what);
}

template <class T>
void drop(std::vector<T>& list, std::size_t index) {
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(index));
}

} // namespace

void RestlessPolicy::place(const policy::Need& need, const policy::Ground& ground,
                           std::vector<policy::Grant>& grants) {
  std::vector<std::uint64_t> free;
  for (const auto& tier : ground.tiers)
    free.push_back(policy::Ground::free_pages(tier));
  for (std::uint64_t left = need.pages; left > 0;) {
    const std::size_t tier = random_.next_below(free.size());
    const std::uint64_t pages = std::min(random_.next_below(left + 1), free[tier]);
    free[tier] -= pages;
    left -= pages;
    // A packed page takes no more than a frame, so that what is free in frames is enough.
    grants.push_back(
        {static_cast<TierIndex>(tier), pages, false, packs_ && random_.next_below(2) == 0});
  }
}

void RestlessPolicy::touched(const policy::Touch& touch, const policy::Ground& ground,
                             std::vector<policy::Order>& orders) {
  if (random_.next_below(3) != 0) return;
  using Why = policy::Order::Why;
  orders.push_back({.first = touch.pages.first - random_.next_below(3),
                    .pages = 1 + random_.next_below(8),
                    .to = static_cast<TierIndex>(random_.next_below(ground.tiers.size())),
                    .why = random_.next_below(3) == 0 ? Why::prefetch : Why::background,
                    .keep = random_.next_below(2) == 0,
                    .packed = packs_ && random_.next_below(2) == 0});
}

ReferenceMachine::ReferenceMachine(std::uint64_t seed, std::unique_ptr<policy::Policy> policy,
                                   std::vector<std::uint64_t> frames,
                                   scheduler::Coherence coherence)
    : random_(seed, "reference machine"), fills_(policy != nullptr) {
  policy::Ground ground{kPage, {}};
  for (const auto kind :
       {policy::TierClass::hbm, policy::TierClass::pool, policy::TierClass::host}) {
    const std::uint64_t count = frames[tiers_.size()];
    tiers_.push_back({memory::FrameAllocator(count), std::vector(count, kPoison), {}});
    ground.tiers.push_back({"tier", kind, &tiers_.back().frames});
  }
  if (!policy) policy = std::make_unique<RestlessPolicy>(seed);
  brain_ = std::make_unique<scheduler::Brain>(ground, std::move(policy), coherence, kDegrading);
}

void ReferenceMachine::step() {
  now_ += 1000_ns;
  change_trouble();
  if (shaken_) change_link();
  const std::uint64_t draw = random_.next_below(100);
  const bool full = in_flight_.size() + parked_.size() >= kMostAccesses;
  full_queues_ += full && trouble_ == Trouble::never_quiet;
  if (draw < 20 && !full) {
    access();
  } else if (draw < 36) {
    if (!in_flight_.empty()) finish_access(random_.next_below(in_flight_.size()));
  } else if (draw < 46) {
    serve_faults();
    take_command();
  } else if (draw < 94) {
    if (!moves_.empty()) advance(random_.next_below(moves_.size()));
  } else if (draw < 96) {
    reclaim();
  } else if (draw < 98) {
    declare();
  } else if (!tensors_.empty()) {
    release(random_.next_below(tensors_.size()));
  }
}

/// One step in 500 begins up to 200 of trouble.
void ReferenceMachine::change_trouble() {
  if (++steps_ < trouble_ends_) return;
  trouble_ = Trouble::none;
  if (random_.next_below(500) != 0) return;
  trouble_ = static_cast<Trouble>(1 + random_.next_below(3));
  trouble_ends_ = steps_ + 1 + random_.next_below(200);
}

/// One step in 30 changes the way to the pool: often it is good.
void ReferenceMachine::change_link() {
  check_read_only(); // it may have opened, and close now
  if (random_.next_below(30) == 0) {
    scheduler::Condition condition;
    if (random_.next_below(2) == 0) {
      condition.rate = static_cast<double>(1 + random_.next_below(10)) / 10;
      condition.errors = static_cast<double>(random_.next_below(3)) * 1e-3;
      condition.hot = random_.next_below(4) == 0;
    }
    brain_->link_changed(1, condition, now_);
  }
  check_read_only();
}

/// While the pool is read only it gains no frames but by force, or for what goes back to a copy.
void ReferenceMachine::check_read_only() {
  const auto& counters = brain_->counters();
  const std::uint64_t allowed = counters.degrade.forced_pages + counters.returned;
  const bool closed = brain_->ground().tiers[1].read_only;
  std::uint64_t going_back = 0;
  for (const Move& move : moves_)
    if (move.command.back && move.stage != Move::Stage::switched)
      going_back += move.command.from.count;
  if (closed && !read_only_) most_ = used(1) - allowed;
  if (closed && !commands_pending_)
    require(used(1) <= most_ + allowed + going_back, "a pool that is read only was given pages");
  read_only_ = closed;
}

bool ReferenceMachine::held_up(const Move& move) const {
  return (trouble_ == Trouble::link_lost && move.stage == Move::Stage::copying) ||
         (trouble_ == Trouble::never_quiet && move.stage == Move::Stage::suspended);
}

void ReferenceMachine::declare() {
  if (tensors_.size() == kMostTensors) return;
  stream::Tensor tensor;
  tensor.id = next_tensor_++;
  constexpr stream::Role roles[] = {stream::Role::weight, stream::Role::activation,
                                    stream::Role::kv_key};
  tensor.role = roles[tensor.id % 3];
  tensor.dtype = stream::DType::bf16;
  tensor.bytes = {1 + random_.next_below(kMostPages * kPage.count)};
  brain_->declare(tensor);
  tensors_.push_back(tensor.id);
}

/// Only dead tensors are released: nobody accesses them, no command holds them.
void ReferenceMachine::release(std::size_t index) {
  const auto& entry = brain_->space().at(tensors_[index]);
  const Page first = entry.base / kPage.count, end = first + entry.pages;
  if (brain_->busy(tensors_[index]) || outstanding(first, entry.pages)) return;
  std::vector<PageRun> runs;
  brain_->look(entry.base, {entry.pages * kPage.count}, runs);
  for (const PageRun& run : runs)
    for (std::uint64_t i = 0; i < run.count && run.state != PageState::deferred; ++i)
      content(run, run.first + i) = kPoison;
  truth_.erase(truth_.lower_bound(first), truth_.lower_bound(end));
  dead_.erase(dead_.lower_bound(first), dead_.lower_bound(end));
  brain_->release(tensors_[index]);
  commands_pending_ = true; // its frames may be what a fault waits for
  drop(tensors_, index);
}

ReferenceMachine::Units ReferenceMachine::units_of(const memory::AddressSpace::Entry& entry,
                                                   Page page) {
  Units units;
  for (std::size_t u = 0; u < kUnits; ++u)
    units[u] =
        page * kPage.count + u * (kPage.count / kUnits) < entry.base + entry.tensor.bytes.count;
  return units;
}

bool ReferenceMachine::is_dead(const memory::AddressSpace::Entry& entry, Page page) const {
  const auto it = dead_.find(page);
  return it != dead_.end() && it->second == units_of(entry, page);
}

/// Some bytes of a tensor die, of pages that nobody accesses and no command holds.
void ReferenceMachine::reclaim() {
  if (tensors_.empty()) return;
  const auto& entry = brain_->space().at(tensors_[random_.next_below(tensors_.size())]);
  const std::uint64_t unit = kPage.count / kUnits, bytes = entry.tensor.bytes.count;
  const std::uint64_t from = random_.next_below((bytes + unit - 1) / unit) * unit;
  const std::uint64_t to = std::min(from + (1 + random_.next_below(2 * kUnits)) * unit, bytes);
  const Page first = (entry.base + from) / kPage.count, last = (entry.base + to - 1) / kPage.count;
  if (brain_->busy(entry.base + from, {to - from}) || outstanding(first, last - first + 1)) return;
  std::map<Page, Units> dying;
  for (std::uint64_t at = from; at < to; at += unit)
    dying[(entry.base + at) / kPage.count].set(at / unit % kUnits);
  for (const auto& [page, units] : dying)
    if ((dead_[page] & units).any()) return; // bytes die once
  for (const auto& [page, units] : dying) {
    dead_[page] |= units;
    if (!is_dead(entry, page) || truth_.erase(page) == 0) continue;
    std::vector<PageRun> runs;
    brain_->look(page * kPage.count, kPage, runs);
    content(runs.front(), page) = kPoison;
    ++pages_reclaimed_;
  }
  brain_->reclaim(entry.base + from, {to - from});
  commands_pending_ = true; // as above
}

/// Dead bytes on pages that exist.
std::uint64_t ReferenceMachine::holes() const {
  std::uint64_t bytes = 0;
  const std::uint64_t unit = kPage.count / kUnits;
  for (const auto& [page, units] : dead_) {
    if (truth_.count(page) == 0) continue;
    const auto* entry = brain_->space().holder(page * kPage.count);
    const std::uint64_t end = entry->base + entry->tensor.bytes.count;
    for (std::size_t u = 0; u < kUnits; ++u)
      if (units[u]) bytes += std::min(unit, end - page * kPage.count - u * unit);
  }
  return bytes;
}

/// Of half a page at least.
void ReferenceMachine::access() {
  if (tensors_.empty()) return;
  const auto& entry = brain_->space().at(tensors_[random_.next_below(tensors_.size())]);
  const std::uint64_t all = (entry.tensor.bytes.count + kHalf.count - 1) / kHalf.count;
  const std::uint64_t first = random_.next_below(all);
  const std::uint64_t halves = 1 + random_.next_below(all - first);
  const std::uint64_t address = entry.base + first * kHalf.count;
  for (std::uint64_t half = first; half < first + halves; ++half)
    if (is_dead(entry, (entry.base + half * kHalf.count) / kPage.count)) return;
  const bool write = random_.next_below(2) == 0;
  std::vector<PageRun> runs;
  brain_->touch(address, {halves * kHalf.count}, write, now_, runs);
  commands_pending_ = true;
  const Page base = entry.base / kPage.count;
  for (const PageRun& run : runs) {
    require(run.state != PageState::deferred, "touch left a page without a frame");
    for (std::uint64_t i = 0; i < run.count; ++i) {
      const Page page = run.first + i;
      if (truth_.count(page) == 0) {
        truth_[page] = {{0, 0}};
        std::vector<PageRun> home; // a new page may be written in the staging buffer at once
        brain_->look(page * kPage.count, kPage, home);
        content(home.front(), page) = {0, 0};
      }
      Access part{page, write};
      for (std::uint64_t half = 0; half < 2; ++half) {
        const std::uint64_t at = 2 * (page - base) + half;
        part.halves[half] = at >= first && at < first + halves;
      }
      dispatch(part, run);
    }
  }
}

std::pair<std::uint64_t, Bytes> ReferenceMachine::range_of(const Access& access) {
  const std::uint64_t begin = access.page * kPage.count + (access.halves[0] ? 0 : kHalf.count);
  return {begin, access.halves[0] && access.halves[1] ? kPage : kHalf};
}

ReferenceMachine::Place ReferenceMachine::place_of(const PageRun& run, Page page) {
  PageRun at = run;
  at.skip(page - run.first);
  return {at.tier, at.frame, at.packed};
}

Halves& ReferenceMachine::content(Place place) {
  Tier& tier = tiers_[place.tier];
  return place.packed > 0 ? tier.packed[place.frame] : tier.content[place.frame];
}

bool ReferenceMachine::is_staging(Place place) const {
  return place.tier == 0 && place.packed == 0 && place.frame < brain_->staging_frames(0);
}

void ReferenceMachine::dispatch(const Access& access, const PageRun& run) {
  Access started = access;
  started.place = place_of(run, access.page);
  started.since = truth_.at(access.page).size() - 1;
  const bool waits = run.state == PageState::suspended || run.state == PageState::syncing ||
                     (access.write && run.state == PageState::moving);
  parked_ever_ += waits;
  raced_ += access.write && run.state == PageState::moving;
  forwarded_ += !waits && !access.write && is_staging(started.place);
  (waits ? parked_ : in_flight_).push_back(started);
}

/// A write makes its halves new; a read has seen one state of the page.
void ReferenceMachine::finish_access(std::size_t index) {
  const Access access = in_flight_[index];
  drop(in_flight_, index);
  auto& history = truth_.at(access.page);
  Halves& there = content(access.place);
  if (!access.write || !is_staging(access.place)) {
    const auto same = [&](const Halves& then) {
      return (!access.halves[0] || then[0] == there[0]) &&
             (!access.halves[1] || then[1] == there[1]);
    };
    require(std::any_of(history.begin() + static_cast<std::ptrdiff_t>(access.since), history.end(),
                        same),
            "an access met a torn, stale or lost page");
  }
  if (!access.write) return;
  Halves now = history.back();
  for (std::size_t half = 0; half < 2; ++half)
    if (access.halves[half]) there[half] = now[half] = version_;
  ++version_;
  history.push_back(now);
}

void ReferenceMachine::retry_parked() {
  std::vector<Access> waiting;
  waiting.swap(parked_);
  for (const Access& access : waiting) {
    std::vector<PageRun> runs;
    const auto [begin, length] = range_of(access);
    brain_->again(begin, length, access.write, now_, runs);
    require(runs.size() == 1, "one page, one run");
    dispatch(access, runs.front());
  }
}

void ReferenceMachine::serve_faults() {
  if (brain_->faults_waiting() == 0) return;
  brain_->serve_faults(1 + random_.next_below(8), now_);
  commands_pending_ = true;
  retry_parked();
}

void ReferenceMachine::take_command() {
  if (brain_->make_room()) retry_parked();
  const auto command = brain_->next_command();
  commands_pending_ = command.has_value();
  if (!command) return;
  if (command->demand() || command->sync || command->scan > 0 ||
      (trouble_ != Trouble::all_refused && random_.next_below(4) != 0)) {
    moves_.push_back({*command});
    return;
  }
  brain_->refused(*command, now_);
  ++refusals_;
  for (std::uint64_t i = 0; i < command->from.count; ++i) {
    std::vector<PageRun> runs;
    brain_->look((command->from.first + i) * kPage.count, kPage, runs);
    require(runs.front().state == PageState::resident && runs.front().tier == command->from.tier &&
                runs.front().frame ==
                    command->from.frame + i * PageRun::stride(command->from.packed),
            "a refused move changed its pages");
  }
  retry_parked();
}

void ReferenceMachine::advance(std::size_t index) {
  Move& move = moves_[index];
  if (held_up(move)) return;
  const scheduler::Command& command = move.command;
  switch (move.stage) {
  case Move::Stage::copying:
    if (command.scan > 0) {
      brain_->quiesced(command, now_);
      commands_pending_ = true; // what it has found leaves
      move.stage = Move::Stage::switched;
      return;
    }
    if (move.copied == 0 && (in_flight(command.from, true) || reads_at(command))) return;
    if (move.copied == 0 && command.sync && brain_->landed(command)) retry_parked();
    for (; command.blank && move.copied < 2 * command.from.count; ++move.copied)
      content({command.to, command.to_frame + move.copied / 2, 0}) = {0, 0}; // not written yet
    if (command.back) move.copied = 2 * command.from.count; // or it is not what the brain says
    if (move.copied < 2 * command.from.count) return copy_half(move);
    brain_->suspend(command);
    move.stage = Move::Stage::suspended;
    return;
  case Move::Stage::suspended:
    if (in_flight(command.from, false)) return;
    brain_->quiesced(command, now_);
    commands_pending_ = true; // for whom frames have become free
    for (std::uint64_t i = 0; i < command.from.count && !command.keep; ++i) // of a sync: the slots
      content(command.from, command.from.first + i) = kPoison;
    move.stage = Move::Stage::switched;
    return;
  case Move::Stage::switched:
    brain_->completed(command);
    commands_pending_ = true; // what has come may leave again
    ++moves_done_;
    drop(moves_, index);
    retry_parked();
    return;
  }
}

/// Of a sync only what was written.
void ReferenceMachine::copy_half(Move& move) {
  const scheduler::Command& command = move.command;
  const std::uint64_t at = move.copied * kHalf.count;
  if (at >= command.skip && at < command.skip + command.bytes) {
    const std::uint64_t frame = move.copied / 2, half = move.copied % 2;
    const Place to{command.to, command.to_frame + frame * PageRun::stride(command.packed),
                   command.packed};
    content(to)[half] = content(command.from, command.from.first + frame)[half];
  }
  ++move.copied;
}

/// Whether somebody still reads what a sync is about to overwrite.
bool ReferenceMachine::reads_at(const scheduler::Command& sync) const {
  return sync.sync && std::any_of(in_flight_.begin(), in_flight_.end(), [&](const Access& access) {
           return access.place.tier == sync.to && access.page >= sync.from.first &&
                  access.page < sync.from.first + sync.from.count;
         });
}

bool ReferenceMachine::in_flight(const PageRun& range, bool only_writes) const {
  return std::any_of(in_flight_.begin(), in_flight_.end(), [&](const Access& access) {
    return (access.write || !only_writes) && access.page >= range.first &&
           access.page < range.first + range.count;
  });
}

bool ReferenceMachine::outstanding(Page first, std::uint64_t pages) const {
  const auto inside = [&](const Access& a) { return a.page >= first && a.page < first + pages; };
  return std::any_of(in_flight_.begin(), in_flight_.end(), inside) ||
         std::any_of(parked_.begin(), parked_.end(), inside);
}

/// Whoever waits must be served by what is in flight, faulted or ordered, in bounded steps.
void ReferenceMachine::drain() {
  trouble_ = Trouble::none;
  for (int step = 0; step < 100'000; ++step) {
    serve_faults();
    do {
      take_command();
    } while (commands_pending_);
    if (!in_flight_.empty()) finish_access(random_.next_below(in_flight_.size()));
    if (!moves_.empty()) advance(random_.next_below(moves_.size()));
    if (in_flight_.empty() && moves_.empty() && brain_->faults_waiting() == 0 && !commands_pending_)
      break;
  }
  require(parked_.empty() && moves_.empty(), "an access waits for ever");
}

void ReferenceMachine::release_all() {
  while (!tensors_.empty())
    release(0);
}

void ReferenceMachine::check_ownership() const {
  std::set<std::tuple<TierIndex, bool, std::uint64_t>> owned;
  std::vector<std::uint64_t> reserved(tiers_.size());
  std::uint64_t in_motion = 0, pages = 0, plain = 0, frames = 0, slabs = 0;
  for (const auto tensor : tensors_) {
    const auto& entry = brain_->space().at(tensor);
    std::vector<PageRun> runs;
    brain_->look(entry.base, {entry.pages * kPage.count}, runs);
    for (const PageRun& run : runs) {
      if (run.state == PageState::deferred) continue;
      if (run.state != PageState::resident && run.state != PageState::syncing)
        in_motion += run.count;
      for (std::uint64_t i = 0; i < run.count; ++i, ++pages)
        require(owned.insert(place_of(run, run.first + i).key()).second,
                "a frame belongs to two pages");
      plain += run.packed == 0 ? run.count : 0;
    }
  }
  require(pages == truth_.size(), "a page was lost");
  require(brain_->holes().count == holes(), "dead bytes are not those of pages with frames");
  for (const Move& move : moves_) {
    if (move.stage == Move::Stage::switched || move.command.sync) continue;
    PageRun there = move.command.from;
    there.tier = move.command.to;
    there.frame = move.command.to_frame;
    there.packed = move.command.packed;
    if (there.packed == 0) reserved[there.tier] += there.count;
    for (std::uint64_t i = 0; i < there.count; ++i)
      require(owned.insert(place_of(there, there.first + i).key()).second,
              "a reserved frame belongs to a page");
  }
  std::uint64_t in_commands = 0;
  for (const std::uint64_t count : reserved)
    in_commands += count;
  for (TierIndex tier = 0; tier < tiers_.size(); ++tier) {
    frames += tiers_[tier].frames.used();
    slabs += brain_->packed(tier).frames_used();
    if (!commands_pending_)
      require(used(tier) == brain_->table().resident(tier) - brain_->table().packed(tier) +
                                brain_->packed(tier).frames_used() + reserved[tier] +
                                brain_->staging_frames(tier),
              "a tier's occupancy is not what the table and the commands say");
  }
  if (!commands_pending_)
    require(frames == plain + slabs + in_commands + brain_->staging_frames(0),
            "occupancy is not what the commands say");
  if (!fills_ && slabs == 0) // pages that are blank or wait for a fill have no second frame yet
    require(frames == pages + in_motion + brain_->staging_frames(0),
            "occupancy is not what the page states say");
}

std::uint64_t ReferenceMachine::check_every_page() const {
  std::uint64_t pages = 0;
  for (const auto& [page, history] : truth_) {
    std::vector<PageRun> runs;
    brain_->look(page * kPage.count, kPage, runs);
    const Place place = place_of(runs.front(), page);
    const Tier& tier = tiers_[place.tier];
    require((place.packed > 0 ? tier.packed.at(place.frame) : tier.content[place.frame]) ==
                history.back(),
            "a page lost its data");
    ++pages;
  }
  return pages;
}

} // namespace umf::test
