#pragma once

#include "hw/platform/platform.h"
#include "model/scheduler/log.h"
#include "model/scheduler/log_replay.h"
#include "traces/whole_file.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace umf::app {

/// The command log of a run, as a file that appears whole or not at all. Throws UserError where it
/// cannot be written.
class RunLog {
public:
  explicit RunLog(const std::filesystem::path& path) : file_(path) {}
  /// Before anything is placed on the machine.
  void attach(hw::Platform& platform);
  void finish();

private:
  traces::WholeFile file_;
  std::optional<scheduler::LogWriter> log_;
};

/// A log replayed: the model alone, in virtual time.
struct LogRun {
  std::string name; ///< of the file, without its folder
  scheduler::LogResult result;
  double wall_seconds = 0; ///< reading included

  bool same() const { return result.difference.empty(); }
};

/// Throws UserError with file and offset for what is no whole log, Interrupted when `stop` says so.
LogRun replay_log_file(const std::filesystem::path& path, const std::function<bool()>& stop);

std::string terminal_report(const LogRun& run);

} // namespace umf::app
