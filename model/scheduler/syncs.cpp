#include "model/base/error.h"
#include "model/scheduler/brain.h"
#include "model/scheduler/tap.h"

#include <algorithm>

/// S5: accesses to pages of the pool that are read-only there.
namespace umf::scheduler {

using memory::PageState;

/// Sends writes to the pool's pages to the staging buffer, and reads of pages in sync to where they
/// may go now. The runs [from, ...) are what the table says.
void Brain::route(std::uint64_t address, Bytes length, bool write, Femtoseconds now,
                  std::size_t from, std::vector<PageRun>& runs) {
  const auto in_sync = [](const PageRun& run) { return run.state == PageState::syncing; };
  const auto begin = runs.begin() + static_cast<std::ptrdiff_t>(from);
  if (!write && std::none_of(begin, runs.end(), in_sync)) return;
  routed_.clear();
  if (write) { // what this access ordered may have begun
    runs.resize(from);
    look(address, length, runs);
  }
  for (std::size_t i = from; i < runs.size(); ++i) {
    PageRun run = runs[i];
    if (write && ground_.is(run.tier, policy::TierClass::pool)) {
      stage(run, address, address + length.count, now, routed_);
    } else if (in_sync(run)) {
      for (std::uint64_t left = run.count; left > 0;) {
        routed_.push_back(staging_->seen(run));
        const std::uint64_t done = routed_.back().count;
        left -= done;
        run.skip(done);
      }
    } else {
      routed_.push_back(run);
    }
  }
  runs.resize(from);
  runs.insert(runs.end(), routed_.begin(), routed_.end());
}

/// Pages without a slot wait until a sync is over.
void Brain::stage(PageRun run, std::uint64_t begin, std::uint64_t end, Femtoseconds now,
                  std::vector<PageRun>& out) {
  const auto land = [&](const Staging::Sync& sync, std::uint64_t pages) {
    PageRun part = run;
    part.count = pages;
    part = staging_->slots(sync, part);
    part.state = PageState::resident; // to this writer
    if (ground_.tiers[run.tier].read_only) ++counters_.degrade.forced_writes;
    out.push_back(part);
    run.skip(pages);
  };
  while (run.count > 0 && run.state == PageState::syncing) {
    Staging::Sync& sync = *staging_->find(run.first);
    const std::uint64_t pages = std::min(run.count, sync.home.first + sync.home.count - run.first);
    if (staging_->join(sync, begin, end)) {
      ++counters_.joined;
      land(sync, pages);
      continue;
    }
    ++counters_.crowded;
    PageRun waits = run;
    waits.count = pages;
    out.push_back(waits);
    run.skip(pages);
  }
  if (run.count > 0 && !still(run)) return out.push_back(run);
  const auto* tensor = run.count > 0 ? space_.holder(run.first * ground_.page.count) : nullptr;
  while (run.count > 0) {
    const CommandId id = next_id_;
    const std::uint64_t pages =
        staging_->take(run, begin, end, tensor->base + tensor->tensor.bytes.count, id);
    if (pages == 0) {
      ++counters_.crowded;
      run.state = PageState::syncing;
      return out.push_back(run);
    }
    ++next_id_;
    Command command;
    command.id = id;
    command.from = staging_->slots(staging_->of(id), {run.first, pages});
    command.to = run.tier;
    command.to_frame = run.frame;
    command.packed = run.packed;
    command.sync = true;
    command.begun = now;
    table_.set_state(run.first, pages, PageState::syncing);
    syncing_.push_back(command);
    land(staging_->of(id), pages);
  }
}

bool Brain::landed(const Command& command) {
  staging_->of(active(command, Stage::issued)->command.id).landed = true;
  if (tap_ != nullptr) tap_->landed(command, staging_->forwards());
  return staging_->forwards();
}

/// The new bytes are where the pages are mapped; the pages are dirty.
void Brain::synced(const Command& command) {
  ++counters_.syncs;
  counters_.synced_pages += command.from.count;
  counters_.synced += Bytes{command.bytes};
  table_.set_state(command.from.first, command.from.count, PageState::resident);
  staging_->release(command.id);
}

} // namespace umf::scheduler
