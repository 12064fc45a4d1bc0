#include "model/scheduler/brain.h"

#include "model/base/error.h"

#include <algorithm>

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
    : ground_(std::move(ground)), policy_(std::move(policy)), space_(ground_.page) {}

Brain::~Brain() = default;

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
  for (const PageRun& run : table_.unmap(entry.base / ground_.page.count, entry.pages))
    ground_.tiers[run.tier].frames->give_back({run.frame, run.count}, entry.region);
  padding_ -= Bytes{entry.pages * ground_.page.count} - entry.tensor.bytes;
  space_.release(tensor);
}

bool Brain::busy(stream::TensorId tensor) const {
  const auto& entry = space_.at(tensor);
  const PageNumber first = entry.base / ground_.page.count;
  const auto overlaps = [&](const Command& command) {
    return command.from.first < first + entry.pages &&
           first < command.from.first + command.from.count;
  };
  return std::any_of(active_.begin(), active_.end(),
                     [&](const Active& a) { return overlaps(a.command); }) ||
         std::any_of(pending_.begin(), pending_.end(), overlaps);
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
  const auto* entry = space_.holder(address);
  ensure(entry != nullptr &&
             address + length.count <= entry->base + entry->pages * ground_.page.count,
         "access outside every live tensor");
  runs_.clear();
  look(address, length, runs_);
  for (const PageRun& run : runs_) {
    if (run.state != PageState::deferred) continue;
    counters_.first_touches += run.count;
    materialise(*entry, run.first, run.count, false);
  }
}

void Brain::touch(std::uint64_t address, Bytes length, bool write, Femtoseconds now,
                  std::vector<PageRun>& runs) {
  reserve(address, length);
  const auto* entry = space_.holder(address);
  const auto before = runs.size();
  look(address, length, runs);
  for (std::size_t i = before; i < runs.size(); ++i) {
    const PageRun& run = runs[i];
    ++counters_.touches;
    if (distance(ground_.tiers[run.tier].kind) > 0) ++counters_.remote_hits;
    policy_->touched({entry, run, write, now}, ground_, orders_);
  }
  take_orders();
}

/// Turns what the policy ordered into commands with frames reserved at the destination. An
/// order that cannot be met now (no frames, pages not simply resident) is dropped: the
/// policy sees the pages again at their next touch.
void Brain::take_orders() {
  for (const policy::Order& order : orders_) {
    ensure(order.to < ground_.tiers.size(), "policy orders a move to a tier that does not exist");
    runs_.clear();
    table_.lookup(order.first, order.pages, runs_);
    for (const PageRun& run : runs_) {
      if (run.state != PageState::resident || run.tier == order.to) continue;
      PageRun rest = run;
      const memory::Region region = region_of(run.first);
      for (const auto& frames : ground_.tiers[order.to].frames->take(run.count, region)) {
        PageRun part = rest;
        part.count = frames.count;
        table_.set_state(part.first, part.count, PageState::moving);
        pending_.push_back({next_id_++, part, order.to, frames.first});
        rest.first += frames.count;
        rest.frame += frames.count;
      }
    }
  }
  orders_.clear();
}

std::optional<Command> Brain::next_command() {
  if (pending_.empty()) return std::nullopt;
  const Command command = pending_.front();
  pending_.pop_front();
  active_.push_back({command});
  ++counters_.commands;
  return command;
}

std::vector<Brain::Active>::iterator Brain::active(const Command& command, Stage stage) {
  const auto it = std::find_if(active_.begin(), active_.end(),
                               [&](const Active& a) { return a.command.id == command.id; });
  ensure(it != active_.end() && it->stage == stage, "command event out of order");
  return it;
}

void Brain::refused(const Command& command) {
  const auto it = active(command, Stage::issued);
  const auto& [id, from, to, to_frame] = it->command;
  ++counters_.refused;
  table_.set_state(from.first, from.count, PageState::resident);
  ground_.tiers[to].frames->give_back({to_frame, from.count}, region_of(from.first));
  active_.erase(it);
}

void Brain::suspend(const Command& command) {
  const auto it = active(command, Stage::issued);
  table_.set_state(it->command.from.first, it->command.from.count, PageState::suspended);
  it->stage = Stage::suspended;
}

void Brain::quiesced(const Command& command) {
  const auto it = active(command, Stage::suspended);
  const auto& [id, from, to, to_frame] = it->command;
  table_.unmap(from.first, from.count);
  table_.map(from.first, from.count, to, to_frame);
  ground_.tiers[from.tier].frames->give_back({from.frame, from.count}, region_of(from.first));
  counters_.moved += Bytes{from.count * ground_.page.count};
  const int before = distance(ground_.tiers[from.tier].kind);
  const int after = distance(ground_.tiers[to].kind);
  if (after < before) counters_.promotions += from.count;
  if (after > before) counters_.demotions += from.count;
  it->stage = Stage::switched;
}

void Brain::completed(const Command& command) {
  active_.erase(active(command, Stage::switched));
  ++counters_.completed;
}

} // namespace umf::scheduler
