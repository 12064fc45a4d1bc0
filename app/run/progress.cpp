#include "app/run/progress.h"

#include <cstdio>
#include <unistd.h>
#include <utility>

namespace umf::app {

using Clock = std::chrono::steady_clock;

Progress::Progress(const std::string& mode, bool quiet)
    : on_(mode == "always" || mode == "json" ||
          (mode == "auto" && !quiet && isatty(STDERR_FILENO) == 1)),
      json_(mode == "json"), started_(Clock::now()),
      // A script hears at once that work has begun; a person sees no line that flashes by.
      last_(json_ ? started_ - std::chrono::seconds(1) : started_) {}

void Progress::show(std::uint64_t done, std::uint64_t all) {
  const auto now = Clock::now();
  if (!on_ || now - last_ < std::chrono::milliseconds(250)) return;
  last_ = now;
  shown_ = true;
  const double elapsed = std::chrono::duration<double>(now - started_).count();
  const double left =
      done == 0 ? 0.0 : elapsed * static_cast<double>(all - done) / static_cast<double>(done);
  const auto d = static_cast<unsigned long long>(done), a = static_cast<unsigned long long>(all);
  if (json_)
    std::fprintf(stderr, "{\"done\":%llu,\"all\":%llu,\"elapsed_s\":%.1f,\"left_s\":%.1f}\n", d, a,
                 elapsed, left);
  else
    std::fprintf(stderr, "\r%llu of %llu operations, %.0f s left   ", d, a, left);
}

void Progress::clear() {
  if (std::exchange(shown_, false) && !json_) std::fprintf(stderr, "\r\033[K");
}

} // namespace umf::app
