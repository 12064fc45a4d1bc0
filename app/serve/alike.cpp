#include "app/serve/alike.h"

#include <cmath>
#include <numeric>

namespace umf::app {

double IterationWork::total() const {
  return std::accumulate(seconds.begin(), seconds.end(), 0.0);
}

AlikeIterations::Cell AlikeIterations::cell_of(const IterationWork& work) const {
  const double scale = std::log1p(tolerance_);
  const double step = std::floor(std::log(work.total()) / scale);
  const double width = tolerance_ * std::exp(step * scale);
  Cell cell{static_cast<std::int32_t>(step)};
  for (std::size_t p = 0; p < IterationWork::kParts; ++p)
    cell[p + 1] = static_cast<std::int32_t>(work.seconds[p] / width);
  return cell;
}

std::optional<double> AlikeIterations::foresee(const IterationWork& work) {
  unfolded_.reset();
  const double total = work.total();
  if (tolerance_ <= 0 || total <= 0) return std::nullopt;
  const auto known = samples_.find(cell_of(work));
  if (known == samples_.end()) return std::nullopt;
  const double seconds = known->second.seconds * (total / known->second.total);
  if (++could_fold_ % check_every_ == 0) {
    unfolded_ = seconds;
    return std::nullopt;
  }
  ++check_.folded;
  return seconds;
}

void AlikeIterations::learn(const IterationWork& work, double seconds) {
  const double total = work.total();
  if (tolerance_ <= 0 || total <= 0) return;
  samples_[cell_of(work)] = {total, seconds};
  if (!unfolded_) return;
  ++check_.checked;
  check_.foreseen += *unfolded_;
  check_.simulated += seconds;
  const double off = seconds > 0 ? *unfolded_ / seconds - 1 : 0;
  if (std::abs(off) > std::abs(check_.worst)) check_.worst = off;
  unfolded_.reset();
}

} // namespace umf::app
