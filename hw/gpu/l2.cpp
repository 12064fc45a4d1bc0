#include "hw/gpu/l2.h"

#include <algorithm>

namespace umf::hw {

namespace {

constexpr std::uint64_t kLineSectors = 4; ///< NVIDIA: lines of 128 B, filled by sectors of 32 B

void append(std::vector<Segment>& list, Segment::Kind kind, memory::Range range,
            std::uint64_t after = 0) {
  if (range.empty()) return;
  if (!list.empty() && list.back().kind == kind && list.back().range.end == range.begin &&
      list.back().after == after)
    list.back().range.end = range.end;
  else
    list.push_back({kind, range, after});
}

std::uint64_t whole_sectors(std::uint64_t bytes, std::uint64_t sector) {
  return bytes / sector * sector;
}

} // namespace

L2::L2(const L2Config& config)
    : config_(config),
      cache_(whole_sectors(config.capacity.count, config.sector.count),
             whole_sectors(static_cast<std::uint64_t>(static_cast<double>(config.capacity.count) *
                                                      config.dirty_limit),
                           config.sector.count)) {}

memory::Range L2::sectors(memory::Range range) const {
  const std::uint64_t sector = config_.sector.count;
  if (range.empty()) return range;
  return {range.begin / sector * sector, (range.end + sector - 1) / sector * sector};
}

void L2::plan(const std::vector<OperationAccess>& accesses, std::size_t most_lanes,
              std::vector<std::vector<Segment>>& segments, std::vector<Segment>& write_backs) {
  const std::size_t lanes = std::min(accesses.size(), most_lanes);
  segments.assign(lanes, {});
  write_backs.clear();
  lanes_.assign(lanes, {});
  std::uint64_t total = 0;
  for (std::size_t a = 0; a < accesses.size(); ++a) {
    const auto& access = accesses[a];
    Lane& lane = lanes_[a * lanes / accesses.size()];
    if (lane.end == 0) lane.at = a;
    lane.end = a + 1;
    if (!access.cached) continue;
    total += access.length.count;
    const std::uint64_t bytes = sectors_of(access).size();
    lane.whole += bytes / config_.sector.count;
    if (!access.write) statistics_.over_fetch += bytes - access.length.count;
  }
  const std::uint64_t sector = config_.sector.count;
  const std::uint64_t slice = std::max<std::uint64_t>(cache_.capacity() / 8, sector);
  const std::uint64_t rounds = cache_.capacity() == 0 ? 1 : total / slice + 1;
  const std::uint64_t least = std::min(config_.interleave.count, slice) / sector;
  const std::uint64_t step = std::max(least / kLineSectors * kLineSectors, kLineSectors);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    // Reads are a step ahead of the sweep, stores a step behind.
    const auto border = [&](const Lane& lane) {
      const bool store = lane.at < lane.end && accesses[lane.at].write;
      const std::uint64_t swept = lane.whole * (round + 1) / rounds + (store ? 0 : step - 1);
      return std::clamp(swept / step * step, lane.done, lane.whole);
    };
    before_ = total / rounds * round;
    for (std::size_t l = 0; l < lanes; ++l)
      advance(lanes_[l], round + 1 == rounds ? lanes_[l].whole : border(lanes_[l]), accesses,
              segments[l], write_backs);
  }
  before_ = 0;
}

/// On to sector `to` of the lane; what goes past the cache goes when its turn comes.
void L2::advance(Lane& lane, std::uint64_t to, const std::vector<OperationAccess>& accesses,
                 std::vector<Segment>& segments, std::vector<Segment>& write_backs) {
  while (lane.at < lane.end) {
    const auto& access = accesses[lane.at];
    std::uint64_t left = 0;
    if (access.cached) {
      const memory::Range whole = sectors_of(access);
      const std::uint64_t count = whole.size() / config_.sector.count - lane.within;
      const std::uint64_t take = std::min(count, to - lane.done);
      const std::uint64_t begin = whole.begin + lane.within * config_.sector.count;
      this->access({begin, begin + take * config_.sector.count}, access.write, segments,
                   write_backs);
      lane.within += take;
      lane.done += take;
      left = count - take;
    } else {
      bypass(access, segments, write_backs);
    }
    if (left > 0) return;
    ++lane.at;
    lane.within = 0;
  }
}

void L2::access(memory::Range range, bool write, std::vector<Segment>& segments,
                std::vector<Segment>& write_backs) {
  if (range.empty()) return;
  if (cache_.capacity() > 0 && range.size() > cache_.capacity()) { // a cache of a few sectors
    const std::uint64_t middle = range.begin + cache_.capacity();
    access({range.begin, middle}, write, segments, write_backs);
    access({middle, range.end}, write, segments, write_backs);
    return;
  }
  const std::uint64_t dirty_before = cache_.dirty();
  cache_.access(range, write, outcome_);
  if (write) {
    std::uint64_t back = 0;
    for (const auto& r : outcome_.written_back)
      back += r.size();
    statistics_.stored += range.size();
    // dirty_after = dirty_before + stored − overwritten − written back
    statistics_.overwritten += dirty_before + range.size() - back - cache_.dirty();
    append(segments, Segment::Kind::store, range);
  } else {
    statistics_.asked_read += range.size();
    statistics_.hits += outcome_.hit;
    std::uint64_t at = range.begin;
    for (const auto& missed : outcome_.missed) {
      append(segments, Segment::Kind::hit, {at, missed.begin});
      append(segments, Segment::Kind::fill, missed);
      statistics_.fills += missed.size();
      at = missed.end;
    }
    append(segments, Segment::Kind::hit, {at, range.end});
  }
  list_write_backs(outcome_.written_back, write_backs);
}

/// Copy engines read and write memory itself; dirty data they read is written back first,
/// what they overwrite is dropped.
void L2::bypass(const OperationAccess& access, std::vector<Segment>& segments,
                std::vector<Segment>& write_backs) {
  const memory::Range range{access.address, access.address + access.length.count};
  if (access.write) {
    discard(sectors(range));
  } else {
    ranges_.clear();
    cache_.clean(sectors(range), false, ranges_);
    list_write_backs(ranges_, write_backs);
  }
  append(segments, access.write ? Segment::Kind::bypass_write : Segment::Kind::bypass_read, range);
}

void L2::list_write_backs(const std::vector<memory::Range>& ranges, std::vector<Segment>& out) {
  for (const auto& range : ranges) {
    statistics_.written_back += range.size();
    append(out, Segment::Kind::write_back, range, before_);
  }
}

void L2::discard(memory::Range range) {
  const std::uint64_t sector = config_.sector.count;
  const memory::Range whole{(range.begin + sector - 1) / sector * sector,
                            range.end / sector * sector};
  if (whole.begin < whole.end) statistics_.discarded += cache_.discard(whole);
}

void L2::invalidate(memory::Range range, std::vector<Segment>& write_backs) {
  ranges_.clear();
  cache_.clean(range, true, ranges_);
  list_write_backs(ranges_, write_backs);
}

} // namespace umf::hw
