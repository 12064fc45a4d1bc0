#include "model/policy/tuner.h"

#include <algorithm>

namespace umf::policy {

Tuner::Tuner(Keys keys, double reserve) : keys_(keys) {
  state_.reserve = std::clamp(reserve, keys_.least, keys_.most);
  state_.prefetch_window = keys_.window;
}

bool Tuner::sample(Femtoseconds window, double utilisation, double faults_per_s) {
  ++state_.samples;
  so_far_ += window;
  utilisation_ += utilisation * window.seconds();
  faults_ += faults_per_s * window.seconds();
  if (so_far_ < keys_.period) return false;
  ++state_.periods;
  const double seconds = so_far_.seconds();
  const bool reserve = move_reserve(utilisation_ / seconds);
  const bool prefetch = set_window(so_far_, faults_ / seconds);
  so_far_ = {};
  utilisation_ = faults_ = 0;
  return reserve || prefetch;
}

/// A step begins the count anew: its effect is seen before the next.
bool Tuner::move_reserve(double mean) {
  above_ = mean > keys_.utilisation ? above_ + 1 : 0;
  below_ = mean < keys_.idle ? below_ + 1 : 0;
  const double before = state_.reserve;
  const double crumb = keys_.step / 1e6; // what sums of doubles leave is no step
  if (above_ >= keys_.in_a_row) {
    above_ = 0;
    state_.reserve = before + keys_.step;
    if (state_.reserve > keys_.most - crumb) state_.reserve = keys_.most;
    state_.raised += state_.reserve != before;
  } else if (below_ >= keys_.in_a_row) {
    below_ = 0;
    state_.reserve = before - keys_.step;
    if (state_.reserve < keys_.least + crumb) state_.reserve = keys_.least;
    state_.lowered += state_.reserve != before;
  }
  return state_.reserve != before;
}

bool Tuner::set_window(Femtoseconds period, double faults_per_s) {
  calm_ = faults_per_s < keys_.faults ? calm_ + period : Femtoseconds{0};
  const std::uint64_t before = state_.prefetch_window;
  if (calm_.count == 0)
    state_.prefetch_window = keys_.window;
  else if (calm_ >= keys_.calm)
    state_.prefetch_window = keys_.calm_window;
  state_.windows += state_.prefetch_window != before;
  return state_.prefetch_window != before;
}

} // namespace umf::policy
