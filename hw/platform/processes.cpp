#include "hw/platform/processes.h"

#include "model/base/error.h"
#include "model/memory/address_space.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace umf::hw {

std::uint64_t Duplicates::bytes() const {
  return std::accumulate(by_tier.begin(), by_tier.end(), std::uint64_t{0});
}

const Processes::Member& Processes::Group::of(std::uint32_t tenant) const {
  const auto found = std::find_if(members.begin(), members.end(),
                                  [&](const Member& m) { return m.tenant == tenant; });
  ensure(found != members.end(), "a tenant that is no member of its tensor's group");
  return *found;
}

Processes::Member& Processes::Group::of(std::uint32_t tenant) {
  return const_cast<Member&>(std::as_const(*this).of(tenant));
}

bool Processes::Group::alone(std::uint32_t tenant, std::uint64_t page) const {
  return std::all_of(members.begin(), members.end(), [&](const Member& m) {
    return m.tenant == tenant || m.written.covered({page, page + 1}) > 0;
  });
}

void Processes::Group::leave(std::uint32_t tenant) {
  members.erase(std::find_if(members.begin(), members.end(),
                             [&](const Member& m) { return m.tenant == tenant; }));
}

Processes::Processes(Platform& platform, std::uint32_t tenants)
    : platform_(platform), tenants_(tenants),
      forked_(platform.scenario().replay.processes == ProcessStart::fork) {}

Processes::Group* Processes::join(std::uint32_t tenant, const std::string& model,
                                  const stream::Tensor& tensor, std::uint32_t gpu, TensorId id) {
  if (tenants_ == 1 || model.empty() || tensor.name.empty() || tensor.bytes.count == 0 ||
      memory::region_of(tensor.role) != memory::Region::weight)
    return nullptr;
  auto& equal = groups_[{gpu, model, tensor.name, tensor.role, tensor.dtype, tensor.shape,
                         tensor.bytes.count}];
  const auto has = [&](const Group& group) {
    return std::any_of(group.members.begin(), group.members.end(),
                       [&](const Member& m) { return m.tenant == tenant; });
  };
  auto group = std::find_if_not(equal.begin(), equal.end(), has);
  if (group == equal.end()) {
    equal.push_back({gpu, tensor.bytes, {}});
    group = std::prev(equal.end());
  }
  const bool first = group->members.empty();
  group->members.push_back({tenant, forked_ && !first ? group->members.front().id : id, {}});
  return &*group;
}

void Processes::loaded() {
  for (const auto& [key, equal] : groups_)
    for (const Group& group : equal) {
      if (group.members.size() < 2) continue;
      ++figures_.tensors;
      figures_.once += group.bytes;
      figures_.again += {group.bytes.count * (group.members.size() - 1)};
    }
  look();
  figures_.at_begin = figures_.at_end;
}

void Processes::look() {
  if (tenants_ == 1) return;
  Duplicates found;
  found.by_tier.resize(platform_.tiers().size());
  for (const auto& [key, equal] : groups_)
    for (const Group& group : equal)
      count(group, found);
  if (found.bytes() >= figures_.at_peak.bytes()) figures_.at_peak = found;
  figures_.at_end = std::move(found);
}

/// Stretch by stretch in which no member's state changes: page by page where somebody has written.
void Processes::count(const Group& group, Duplicates& found) {
  if (forked_ || group.members.size() < 2) return; // what was copied on write is not equal
  const scheduler::Brain& brain = platform_.brain(group.gpu);
  const std::uint64_t page = brain.space().page().count;
  runs_.resize(group.members.size());
  bool written = false;
  for (std::size_t m = 0; m < group.members.size(); ++m) {
    runs_[m].clear();
    brain.look(brain.space().at(group.members[m].id).base, group.bytes, runs_[m]);
    written = written || !group.members[m].written.empty();
    std::reverse(runs_[m].begin(), runs_[m].end()); // the next one is the last
  }
  const std::uint64_t pages = (group.bytes.count + page - 1) / page;
  for (std::uint64_t at = 0; at < pages;) {
    std::uint64_t step = written ? 1 : pages - at;
    std::uint64_t copies = 0;
    std::size_t nearest = 0;
    for (std::size_t m = 0; m < group.members.size(); ++m) {
      const memory::PageRun& run = runs_[m].back();
      step = std::min(step, run.count);
      if (run.state == memory::PageState::deferred ||
          group.members[m].written.covered({at, at + 1}) > 0)
        continue;
      const auto far = [&](std::size_t tier) {
        return std::pair(brain.ground().tiers[tier].kind, tier);
      };
      if (copies++ == 0 || far(run.tier) < far(nearest)) nearest = run.tier;
    }
    for (std::size_t m = 0; m < group.members.size(); ++m) {
      memory::PageRun& run = runs_[m].back();
      if (run.state != memory::PageState::deferred &&
          group.members[m].written.covered({at, at + 1}) == 0)
        found.by_tier[run.tier] += step * page;
      if (run.count == step)
        runs_[m].pop_back();
      else
        run.skip(step);
    }
    if (copies > 0) found.by_tier[nearest] -= step * page;
    at += step;
  }
}

void Processes::copied(std::uint64_t pages, Bytes bytes, std::uint64_t batches) {
  figures_.copied_pages += pages;
  figures_.copied += bytes;
  figures_.fault_batches += batches;
}

void Processes::cleared(Femtoseconds time) {
  ++figures_.clear_caches;
  figures_.clear_time += time;
}

} // namespace umf::hw
