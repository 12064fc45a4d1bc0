#pragma once

#include "hw/fabric/observer.h"
#include "hw/platform/longest.h"
#include "hw/platform/windows.h"

#include <cstddef>
#include <vector>

namespace umf::hw {

class Platform;

/// How much a run writes down about itself.
struct ReportConfig {
  Femtoseconds window = from_nanoseconds(1000);
  std::uint64_t rows = 4096;
  std::uint64_t timeline_events = 200'000;
};

/// Samples a machine in windows of time: tiers, link directions, GPUs' time by cause and their
/// schedulers' counters, a column each. Sums of columns equal the totals of the run exactly.
class Sampler : public Observer {
public:
  Sampler(Platform& platform, const ReportConfig& config);

  void reach(Femtoseconds now) override;
  Femtoseconds charged(std::uint32_t gpu, Femtoseconds from, Femtoseconds to,
                       const CauseLedger& before, const CauseLedger& after) override;
  void moved(const MoveSpan& move) override { moves_.add(move.completed - move.accepted, move); }
  /// The run is over; every GPU has accounted up to `end`.
  void finish(Femtoseconds end);

  const Windows& windows() const { return windows_; }
  const Longest<MoveSpan>& moves() const { return moves_; }

  /// First columns of a tier, a link, a GPU, and what follows it there.
  enum TierColumn : std::size_t { read_bytes, write_bytes, used_bytes, region_bytes };
  enum LinkColumn : std::size_t { tx_bytes, rx_bytes };
  enum GpuColumn : std::size_t {
    commands,
    faults,
    first_touch_pages,
    remote_hits,
    migrated_bytes,
    read_only_fs,
    cause_fs
  };
  /// Behind the causes, of policies that collect (S8); behind those, of policies that tune (S9).
  enum CollectorColumn : std::size_t { collected_bytes, kCollectorColumns };
  enum TunerColumn : std::size_t { hbm_reserve_bytes, prefetch_window_rows, kTunerColumns };
  std::size_t tier_column(std::size_t tier) const;
  std::size_t link_column(std::size_t link) const;
  std::size_t gpu_column(std::uint32_t gpu) const;

private:
  const std::vector<std::uint64_t>& state_at(Femtoseconds now, bool over);
  void spread(std::uint32_t gpu, Femtoseconds from, Femtoseconds to, const CauseLedger& before,
              const CauseLedger& after);

  Platform& platform_;
  std::size_t gpu_columns_;
  std::vector<std::uint64_t> state_;
  Windows windows_;
  Longest<MoveSpan> moves_;
  struct Told { ///< what a GPU has put into windows so far
    Femtoseconds until{};
    CauseLedger causes;
  };
  std::vector<Told> told_;
};

} // namespace umf::hw
