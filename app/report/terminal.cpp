#include "app/report/terminal.h"

#include "app/report/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace umf::app {

namespace {

using Out = std::back_insert_iterator<std::string>;

std::string bar(double share, int width = 24) {
  const int full = static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * width));
  std::string text;
  for (int i = 0; i < width; ++i)
    text += i < full ? "█" : "·";
  return text;
}

std::string milliseconds(Femtoseconds time) {
  return fmt::format("{:.3f} ms", time.seconds() * 1e3);
}

std::string decimal_bytes(std::uint64_t bytes) {
  constexpr const char* units[] = {"B", "kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1000 && unit < 4; ++unit)
    value /= 1000;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.2f} {}", value, units[unit]);
}

std::string binary_bytes(std::uint64_t bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit < 4; ++unit)
    value /= 1024;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.2f} {}", value, units[unit]);
}

void head(Out out, const ReplayRun& run, const RunFacts& facts) {
  const auto& scenario = run.platform->scenario();
  fmt::format_to(out, "umfsim replay  {} on {}  (policy {}, closed, burst resolution)\n\n",
                 std::filesystem::path(facts.trace_argument).filename().string(),
                 scenario.general.name, scenario.policy);
  fmt::format_to(
      out, "kernels        {}  ({} unknown: launch cost only)   copies {}   memsets {}\n",
      run.totals.kernels, run.totals.unknown_kernels, run.totals.copies, run.totals.memsets);
  const Femtoseconds measured{run.trace.measured_kernel_ns * 1'000'000};
  Femtoseconds simulated{};
  for (const auto& row : run.rows)
    if (row.kind == hw::Operation::Kind::kernel) simulated += row.result.end - row.result.start;
  fmt::format_to(out, "simulated      {}   kernels alone {}\n", milliseconds(run.makespan),
                 milliseconds(simulated));
  fmt::format_to(out, "measured       {}   kernels alone {}   (as the trace recorded)\n",
                 milliseconds({run.trace.span_ns * 1'000'000}), milliseconds(measured));
  const Accuracy accuracy = accuracy_of(run);
  if (accuracy.all.kernels > 0)
    fmt::format_to(
        out,
        "per kernel     |simulated − measured| / measured: median {:.1f} %, P90 {:.1f} % "
        "of {} known kernels (untuned)\n",
        accuracy.all.median * 100, accuracy.all.p90 * 100, accuracy.all.kernels);
}

void causes(Out out, const ReplayRun& run) {
  const hw::CauseLedger ledger = causes_of(run);
  fmt::format_to(out, "\nwhere the time went\n");
  for (std::size_t c = 0; c < hw::kCauses; ++c) {
    const auto cause = static_cast<hw::Cause>(c);
    const Femtoseconds time = ledger.of(cause);
    if (time.count == 0) continue;
    const double share = static_cast<double>(time.count) /
                         static_cast<double>(std::max<std::int64_t>(run.makespan.count, 1));
    fmt::format_to(out, "  {:<15}{} {:>13} {:>6.2f} %\n", hw::name_of(cause), bar(share),
                   milliseconds(time), share * 100);
  }
}

void tiers(Out out, const ReplayRun& run) {
  const std::uint64_t page = run.platform->scenario().scheduler.page.count;
  fmt::format_to(out, "\n{:<17}{:<27}{:>11} {:>11} {:>9}  {}\n", "tier", "peak occupancy", "read",
                 "written", "busy", "latency at sm, mean");
  for (const auto& tier : run.platform->tiers()) {
    const auto& s = tier.module->statistics();
    const std::uint64_t peak = tier.frames->peak_used() * page;
    const std::uint64_t capacity = tier.spec->capacity().count;
    const auto& latency = s.latency[static_cast<std::size_t>(hw::Boundary::sm)];
    fmt::format_to(out, "  {:<15}{} {:>11} {:>11} {:>7.1f} %  {}\n", tier.name,
                   bar(static_cast<double>(peak) / static_cast<double>(capacity)) + "  ",
                   decimal_bytes(s.read_bytes), decimal_bytes(s.write_bytes),
                   utilisation(run, tier.module->media().front()) * 100,
                   latency.count() == 0 ? "-" : fmt::format("{:.0f} ns", latency.mean() / 1000.0));
    fmt::format_to(out, "  {:<15}{} of {}\n", "", binary_bytes(peak), binary_bytes(capacity));
  }
  if (run.platform->links().empty()) return;
  fmt::format_to(out, "\n{:<17}{:<27}{:>11} {:>11}\n", "link", "busier direction", "tx payload",
                 "rx payload");
  for (const auto& link : run.platform->links()) {
    const double busy = std::max(utilisation(run, link->tx()), utilisation(run, link->rx()));
    fmt::format_to(out, "  {:<15}{} {:>11} {:>11} {:>7.1f} %\n", link->link_name(),
                   bar(busy) + "  ", decimal_bytes(link->statistics().tx_out),
                   decimal_bytes(link->statistics().rx_out), busy * 100);
  }
}

void provenance(Out out, const ReplayRun& run) {
  fmt::format_to(out, "\nbytes by rule  ");
  for (std::size_t r = 0; r < traces::Summary::kRules; ++r) {
    const auto& inferred = run.trace.inferred[r];
    if (inferred.bytes.count > 0)
      fmt::format_to(out, "{} {}   ", stream::name_of(static_cast<stream::Rule>(r)),
                     decimal_bytes(inferred.bytes.count));
  }
  fmt::format_to(out, "\n");
  for (const auto& oddity : run.trace.oddities)
    fmt::format_to(out, "oddity         {} × {}: {} (first at {})\n", oddity.count, oddity.code,
                   oddity.sentence, oddity.first_place);
  const auto wrong = std::count_if(run.ledger.begin(), run.ledger.end(),
                                   [](const auto& check) { return !check.ok(); });
  fmt::format_to(out, "ledger         {} of {} checks balance{}\n",
                 run.ledger.size() - static_cast<std::size_t>(wrong), run.ledger.size(),
                 wrong == 0 ? ": ok" : "");
  for (const auto& check : run.ledger)
    if (!check.ok())
      fmt::format_to(out, "  MISMATCH     {}: {} against {}\n", check.name, check.left,
                     check.right);
}

} // namespace

std::string terminal_report(const ReplayRun& run, const RunFacts& facts) {
  std::string text;
  const Out out = std::back_inserter(text);
  head(out, run, facts);
  causes(out, run);
  tiers(out, run);
  provenance(out, run);
  return text;
}

} // namespace umf::app
