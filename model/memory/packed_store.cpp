#include "model/memory/packed_store.h"

#include "model/base/error.h"

#include <algorithm>
#include <numeric>

namespace umf::memory {

Bytes Packing::packed(Bytes page, std::uint32_t value_bits) const {
  if (value_bits <= bits) return page;
  const std::uint64_t values = page.count * 8 / value_bits;
  const std::uint64_t groups = (values + group - 1) / group;
  const Bytes size{(values * bits + 7) / 8 + groups * metadata.count};
  return std::min(size, page);
}

std::uint64_t PackedStore::frames_used() const {
  return std::accumulate(held_.begin(), held_.end(), std::uint64_t{0});
}

std::vector<SlotRun> PackedStore::take(std::uint64_t count, Bytes size, Region region) {
  ensure(size.count > 0 && size.count <= page_, "a packed page is larger than a page");
  std::vector<SlotRun> runs;
  const auto& open = open_[{size.count, region}];
  while (count > 0 && (!open.empty() || add_slabs(count, size.count, region)))
    fill(slabs_.find(*open.begin()), count, runs);
  return runs;
}

/// One slab, or what frames in a row make of it.
bool PackedStore::add_slabs(std::uint64_t wanted, std::uint64_t size, Region region) {
  const std::uint64_t most = (kSlots * size + page_ - 1) / page_;
  const std::uint64_t needed = (wanted * size + page_ - 1) / page_;
  const std::uint64_t count = std::min({most, std::max<std::uint64_t>(needed, 1), frames_->free()});
  if (count == 0) return false;
  for (const FrameRun& run : frames_->take(count, region)) {
    Slab slab{run.count, size, region, std::vector<bool>(run.count * page_ / size), 0};
    slabs_.emplace(run.first, std::move(slab));
    open_[{size, region}].insert(run.first);
    held_[static_cast<std::size_t>(region)] += run.count;
  }
  return true;
}

void PackedStore::fill(Slabs::iterator it, std::uint64_t& wanted, std::vector<SlotRun>& runs) {
  Slab& slab = it->second;
  for (std::uint64_t slot = 0; slot < slab.taken.size() && wanted > 0; ++slot) {
    if (slab.taken[slot]) continue;
    const std::uint64_t address = it->first * page_ + slot * slab.size;
    if (!runs.empty() && runs.back().address + runs.back().count * slab.size == address)
      ++runs.back().count;
    else
      runs.push_back({address, 1});
    slab.taken[slot] = true;
    ++slab.used;
    ++pages_;
    bytes_ += slab.size;
    --wanted;
  }
  if (slab.used == slab.taken.size()) open_[{slab.size, slab.region}].erase(it->first);
}

void PackedStore::give_back(SlotRun run, Bytes size) {
  while (run.count > 0) {
    auto it = slabs_.upper_bound(run.address / page_);
    ensure(it != slabs_.begin(), "packed page given back that was not taken");
    --it;
    Slab& slab = it->second;
    const std::uint64_t within = run.address - it->first * page_;
    const std::uint64_t slot = within / slab.size;
    ensure(slab.size == size.count && within % slab.size == 0 && slot < slab.taken.size() &&
               slab.taken[slot],
           "packed page given back that was not taken");
    slab.taken[slot] = false;
    --slab.used;
    --pages_;
    bytes_ -= slab.size;
    run.address += slab.size;
    --run.count;
    auto& open = open_[{slab.size, slab.region}];
    open.insert(it->first);
    if (slab.used > 0) continue;
    open.erase(it->first);
    held_[static_cast<std::size_t>(slab.region)] -= slab.frames;
    frames_->give_back({it->first, slab.frames}, slab.region);
    slabs_.erase(it);
  }
}

} // namespace umf::memory
