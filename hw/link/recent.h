#pragma once

#include "model/base/units.h"

#include <cstdint>
#include <vector>

namespace umf::hw::link {

/// A cache of tags: `entries` of `granule` bytes each in sets of up to eight, the one not used for
/// longest leaves. For translations and lines of a device's cache.
class Recent {
public:
  Recent() = default; ///< holds nothing
  Recent(std::uint32_t entries, Bytes granule);
  /// Whether it was there; from now on it is.
  bool touch(std::uint64_t address);

private:
  struct Way {
    std::uint64_t tag = UINT64_MAX, used = 0;
  };
  std::uint64_t granule_ = 1, sets_ = 0, clock_ = 0;
  std::uint32_t ways_ = 0;
  std::vector<Way> all_;
};

} // namespace umf::hw::link
