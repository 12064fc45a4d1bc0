#include "hw/gpu/arithmetic.h"

#include "model/base/error.h"

#include <algorithm>
#include <cmath>

namespace umf::hw {

namespace {
constexpr double kFemto = 1e15;
constexpr double kNoise = 1e-15; ///< of a double's division: no time
} // namespace

void Arithmetic::add(Femtoseconds now, std::uint32_t who, double seconds, double part,
                     double weight) {
  ensure(seconds > 0 && part > 0 && part <= 1 && weight > 0, "arithmetic: malformed work");
  ensure(now <= next_end_, "arithmetic: an end was passed over");
  move_to(now);
  const auto job =
      std::find_if(jobs_.begin(), jobs_.end(), [&](const Job& other) { return other.who == who; });
  if (job == jobs_.end())
    jobs_.push_back({who, seconds, part, weight});
  else
    job->left += seconds;
  share();
}

void Arithmetic::advance(Femtoseconds now, std::vector<std::uint32_t>& ended) {
  ensure(now <= next_end_, "arithmetic: an end was passed over");
  if (now < next_end_) return;
  move_to(now);
  const auto over = [&](const Job& job) {
    if (job.ends > now.count) return false;
    ended.push_back(job.who);
    return true;
  };
  jobs_.erase(std::remove_if(jobs_.begin(), jobs_.end(), over), jobs_.end());
  share();
}

void Arithmetic::move_to(Femtoseconds now) {
  for (Job& job : jobs_)
    job.left = std::max(job.left - job.rate * (now - since_).seconds(), 0.0);
  since_ = now;
}

/// Finds rates and ends anew: those whose part is below their fair share have it, the others share
/// what is left.
void Arithmetic::share() {
  double left = 1, weights = 0;
  for (Job& job : jobs_) {
    job.rate = 0;
    weights += job.weight;
  }
  for (bool again = true; again && weights > 0;) {
    again = false;
    const double level = std::max(left, 0.0) / weights;
    for (Job& job : jobs_) {
      if (job.rate > 0 || job.part > level * job.weight) continue;
      job.rate = job.part;
      left -= job.part;
      weights -= job.weight;
      again = true;
    }
  }
  for (Job& job : jobs_)
    if (job.rate == 0) job.rate = std::max(left, 0.0) * job.weight / weights;
  next_end_ = kNever;
  for (Job& job : jobs_) {
    const double takes = std::ceil(job.left * kFemto / job.rate * (1 - kNoise));
    const std::int64_t most = kNever.count - since_.count;
    job.ends = takes < static_cast<double>(most) ? since_.count + static_cast<std::int64_t>(takes)
                                                 : kNever.count;
    next_end_ = std::min(next_end_, Femtoseconds{job.ends});
  }
}

} // namespace umf::hw
