#pragma once

#include "model/base/units.h"
#include "model/memory/range_set.h"
#include "model/stream/records.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace umf::hw {

enum BoundPart : std::size_t { kLaunch, kArithmetic, kL2, kMemory, kLinks, kCopies };
inline constexpr std::size_t kBoundParts = 6;

/// Seconds by what they are due to, and its amount. Of an operation: of each resource alone; of
/// several: of what was longest.
struct BoundCosts {
  std::array<double, kBoundParts> seconds{}, amount{};
  double total() const;
  /// The longest of an operation's resources, beside its launch.
  std::size_t longest() const;
  /// Adds an operation: its launch and its longest resource.
  void add_operation(const BoundCosts& operation);
  void add(const BoundCosts& other);
};

/// Cuts one stream's operations into windows and sums what each cannot do without. Several
/// cuttings side by side, each a bound of its own.
class BoundWindows {
public:
  struct Options {
    std::uint64_t l2_capacity = 0, sram_capacity = 0, near_capacity = 0;
    /// Most bytes a second from all memories, from those but SRAM, from all links.
    double memory_read = 0, filling_read = 0, links_read = 0;
    bool alone = true; ///< nothing else fetches for it between its operations' transfers
  };
  struct Piece {
    stream::TensorId tensor = 0;
    memory::Range bytes;
    std::uint64_t newborn =
        0; ///< of them: touched for the first time, so that they may lie anywhere
  };

  explicit BoundWindows(const Options& options);

  /// `reads` and `writes` in order of the operation; it reads nothing that it writes.
  void add(const BoundCosts& costs, const std::vector<Piece>& reads,
           const std::vector<Piece>& writes);
  void forget(stream::TensorId tensor);
  void finish();

  const BoundCosts& best() const;
  Bytes link_bytes() const;

private:
  /// One way to cut.
  struct Cutting {
    std::uint64_t least = 0;    ///< distinct bytes of a window before it may end
    bool at_repetition = false; ///< and only where an operation reads mostly what was read in it
    BoundCosts sum;
    std::uint64_t link_bytes = 0;
    // The window under way
    BoundCosts operations;   ///< one after the other
    std::uint64_t fresh = 0; ///< distinct bytes read that were not written in it first
    std::uint64_t old = 0;   ///< of them: lay somewhere before
    std::map<stream::TensorId, memory::RangeSet> seen;
  };
  void close(Cutting& cutting);

  Options options_;
  std::vector<Cutting> cuttings_;
};

} // namespace umf::hw
