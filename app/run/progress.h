#pragma once

#include "hw/platform/platform.h"

#include <chrono>
#include <cstdint>
#include <string>

namespace umf::app {

/// One line on stderr, rewritten in place (or one JSON object a line), a few times a second:
/// how far the run is, and what lies in each tier by region.
class Progress {
public:
  /// mode: auto (only on a terminal), always, never, json.
  Progress(const std::string& mode, bool quiet);
  /// Whether that mode shows anything.
  static bool wanted(const std::string& mode, bool quiet);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(std::uint64_t done, std::uint64_t all, const hw::Platform& platform);
  /// Leaves the line empty for what is printed next.
  void clear();

private:
  bool shown_ = false, on_ = false, json_ = false;
  std::chrono::steady_clock::time_point started_, last_;
};

} // namespace umf::app
