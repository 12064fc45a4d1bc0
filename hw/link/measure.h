#pragma once

#include "hw/link/path.h"

/// What benchmarks of links measure, played on a path: for tests and suites of published figures.
namespace umf::hw::link {

/// A stream over the path's memories; `measure` takes the rest from it.
struct Measure {
  Bytes size{4096};                     ///< of a transaction
  std::uint32_t writes = 0, period = 1; ///< of `period` transactions so many are writes
  std::uint32_t outstanding = 64;
  std::uint64_t transactions = 10'000;
  Bytes footprint{std::uint64_t{1} << 28};
  Bytes stride{0}; ///< 0: the size
  bool random = false;
  std::optional<BytesPerSecond> rate{}; ///< offered evenly; nothing: closed loop
  bool duplex = false; ///< reads and as many writes side by side, each a stream of its own
};

struct Measured {
  BytesPerSecond reads{}, writes{};
  double read_nanoseconds = 0, write_nanoseconds = 0; ///< mean, from the first packet
  Limit limit = Limit::load;
  BytesPerSecond both() const { return {reads.value + writes.value}; }
};

/// A fifth of the transactions is warm-up.
Measured measure(const PathConfig& path, const Measure& how);

/// pcie-bench: transactions of one size at random places of 8 KiB, each at the start of a line.
BytesPerSecond dma_rate(const PathConfig& path, bool write, Bytes size);

/// Nanoseconds of one line alone, each 1.2 µs after the one before, in no step with refreshes.
double unloaded_read(const PathConfig& path);

} // namespace umf::hw::link
