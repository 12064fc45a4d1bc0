#pragma once

#include "model/policy/policy.h"

#include <cstdint>

namespace umf::policy {

/// S9: a control loop as firmware runs it, beside the scheduler. Windows of the sensors in,
/// settings out; it knows no pages and no machine.
///
/// The reserve goes up a step when the mean of HBM's utilisation was above a limit for some periods
/// in a row, and down a step when it was below a lower one for as many. The prefetch window is set
/// to its calm value when faults were below a limit for long, and back when a period has more.
class Tuner {
public:
  struct Keys {
    Femtoseconds period{};
    std::uint32_t in_a_row = 3;
    double utilisation = 0.85;                       ///< above: up
    double idle = 0;                                 ///< below: down
    double step = 0.02, least = 0.15, most = 0.25;   ///< of the reserve, shares of HBM
    double faults = 500;                             ///< a second
    Femtoseconds calm{};                             ///< with fewer
    std::uint64_t window = 1536, calm_window = 1536; ///< rows: as configured, once it was calm
  };
  /// `reserve`: to begin with, within its bounds.
  Tuner(Keys keys, double reserve);

  /// A window of the sensors is over. Whether settings have changed.
  bool sample(Femtoseconds window, double utilisation, double faults_per_s);
  double reserve() const { return state_.reserve; }
  std::uint64_t prefetch_window() const { return state_.prefetch_window; }
  const Tuning& state() const { return state_; }

private:
  bool move_reserve(double mean);
  bool set_window(Femtoseconds period, double faults_per_s);

  Keys keys_;
  Tuning state_;
  Femtoseconds so_far_{}, calm_{};      ///< of the period, without faults
  double utilisation_ = 0, faults_ = 0; ///< integrals over the period, in seconds
  std::uint32_t above_ = 0, below_ = 0; ///< periods in a row
};

} // namespace umf::policy
