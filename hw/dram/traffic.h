#pragma once

#include "model/base/random.h"
#include "model/base/units.h"

#include <cstdint>

namespace umf::hw::dram {

/// splitmix64 of a counter, with the constants of the public comparison of simulators.
constexpr std::uint64_t splitmix64(std::uint64_t n) {
  return mix_bits(n * 0x9E3779B97F4A7C15U);
}

/// Where a stream of accesses goes, as a function of its number.
///
/// `streams` walk the footprint side by side, taking turns access by access. Each reads or
/// writes runs of `run` consecutive bytes; with a run as long as the footprint a stream is
/// sequential (from 0 the first, from drawn places the others), with one of a single access it is
/// random.
struct Traffic {
  Bytes footprint{std::uint64_t{1} << 30};
  Bytes access{64};
  Bytes run{std::uint64_t{1} << 30};
  std::uint32_t streams = 1;
  /// Of `period` accesses the last `writes` are writes: 1 of 3 is two reads to one write.
  std::uint32_t writes = 0, period = 1;
  /// Reads and writes change places run by run instead of access by access.
  bool writes_by_run = false;

  struct Item {
    std::uint64_t address;
    bool write;
  };
  Item at(std::uint64_t n) const {
    const std::uint64_t stream = streams == 1 ? 0 : n % streams;
    const std::uint64_t k = streams == 1 ? n : n / streams;
    const std::uint64_t places = footprint.count / access.count;
    const std::uint64_t per_run = run.count / access.count;
    std::uint64_t place;
    if (per_run >= places) {
      place = (k + (stream == 0 ? 0 : splitmix64(stream))) % places;
    } else if (per_run == 1) {
      place = splitmix64(n + 1) % places;
    } else {
      const std::uint64_t r = k / per_run;
      place = splitmix64(r * streams + stream + 1) % (places / per_run) * per_run + k % per_run;
    }
    const std::uint64_t turn = writes_by_run ? k / per_run : n;
    return {place * access.count, writes > 0 && turn % period >= period - writes};
  }
};

} // namespace umf::hw::dram
