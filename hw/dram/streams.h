#pragma once

#include "hw/dram/traffic.h"

#include <cstdint>
#include <span>
#include <vector>

namespace umf::hw::dram {

/// Reads or writes runs of consecutive accesses, one after the other, each from a place drawn
/// anew: a burst after a burst.
struct Stream {
  Bytes run{64};
  bool write = false;
  std::uint32_t weight = 1; ///< accesses for each of a stream of weight 1
};

/// The order in which streams take turns, by their number: each as evenly as its weight allows.
std::vector<std::uint32_t> turns(std::span<const Stream> streams);

/// Streams side by side over all of a memory, access by access.
class StreamWalk {
public:
  StreamWalk(std::vector<Stream> streams, Bytes footprint, Bytes access);
  Traffic::Item next();

private:
  struct Place {
    std::uint64_t at = 0, left = 0; ///< in accesses
  };
  std::vector<Stream> streams_;
  std::vector<std::uint32_t> turns_;
  std::vector<Place> places_;
  std::uint64_t accesses_, access_;
  std::uint64_t turn_ = 0, draws_ = 0;
};

} // namespace umf::hw::dram
