#include "model/scheduler/brain.h"

#include "model/base/error.h"
#include "model/scheduler/tap.h"

#include <algorithm>
#include <utility>

/// Tensors, their pages, and accesses to them. Moves are in moves.cpp, faults in faults.cpp, how
/// pages end in reclaim.cpp.
namespace umf::scheduler {

using memory::PageState;

Counters& Counters::operator+=(const Counters& other) {
  touches += other.touches;
  first_touches += other.first_touches;
  faults += other.faults;
  unmet += other.unmet;
  remote_hits += other.remote_hits;
  remote_pages += other.remote_pages;
  commands += other.commands;
  refused += other.refused;
  completed += other.completed;
  promotions += other.promotions;
  demotions += other.demotions;
  returned += other.returned;
  moved += other.moved;
  packed += other.packed;
  unpacked += other.unpacked;
  syncs += other.syncs;
  synced_pages += other.synced_pages;
  synced += other.synced;
  joined += other.joined;
  crowded += other.crowded;
  prefetch += other.prefetch;
  reclaimed += other.reclaimed;
  reclaimed_pages += other.reclaimed_pages;
  degrade += other.degrade;
  return *this;
}

Brain::Brain(policy::Ground ground, std::unique_ptr<policy::Policy> policy, Coherence coherence,
             const Degrading& degrading)
    : ground_(std::move(ground)), policy_(std::move(policy)), space_(ground_.page),
      leaving_(ground_.tiers.size()), hurried_(ground_.tiers.size()),
      arriving_(ground_.tiers.size()), ways_(ground_.tiers.size(), Degrade(degrading)),
      unmaps_(policy_->unmaps()) {
  for (const policy::Tier& tier : ground_.tiers)
    packed_.emplace_back(*tier.frames, ground_.page);
  const auto hbm = ground_.index(policy::TierClass::hbm);
  if (coherence.pool_writes == PoolWrites::direct || !hbm) return;
  memory::FrameAllocator& frames = *ground_.tiers[*hbm].frames;
  const std::uint64_t pages =
      std::clamp<std::uint64_t>(coherence.staging.count / ground_.page.count, 1,
                                std::max<std::uint64_t>(frames.frames() / 8, 1));
  const auto taken = frames.take(pages);
  ensure(taken.size() == 1, "HBM is in use before its staging buffer is taken");
  staging_.emplace(coherence, ground_.page, *hbm, taken.front());
}

Brain::~Brain() = default;

/// From the GPU: on it, one hop away, behind the host.
int Brain::distance(policy::TierClass kind) {
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

void Brain::tap(Tap* tap) {
  ensure(space_.live_tensors() == 0 && next_id_ == 1, "a brain is tapped that is in use");
  tap_ = tap;
}

void Brain::foresee(std::shared_ptr<const policy::Future> future) {
  ensure(tap_ == nullptr, "a brain is tapped that foresees");
  policy_->foresee(std::move(future));
}

void Brain::declare(const stream::Tensor& tensor) {
  const auto& entry = space_.declare(tensor);
  padding_ += Bytes{entry.pages * ground_.page.count} - tensor.bytes;
  peak_padding_ = std::max(peak_padding_, padding_);
  if (tap_ != nullptr) tap_->declared(tensor);
}

void Brain::preload(stream::TensorId tensor) {
  const auto& entry = space_.at(tensor);
  if (entry.pages > 0) materialise(entry, entry.base / ground_.page.count, entry.pages, true);
  if (tap_ != nullptr) tap_->preloaded(tensor);
}

void Brain::release(stream::TensorId tensor) {
  const auto& entry = space_.at(tensor);
  ensure(!busy(tensor), "release of a tensor whose pages are moving");
  vacate(entry, entry.base / ground_.page.count, entry.pages);
  dead_.erase({entry.base, entry.base + entry.pages * ground_.page.count});
  policy_->died(entry);
  padding_ -= Bytes{entry.pages * ground_.page.count} - entry.tensor.bytes;
  space_.release(tensor);
  fill_free();
  if (tap_ != nullptr) tap_->released(tensor);
}

void Brain::materialise(const memory::AddressSpace::Entry& entry, PageNumber first,
                        std::uint64_t count, bool initial, bool write, std::uint64_t until) {
  const PageNumber base = entry.base / ground_.page.count;
  if (closed_ > 0) lend(count);
  grants_.clear();
  policy_->place({&entry, first - base, count, initial, write, until}, ground_, grants_);
  PageNumber at = first;
  for (const policy::Grant& grant : grants_) {
    ensure(grant.tier < ground_.tiers.size(), "policy grants from a tier that does not exist");
    if (ground_.tiers[grant.tier].read_only) counters_.degrade.forced_pages += grant.pages;
    std::uint64_t left = grant.pages;
    const auto map = [&](std::uint32_t packed) {
      for (const Spot& spot : claim(grant.tier, left, packed, entry.region)) {
        table_.map(at, spot.count, grant.tier, spot.frame, {}, spot.packed);
        holes_ += dead_in(at, spot.count);
        if (grant.blank) table_.set_state(at, spot.count, PageState::blank);
        at += spot.count;
        left -= spot.count;
      }
    };
    if (grant.packed) map(ground_.packed_page(entry.tensor));
    map(0);
    ensure(left == 0, "policy granted more than a tier has");
  }
  ensure(at == first + count, "policy's grants do not add up to the need");
  for (std::size_t t = 0; closed_ > 0 && t < ground_.tiers.size(); ++t)
    ground_.tiers[t].lent = 0;
  peak_holes_ = std::max(peak_holes_, holes_);
}

std::vector<Brain::Spot> Brain::claim(TierIndex tier, std::uint64_t pages, std::uint32_t packed,
                                      memory::Region region) {
  std::vector<Spot> spots;
  if (pages == 0) return spots;
  if (packed == 0)
    for (const memory::FrameRun& run : ground_.tiers[tier].frames->take(pages, region))
      spots.push_back({run.first, run.count, 0});
  else
    for (const memory::SlotRun& run : packed_[tier].take(pages, {packed}, region))
      spots.push_back({run.address, run.count, packed});
  return spots;
}

void Brain::give_up(TierIndex tier, Spot spot, memory::Region region) {
  if (spot.packed > 0)
    packed_[tier].give_back({spot.frame, spot.count}, {spot.packed});
  else
    ground_.tiers[tier].frames->give_back({spot.frame, spot.count}, region);
}

std::uint32_t Brain::packed_page(PageNumber page) const {
  const auto* tensor = space_.holder(page * ground_.page.count);
  return tensor == nullptr ? 0 : ground_.packed_page(tensor->tensor);
}

memory::Region Brain::region_of(PageNumber page) const {
  return memory::region_at(page * ground_.page.count);
}

void Brain::look(std::uint64_t address, Bytes length, std::vector<PageRun>& runs) const {
  const PageNumber first = address / ground_.page.count;
  const PageNumber last = (address + length.count - 1) / ground_.page.count;
  table_.lookup(first, last - first + 1, runs);
}

void Brain::reserve(std::uint64_t address, Bytes length, bool write) {
  const auto& tensor = tensor_at(address);
  ensure(length.count <= left_of(tensor, address), "access beyond its tensor");
  runs_.clear();
  find(tensor, address, length, write, runs_);
  if (tap_ != nullptr) tap_->reserved({address, length, write});
}

const memory::AddressSpace::Entry& Brain::tensor_at(std::uint64_t address) const {
  const auto* entry = space_.holder(address);
  ensure(entry != nullptr, "access outside every live tensor");
  return *entry;
}

std::uint64_t Brain::left_of(const memory::AddressSpace::Entry& tensor,
                             std::uint64_t address) const {
  return tensor.base + tensor.pages * ground_.page.count - address;
}

/// Looks, once deferred pages have their frames.
void Brain::find(const memory::AddressSpace::Entry& tensor, std::uint64_t address, Bytes length,
                 bool write, std::vector<PageRun>& runs) {
  const auto before = runs.size();
  look(address, length, runs);
  bool fresh = false;
  for (std::size_t i = before; i < runs.size(); ++i) {
    if (runs[i].state != PageState::deferred) continue;
    counters_.first_touches += runs[i].count;
    materialise(tensor, runs[i].first, runs[i].count, false, write, address + length.count);
    fresh = true;
  }
  if (!fresh) return;
  runs.resize(before);
  look(address, length, runs);
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
  reach(now);
  const memory::AddressSpace::Entry& tensor = tensor_at(address);
  if (const Bytes whole{left_of(tensor, address)}; length > whole) {
    touch(address, whole, write, now, runs, step);
    return touch(address + whole.count, {length.count - whole.count}, write, now, runs, step);
  }
  const auto before = runs.size();
  find(tensor, address, length, write, runs);
  if (unmaps_) split_by_mapping(runs, before);
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
  if (staging_) route(address, length, write, now, before, runs);
  for (std::size_t i = before; i < runs.size(); ++i) {
    if (runs[i].state == PageState::blank) make_resident(runs[i]);
    if (write) note_forced(runs[i]);
    meet_prefetch(runs[i]);
    if (runs[i].state != PageState::suspended && runs[i].state != PageState::syncing &&
        distance(ground_.tiers[runs[i].tier].kind) > 0) {
      ++counters_.remote_hits;
      counters_.remote_pages += runs[i].count;
    }
  }
  if (tap_ != nullptr)
    tap_->touched({address, length, write, now, step}, std::span(runs).subspan(before));
}

void Brain::again(std::uint64_t address, Bytes length, bool write, Femtoseconds now,
                  std::vector<PageRun>& runs, policy::StepNumber step) {
  reach(now);
  const auto before = runs.size();
  look(address, length, runs);
  if (unmaps_) split_by_mapping(runs, before);
  for (std::size_t i = before; i < runs.size(); ++i) {
    if (!still(runs[i])) continue;
    const auto* tensor = space_.holder(runs[i].first * ground_.page.count);
    if (policy_->faults(touch_of(tensor, runs[i], address, length, write, now, step), ground_))
      raise_fault(runs[i], write, step);
    else if (runs[i].state == PageState::blank)
      make_resident(runs[i]);
    if (write) overwrite(runs[i]);
  }
  if (staging_) route(address, length, write, now, before, runs);
  for (std::size_t i = before; write && i < runs.size(); ++i)
    note_forced(runs[i]);
  if (tap_ != nullptr)
    tap_->asked_again({address, length, write, now, step}, std::span(runs).subspan(before));
}

/// Frames in a row may hold pages with a mapping and pages without.
void Brain::split_by_mapping(std::vector<PageRun>& runs, std::size_t from) const {
  for (std::size_t i = from; i < runs.size(); ++i) {
    if (!still(runs[i])) continue;
    const std::uint64_t alike = policy_->alike(runs[i]);
    if (alike >= runs[i].count) continue;
    PageRun rest = runs[i];
    rest.skip(alike);
    runs[i].count = alike;
    runs.insert(runs.begin() + static_cast<std::ptrdiff_t>(i) + 1, rest);
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
  reach(sensors.now);
  const double seconds = sensors.window.seconds();
  const auto rate = [&](std::uint64_t now, std::uint64_t before) {
    return static_cast<double>(now - before) / seconds;
  };
  sensors.faults_per_s = rate(counters_.faults, sensed_.faults);
  sensors.remote_reads_per_s = rate(counters_.remote_pages, sensed_.remote_pages);
  sensed_ = counters_;
  policy_->sensed(sensors, ground_, orders_);
  take_orders();
  if (tap_ != nullptr) tap_->sensed(sensors);
}

bool Brain::still(const PageRun& run) {
  return run.state == PageState::resident || run.state == PageState::blank;
}

void Brain::make_resident(PageRun& run) {
  run.state = PageState::resident;
  table_.set_state(run.first, run.count, PageState::resident);
}

} // namespace umf::scheduler
