#pragma once

#include "hw/platform/replay_config.h"
#include "model/base/units.h"

#include <cstdint>
#include <optional>

namespace umf::hw {

/// Times that the trace lacks or that contradict one another; the replay goes on, counted.
struct HostOddities {
  std::uint64_t untimed = 0;       ///< operations without the time their mode asks for
  std::uint64_t backwards = 0;     ///< times earlier than one they must follow
  std::uint64_t untimed_waits = 0; ///< hybrid: host waits whose end is not recorded
  HostOddities& operator+=(const HostOddities& other);
};

/// When the host hands each operation to its GPU, by the mode of replay. A plain class:
/// recorded times in, simulated times out, in order of issue.
///
/// Open. An operation comes at its recorded time, counted from the first operation's. That is
/// the begin of the host's call, where it is recorded; else the start on the device less the
/// launch cost which the GPU is about to charge, so that a launch is paid once. One without
/// either comes with the operation before it.
///
/// Hybrid. One host works as recorded: the gaps between the begins of its calls are kept. Where
/// it waited for the device it waits for the simulated one instead, and everything later moves
/// by the difference; the gap behind a wait is counted from the wait's recorded end. Operations
/// without a begin of call follow at once.
///
/// Time since the begin of the simulation; throws UserError where a trace spans more than
/// 64 bits of femtoseconds hold, some two hours.
class HostClock {
public:
  explicit HostClock(ReplayMode mode) : mode_(mode) {}

  /// The trace begins (again) now.
  void begin(Femtoseconds now);

  struct Times {
    std::optional<std::int64_t> issue_ns, start_ns;
    Femtoseconds launch{}; ///< what the GPU charges from handing over to residence
    /// Open: the latest time handed out on the operation's stream so far.
    std::optional<Femtoseconds> stream_before;
  };
  /// The instant from which the next operation may go.
  Femtoseconds issue(const Times& times);

  /// Hybrid: the host comes to a wait ...
  void reach_wait(std::optional<std::int64_t> start_ns);
  /// ... and goes on when what it waited for was done, at once if that was earlier.
  void resume(Femtoseconds done, std::optional<std::int64_t> end_ns);

  const HostOddities& oddities() const { return oddities_; }

private:
  Femtoseconds issue_open(const Times& times);
  void pass(std::int64_t recorded_ns);

  ReplayMode mode_;
  HostOddities oddities_;
  Femtoseconds begin_{}; ///< of this turn of the trace
  Femtoseconds host_{};  ///< hybrid: where the host is; open: the last time handed out
  std::optional<std::int64_t> recorded_; ///< hybrid: the same instant as recorded
  std::optional<std::int64_t> origin_;   ///< open: the first operation's recorded time ...
  Femtoseconds origin_launch_{};         ///< ... which is that much behind its handing over
  bool gap_lost_ = false;                ///< hybrid: behind a wait without an end
};

} // namespace umf::hw
