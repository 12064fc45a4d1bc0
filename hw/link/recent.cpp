#include "hw/link/recent.h"

#include "model/base/random.h"

#include <algorithm>

namespace umf::hw::link {

Recent::Recent(std::uint32_t entries, Bytes granule)
    : granule_(std::max<std::uint64_t>(1, granule.count)) {
  ways_ = std::min<std::uint32_t>(entries, 8);
  sets_ = ways_ == 0 ? 0 : entries / ways_;
  all_.resize(sets_ * ways_);
}

bool Recent::touch(std::uint64_t address) {
  if (sets_ == 0) return false;
  const std::uint64_t tag = address / granule_;
  Way* const set = &all_[mix_bits(tag) % sets_ * ways_];
  Way* oldest = set;
  for (Way* way = set; way != set + ways_; ++way) {
    if (way->tag == tag) {
      way->used = ++clock_;
      return true;
    }
    if (way->used < oldest->used) oldest = way;
  }
  *oldest = {tag, ++clock_};
  return false;
}

} // namespace umf::hw::link
