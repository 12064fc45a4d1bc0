#include "app/serve/utilisation.h"

#include <algorithm>
#include <cmath>

namespace umf::app {

void Utilisation::add(std::int64_t begin_ns, std::int64_t end_ns, Seconds seconds) {
  if (end_ns <= begin_ns) return;
  if (windows_.empty()) first_ns_ = begin_ns;
  const double length = static_cast<double>(end_ns - begin_ns);
  for (std::int64_t at = begin_ns; at < end_ns;) {
    const std::int64_t window = (at - first_ns_) / window_ns_;
    const std::int64_t stop = std::min(end_ns, first_ns_ + (window + 1) * window_ns_);
    if (windows_.size() <= static_cast<std::size_t>(window))
      windows_.resize(static_cast<std::size_t>(window) + 1);
    Seconds& sum = windows_[static_cast<std::size_t>(window)];
    const double part = static_cast<double>(stop - at) / length;
    sum.busy += seconds.busy * part;
    sum.memory += seconds.memory * part;
    sum.arithmetic += seconds.arithmetic * part;
    at = stop;
  }
}

Utilisation::Figures Utilisation::figures(std::int64_t until_ns) const {
  Figures figures;
  figures.window_ns = window_ns_;
  if (windows_.empty() || until_ns < first_ns_ + window_ns_) return figures;
  const auto whole = static_cast<std::size_t>((until_ns - first_ns_) / window_ns_);
  figures.windows = whole;
  const double length = static_cast<double>(window_ns_) * 1e-9;
  const auto spread = [&](double Seconds::*what) {
    WindowSpread found;
    double squares = 0;
    for (std::size_t w = 0; w < whole; ++w) { // behind the last one it idles
      const double share = w < windows_.size() ? windows_[w].*what / length : 0.0;
      found.mean += share / static_cast<double>(whole);
      squares += share * share / static_cast<double>(whole);
      found.min = w == 0 ? share : std::min(found.min, share);
      found.max = std::max(found.max, share);
    }
    found.deviation = std::sqrt(std::max(0.0, squares - found.mean * found.mean));
    return found;
  };
  figures.busy = spread(&Seconds::busy);
  figures.memory = spread(&Seconds::memory);
  figures.arithmetic = spread(&Seconds::arithmetic);
  return figures;
}

} // namespace umf::app
