#pragma once

#include <cstdint>
#include <vector>

namespace umf::app {

/// A share of time, over windows: the mean, the least and the most busy one, and the standard
/// deviation between them.
struct WindowSpread {
  double mean = 0, min = 0, max = 0, deviation = 0;
};

/// How busy a served machine was, in windows of the requests' clock.
class Utilisation {
public:
  /// Seconds of one stretch, each spread over all of it.
  struct Seconds {
    double busy = 0;       ///< an iteration ran, as nvidia-smi's utilisation has it
    double memory = 0;     ///< bytes that kernels ask for, at HBM's peak rate
    double arithmetic = 0; ///< operations at their peak rate
  };
  struct Figures {
    std::int64_t window_ns = 0;
    std::uint64_t windows = 0; ///< whole ones
    WindowSpread busy, memory, arithmetic;
  };

  explicit Utilisation(std::int64_t window_ns) : window_ns_(window_ns) {}

  /// Stretches come in order and do not overlap; the first window begins with the first of them.
  void add(std::int64_t begin_ns, std::int64_t end_ns, Seconds seconds);
  /// Of the windows that end at `until_ns` or before.
  Figures figures(std::int64_t until_ns) const;

private:
  std::int64_t window_ns_, first_ns_ = 0;
  std::vector<Seconds> windows_;
};

} // namespace umf::app
