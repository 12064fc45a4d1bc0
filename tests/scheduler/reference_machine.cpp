#include "tests/scheduler/reference_machine.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

namespace umf::test {

using memory::PageRun;
using memory::PageState;
using policy::TierIndex;

namespace {

constexpr std::uint64_t kMostPages = 12; // of a tensor
constexpr std::size_t kMostTensors =
    5; // 60 pages and as many reserved fit 120 frames of the standard machine
constexpr std::size_t kMostAccesses = 16; // pages accessed, before more are: else moves never find
                                          // a page that nobody reads, and tensors never die
constexpr std::uint64_t kPoison = UINT64_MAX; // content of a frame nobody owns

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
    free.push_back(tier.frames->free());
  for (std::uint64_t left = need.pages; left > 0;) {
    const std::size_t tier = random_.next_below(free.size());
    const std::uint64_t pages = std::min(random_.next_below(left + 1), free[tier]);
    free[tier] -= pages;
    left -= pages;
    grants.push_back({static_cast<TierIndex>(tier), pages});
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
                    .keep = random_.next_below(2) == 0});
}

ReferenceMachine::ReferenceMachine(std::uint64_t seed, std::unique_ptr<policy::Policy> policy,
                                   std::vector<std::uint64_t> frames)
    : random_(seed, "reference machine"), fills_(policy != nullptr) {
  policy::Ground ground{kPage, {}};
  for (const auto kind :
       {policy::TierClass::hbm, policy::TierClass::pool, policy::TierClass::host}) {
    const std::uint64_t count = frames[tiers_.size()];
    tiers_.push_back({memory::FrameAllocator(count), std::vector(count, kPoison)});
    ground.tiers.push_back({"tier", kind, &tiers_.back().frames});
  }
  if (!policy) policy = std::make_unique<RestlessPolicy>(seed);
  brain_ = std::make_unique<scheduler::Brain>(ground, std::move(policy));
}

void ReferenceMachine::step() {
  now_ += 1000_ns;
  const std::uint64_t draw = random_.next_below(100);
  if (draw < 20 && in_flight_.size() + parked_.size() < kMostAccesses) {
    access();
  } else if (draw < 36) {
    if (!in_flight_.empty()) finish_access(random_.next_below(in_flight_.size()));
  } else if (draw < 46) {
    serve_faults();
    take_command();
  } else if (draw < 96) {
    if (!moves_.empty()) advance(random_.next_below(moves_.size()));
  } else if (draw < 98) {
    declare();
  } else if (!tensors_.empty()) {
    release(random_.next_below(tensors_.size()));
  }
}

void ReferenceMachine::declare() {
  if (tensors_.size() == kMostTensors) return;
  stream::Tensor tensor;
  tensor.id = next_tensor_++;
  tensor.role = tensor.id % 4 == 0   ? stream::Role::weight
                : tensor.id % 4 == 2 ? stream::Role::kv_key
                                     : stream::Role::activation;
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
      content({run.tier, run.frame + i}) = kPoison;
  truth_.erase(truth_.lower_bound(first), truth_.lower_bound(end));
  brain_->release(tensors_[index]);
  commands_pending_ = true; // its frames may be what a fault waits for
  drop(tensors_, index);
}

void ReferenceMachine::access() {
  if (tensors_.empty()) return;
  const auto& entry = brain_->space().at(tensors_[random_.next_below(tensors_.size())]);
  const std::uint64_t first = random_.next_below(entry.pages);
  const std::uint64_t pages = 1 + random_.next_below(entry.pages - first);
  const std::uint64_t address = entry.base + first * kPage.count;
  const bool write = random_.next_below(2) == 0;
  std::vector<PageRun> runs;
  const bool appends = write && entry.tensor.role == stream::Role::kv_key; // within the last page
  brain_->touch(address, {pages * kPage.count - (appends ? kPage.count / 2 : 0)}, write, now_,
                runs);
  commands_pending_ = true;
  for (const PageRun& run : runs) {
    require(run.state != PageState::deferred, "touch left a page without a frame");
    for (std::uint64_t i = 0; i < run.count; ++i) {
      if (truth_.emplace(run.first + i, 0).second) content({run.tier, run.frame + i}) = 0;
      dispatch({run.first + i, write}, run);
    }
  }
}

void ReferenceMachine::dispatch(const Access& access, const PageRun& run) {
  Access started = access;
  started.place = {run.tier, run.frame + (access.page - run.first)};
  const bool waits =
      run.state == PageState::suspended || (access.write && run.state == PageState::moving);
  parked_ever_ += waits;
  (waits ? parked_ : in_flight_).push_back(started);
}

void ReferenceMachine::finish_access(std::size_t index) {
  const Access access = in_flight_[index];
  drop(in_flight_, index);
  require(content(access.place) == truth_.at(access.page), "an access met a stale or lost page");
  if (access.write) content(access.place) = truth_.at(access.page) = version_++;
}

void ReferenceMachine::retry_parked() {
  std::vector<Access> waiting;
  waiting.swap(parked_);
  for (const Access& access : waiting) {
    std::vector<PageRun> runs;
    brain_->again(access.page * kPage.count, kPage, access.write, now_, runs);
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
  if (command->demand() || random_.next_below(4) != 0) {
    moves_.push_back({*command});
    return;
  }
  brain_->refused(*command, now_);
  ++refusals_;
  for (std::uint64_t i = 0; i < command->from.count; ++i) {
    std::vector<PageRun> runs;
    brain_->look((command->from.first + i) * kPage.count, kPage, runs);
    require(runs.front().state == PageState::resident && runs.front().tier == command->from.tier &&
                runs.front().frame == command->from.frame + i,
            "a refused move changed its pages");
  }
  retry_parked();
}

void ReferenceMachine::advance(std::size_t index) {
  Move& move = moves_[index];
  const scheduler::Command& command = move.command;
  switch (move.stage) {
  case Move::Stage::copying:
    if (move.copied == 0 && in_flight(command.from, true)) return;
    for (; command.blank && move.copied < command.from.count; ++move.copied)
      content({command.to, command.to_frame + move.copied}) = 0; // as nobody has written it
    if (command.back) move.copied = command.from.count;          // or it is not what the brain says
    if (move.copied < command.from.count) {
      content({command.to, command.to_frame + move.copied}) =
          content({command.from.tier, command.from.frame + move.copied});
      ++move.copied;
      return;
    }
    brain_->suspend(command);
    move.stage = Move::Stage::suspended;
    return;
  case Move::Stage::suspended:
    if (in_flight(command.from, false)) return;
    brain_->quiesced(command, now_);
    commands_pending_ = true; // for whom frames have become free
    for (std::uint64_t i = 0; i < command.from.count && !command.keep; ++i)
      content({command.from.tier, command.from.frame + i}) = kPoison;
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
  std::set<std::pair<TierIndex, std::uint64_t>> owned;
  std::vector<std::uint64_t> reserved(tiers_.size());
  std::uint64_t in_motion = 0, pages = 0, frames = 0;
  for (const auto tensor : tensors_) {
    const auto& entry = brain_->space().at(tensor);
    std::vector<PageRun> runs;
    brain_->look(entry.base, {entry.pages * kPage.count}, runs);
    for (const PageRun& run : runs) {
      if (run.state == PageState::deferred) continue;
      if (run.state != PageState::resident) in_motion += run.count;
      for (std::uint64_t i = 0; i < run.count; ++i, ++pages)
        require(owned.emplace(run.tier, run.frame + i).second, "a frame belongs to two pages");
    }
  }
  require(pages == truth_.size(), "a page was lost");
  for (const Move& move : moves_) {
    if (move.stage == Move::Stage::switched) continue;
    reserved[move.command.to] += move.command.from.count;
    for (std::uint64_t i = 0; i < move.command.from.count; ++i)
      require(owned.emplace(move.command.to, move.command.to_frame + i).second,
              "a reserved frame belongs to a page");
  }
  std::uint64_t in_commands = 0;
  for (const std::uint64_t count : reserved)
    in_commands += count;
  for (TierIndex tier = 0; tier < tiers_.size(); ++tier) {
    frames += tiers_[tier].frames.used();
    if (!commands_pending_)
      require(used(tier) == brain_->table().resident(tier) + reserved[tier],
              "a tier's occupancy is not what the table and the commands say");
  }
  if (!commands_pending_)
    require(frames == pages + in_commands, "occupancy is not what the commands say");
  if (!fills_) // pages that are blank or wait for a fill have no second frame yet
    require(frames == pages + in_motion, "occupancy is not what the page states say");
}

std::uint64_t ReferenceMachine::check_every_page() const {
  std::uint64_t pages = 0;
  for (const auto& [page, version] : truth_) {
    std::vector<PageRun> runs;
    brain_->look(page * kPage.count, kPage, runs);
    require(tiers_[runs.front().tier].content[runs.front().frame] == version,
            "a page lost its data");
    ++pages;
  }
  return pages;
}

} // namespace umf::test
