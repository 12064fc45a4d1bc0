#pragma once

#include "hw/link/path.h"

/// What benchmarks of links measure, played on a path: for tests and suites of published figures.
namespace umf::hw::link {

/// A stream of each requester over the path's memories; `measure` takes the rest from it.
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

/// Lines asked by the first requester beside blocks asked by the last, which is the same where
/// there is one; all at random places, all reads or all writes.
struct Beside {
  bool write = false;
  std::uint32_t lines = 1; ///< outstanding, 64 B each
  std::uint32_t blocks = 4;
  Bytes block{4096};
};
struct Shared {
  double alone_nanoseconds = 0, nanoseconds = 0; ///< mean of a line, from when it was asked
  BytesPerSecond alone{}, lines{}, blocks{};
};
Shared beside(const PathConfig& path, const Beside& how);

/// A fifth of the transactions is warm-up.
Measured measure(const PathConfig& path, const Measure& how);

/// pcie-bench: transactions of one size at random places of 8 KiB, each at the start of a line.
BytesPerSecond dma_rate(const PathConfig& path, bool write, Bytes size);

/// Nanoseconds of one line alone, each 1.2 µs after the one before, in no step with refreshes.
double unloaded_read(const PathConfig& path);

} // namespace umf::hw::link
