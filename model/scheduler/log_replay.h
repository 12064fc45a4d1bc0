#pragma once

#include "model/scheduler/log.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace umf::scheduler {

/// What came of a log: what its brains counted, and where they first decided otherwise.
struct LogResult {
  std::uint64_t events = 0;       ///< replayed
  std::uint64_t commands = 0;     ///< of them, given to the machine
  Femtoseconds end{};             ///< time of the last event
  std::vector<Counters> counters; ///< by GPU
  /// Record, time, what the log says and what came instead; empty: the same all the way.
  std::string difference;
};

struct LogReplayOptions {
  /// Makes a GPU's policy of what the header says; left out: as a scenario would.
  std::function<std::unique_ptr<policy::Policy>(const std::string& text, std::uint32_t gpu)> policy;
  /// Asked now and then; true ends the replay where it is.
  std::function<bool()> stop;
};

/// Builds the brains that the header tells of and puts every event to them, in virtual time and
/// with nothing else around them; ends at the first answer that differs. Throws UserError for a log
/// that breaks the format or names a policy that cannot be made.
LogResult replay_log(LogReader& log, const LogReplayOptions& options = {});

} // namespace umf::scheduler
