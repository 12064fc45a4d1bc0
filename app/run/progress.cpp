#include "app/run/progress.h"

#include "model/base/key_codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

namespace umf::app {

using Clock = std::chrono::steady_clock;

namespace {

struct Step {
  std::uint64_t done = 0, all = 0;
  double elapsed = 0, left = 0; ///< seconds
  Femtoseconds simulated{};
  double percent() const {
    return all == 0 ? 100.0 : 100.0 * static_cast<double>(done) / static_cast<double>(all);
  }
  /// Simulated seconds a second.
  double speed() const { return elapsed > 0 ? simulated.seconds() / elapsed : 0.0; }
};

std::uint64_t bytes_of(std::uint64_t pages, const hw::Platform& platform) {
  return pages * platform.scenario().scheduler.page.count;
}

std::string occupancy_json(const hw::Platform& platform) {
  std::string text = "{";
  for (const auto& tier : platform.tiers()) {
    fmt::format_to(std::back_inserter(text),
                   "{}{}:{{\"used_bytes\":{},\"capacity_bytes\":{},\"regions\":{{",
                   text.size() > 1 ? "," : "", text_json(tier.name),
                   bytes_of(tier.frames->used(), platform), tier.spec->capacity().count);
    for (std::size_t r = 0; r < memory::kRegions; ++r) {
      const auto region = static_cast<memory::Region>(r);
      fmt::format_to(std::back_inserter(text), "{}\"{}\":{}", r > 0 ? "," : "",
                     memory::name_of(region), bytes_of(tier.frames->used(region), platform));
    }
    text += "}}";
  }
  return text + "}";
}

/// "hbm 63.2/80.0 GiB (weights 60.1, kv 0.0, act 3.1)" of each tier that holds anything.
std::string occupancy_text(const hw::Platform& platform) {
  const auto gib = [&](std::uint64_t pages) {
    return static_cast<double>(bytes_of(pages, platform)) / (1 << 30);
  };
  std::string text;
  for (const auto& tier : platform.tiers()) {
    using memory::Region;
    if (tier.frames->used() == 0) continue;
    fmt::format_to(std::back_inserter(text),
                   "  {} {:.1f}/{:.1f} GiB (weights {:.1f}, kv {:.1f}, act {:.1f})", tier.name,
                   gib(tier.frames->used()), gib(tier.frames->frames()),
                   gib(tier.frames->used(Region::weight)), gib(tier.frames->used(Region::kv)),
                   gib(tier.frames->used(Region::activation)));
  }
  return text;
}

/// A line longer than the terminal is wide would leave its first part behind when rewritten.
std::size_t width() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 2) return SIZE_MAX;
  return size.ws_col - 1u;
}

std::string json_line(const Step& step, const hw::Platform& platform) {
  return fmt::format("{{\"done\":{},\"all\":{},\"percent\":{:.1f},\"elapsed_s\":{:.1f},"
                     "\"left_s\":{:.1f},\"simulated_ns\":{},\"speed\":{:.3g},\"tiers\":{}}}\n",
                     step.done, step.all, step.percent(), step.elapsed, step.left,
                     step.simulated.count / 1'000'000, step.speed(), occupancy_json(platform));
}

std::string text_line(const Step& step, const hw::Platform& platform) {
  std::string text =
      fmt::format("{:.0f} % ({} of {} operations), {:.1f} ms simulated ({:.2g}x), {:.0f} s left{}",
                  step.percent(), step.done, step.all, step.simulated.seconds() * 1e3, step.speed(),
                  step.left, occupancy_text(platform));
  text.resize(std::min(text.size(), width()));
  return "\r\033[K" + text;
}

} // namespace

Progress::Progress(const std::string& mode, bool quiet)
    : on_(wanted(mode, quiet)), json_(mode == "json"), started_(Clock::now()),
      // A script hears at once that work has begun; a person sees no line that flashes by.
      last_(json_ ? started_ - std::chrono::seconds(1) : started_) {}

bool Progress::wanted(const std::string& mode, bool quiet) {
  return mode == "always" || mode == "json" ||
         (mode == "auto" && !quiet && isatty(STDERR_FILENO) == 1);
}

void Progress::show(std::uint64_t done, std::uint64_t all, const hw::Platform& platform) {
  const auto now = Clock::now();
  if (!on_ || now - last_ < std::chrono::milliseconds(250)) return;
  last_ = now;
  shown_ = true;
  Step step{done, all, std::chrono::duration<double>(now - started_).count(), 0, hw::sim_now()};
  if (done > 0)
    step.left =
        step.elapsed * static_cast<double>(std::max(all, done) - done) / static_cast<double>(done);
  const std::string line = json_ ? json_line(step, platform) : text_line(step, platform);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void Progress::clear() {
  if (std::exchange(shown_, false) && !json_) std::fprintf(stderr, "\r\033[K");
}

} // namespace umf::app
