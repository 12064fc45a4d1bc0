#include "model/scheduler/brain.h"

#include "model/base/error.h"
#include "model/scheduler/tap.h"

#include <algorithm>

/// How pages end: with their tensor, or before it (S1) when the last of their bytes is dead.
namespace umf::scheduler {

/// Frames return, and nothing is kept of what the pages held; how many pages had frames.
std::uint64_t Brain::vacate(const memory::AddressSpace::Entry& entry, PageNumber first,
                            std::uint64_t count) {
  std::uint64_t pages = 0;
  for (const PageRun& run : table_.unmap(first, count)) {
    give_up(run.tier, {run.frame, run.count, run.packed}, entry.region);
    if (run.copy)
      ground_.tiers[run.copy.tier].frames->forget({run.copy.frame, run.count}, run.copy.id);
    leave_prefetch(run.first, run.count);
    holes_ -= dead_in(run.first, run.count);
    policy_->released(entry, run, ground_);
    pages += run.count;
  }
  return pages;
}

memory::Range Brain::reclaim(std::uint64_t address, Bytes length) {
  const auto* entry = space_.holder(address);
  ensure(entry != nullptr, "bytes freed outside every live tensor");
  const std::uint64_t end = entry->base + entry->tensor.bytes.count;
  ensure(address <= end && length.count <= end - address, "bytes freed beyond their tensor");
  ensure(!busy(address, length), "bytes freed whose pages are moving");
  const memory::Range bytes{address, address + length.count};
  if (bytes.empty()) return {};
  ensure(dead_.insert(bytes) == length.count, "bytes freed twice");
  counters_.reclaimed += length;

  const std::uint64_t page = ground_.page.count;
  PageNumber first = bytes.begin / page, past = (bytes.end - 1) / page + 1;
  runs_.clear();
  table_.lookup(first, past - first, runs_);
  for (const PageRun& run : runs_) {
    if (run.state == memory::PageState::deferred) continue;
    const std::uint64_t from = std::max(bytes.begin, run.first * page);
    holes_ += Bytes{std::min(bytes.end, (run.first + run.count) * page) - from};
  }
  // Of these pages only the first and the last can hold a live byte.
  if (!is_dead(*entry, first)) ++first;
  if (past > first && !is_dead(*entry, past - 1)) --past;
  if (past > first) {
    counters_.reclaimed_pages += vacate(*entry, first, past - first);
    fill_free();
  }
  peak_holes_ = std::max(peak_holes_, holes_);
  const memory::Range dead = dead_.around(bytes.begin);
  if (tap_ != nullptr) tap_->reclaimed(address, length, dead);
  return dead;
}

/// Whether no byte of the page is alive; padding never was.
bool Brain::is_dead(const memory::AddressSpace::Entry& entry, PageNumber page) const {
  const std::uint64_t begin = page * ground_.page.count;
  const std::uint64_t end =
      std::min(begin + ground_.page.count, entry.base + entry.tensor.bytes.count);
  return dead_.covered({begin, end}) == end - begin;
}

Bytes Brain::dead_in(PageNumber first, std::uint64_t count) const {
  if (dead_.empty()) return {};
  return {dead_.covered({first * ground_.page.count, (first + count) * ground_.page.count})};
}

bool Brain::busy(stream::TensorId tensor) const {
  const auto& entry = space_.at(tensor);
  return busy(entry.base, {entry.pages * ground_.page.count});
}

bool Brain::busy(std::uint64_t address, Bytes length) const {
  if (length.count == 0) return false;
  const PageNumber first = address / ground_.page.count;
  const PageNumber past = (address + length.count - 1) / ground_.page.count + 1;
  const auto within = [&](PageNumber from, std::uint64_t pages) {
    return from < past && first < from + pages;
  };
  const auto command = [&](const Command& c) { return within(c.from.first, c.from.count); };
  const auto fault = [&](const Fault& f) { return within(f.first, f.count); };
  return std::any_of(active_.begin(), active_.end(),
                     [&](const Active& a) { return command(a.command); }) ||
         std::any_of(pending_.begin(), pending_.end(), command) ||
         std::any_of(urgent_.begin(), urgent_.end(), command) ||
         std::any_of(riding_.begin(), riding_.end(), command) ||
         std::any_of(syncing_.begin(), syncing_.end(), command) ||
         std::any_of(faults_.begin(), faults_.end(), fault) ||
         std::any_of(fills_.begin(), fills_.end(), fault);
}

} // namespace umf::scheduler
