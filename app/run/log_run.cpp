#include "app/run/log_run.h"

#include "app/report/quantities.h"
#include "app/run/trace_source.h"
#include "hw/platform/record.h"
#include "traces/places.h"

#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <iterator>

namespace umf::app {

void RunLog::attach(hw::Platform& platform) {
  log_.emplace(hw::log_header(platform), [this](std::string_view bytes) { file_.write(bytes); });
  hw::record(platform, *log_);
}

void RunLog::finish() {
  log_->finish();
  file_.finish();
}

LogRun replay_log_file(const std::filesystem::path& path, const std::function<bool()>& stop) {
  const auto started = std::chrono::steady_clock::now();
  std::ifstream in(path, std::ios::binary);
  if (!in || std::filesystem::is_directory(path))
    throw UserError(traces::place_of(path.string()), "cannot be read, expected a command log");
  scheduler::LogReader reader(
      [&](char* to, std::size_t most) {
        in.read(to, static_cast<std::streamsize>(most));
        if (in.bad())
          throw UserError(traces::place_of(path.string()), "reading failed, expected more of it");
        return static_cast<std::size_t>(in.gcount());
      },
      path.string());
  bool stopped = false;
  scheduler::LogReplayOptions options;
  options.stop = [&] { return stopped = stop && stop(); };
  LogRun run;
  run.name = path.filename().string();
  run.result = replay_log(reader, options);
  if (stopped) throw Interrupted{};
  run.wall_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  return run;
}

std::string terminal_report(const LogRun& run) {
  const scheduler::LogResult& result = run.result;
  std::string text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "log            {}, {} GPU{}\n", run.name, result.counters.size(),
                 result.counters.size() == 1 ? "" : "s");
  fmt::format_to(out, "events         {} in {} of virtual time\n", result.events,
                 duration(result.end.seconds()));
  fmt::format_to(out, "commands       {}, {}\n", result.commands,
                 run.same() ? "the same as in the log" : "until one differs from the log");
  for (std::size_t g = 0; g < result.counters.size(); ++g) {
    const scheduler::Counters& c = result.counters[g];
    fmt::format_to(out,
                   "GPU {:<10} {} accesses, {} faults, {} commands ({} refused), {} moved, {} "
                   "synced\n",
                   g, c.touches, c.faults, c.commands, c.refused, decimal_bytes(c.moved.count),
                   decimal_bytes(c.synced.count));
  }
  return text;
}

} // namespace umf::app
