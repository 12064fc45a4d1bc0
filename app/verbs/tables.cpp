#include "app/verbs/verbs.h"

#include "app/run/path_probe.h"
#include "hw/gpu/occupancy.h"
#include "model/base/error.h"
#include "model/base/quantity.h"
#include "model/policy/break_even.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

/// Tables of a machine, without a trace. A suite is a function from the options to its text.
namespace umf::app {

namespace {

struct Options {
  std::string suite = "break-even", scenario, format = "table";
  std::vector<std::string> sets, bytes;
};

/// One row: bringing in so many bytes from one memory in one way.
struct Row {
  std::string tier, by;
  Bytes bytes;
  policy::BreakEven even;
};

/// The rates of a path as the SMs see them: no faster than the L2's fabric, and no more in
/// flight than all SMs hold.
policy::Way at_sm(const PathFigures& path, const hw::Gpu& gpu, double fabric) {
  policy::Way way{path.read, path.write, path.latency, path.latency};
  way.latency += gpu.hit_latency() + gpu.config().l2.miss_latency;
  const Bytes in_flight = hw::occupancy(gpu.config(), {}).in_flight;
  const double window = static_cast<double>(in_flight.count) / way.latency.seconds();
  way.read = {std::min({way.read.value, fabric, window})};
  return way;
}

std::vector<Bytes> sizes(const Options& options) {
  std::vector<Bytes> sizes;
  for (const std::string& text : options.bytes) {
    try {
      sizes.push_back(parse_quantity<Bytes>(text));
    } catch (const UserError& error) {
      throw UserError(fmt::format("--bytes: {}", error.what()));
    }
    if (sizes.back().count == 0)
      throw UserError("--bytes: " + text + " is nothing to move, expected at least 1B");
  }
  return sizes;
}

std::vector<Row> break_even_rows(const Options& options) {
  const std::vector<Bytes> tabulated = sizes(options);
  hw::Platform platform(hw::read_scenario(load_scenario(options.scenario, options.sets)));
  const auto paths = probe_paths(platform, 0);
  const hw::SchedulerConfig& unit = platform.scenario().scheduler;
  const hw::Gpu& gpu = platform.gpu(0);
  const double fabric = platform.clock().network().capacity(gpu.fabric());
  const auto home = std::find_if(paths.begin(), paths.end(), [](const PathFigures& path) {
    return path.kind == policy::TierClass::hbm;
  });
  ensure(home != paths.end(), "a machine without HBM");
  std::vector<Row> rows;
  for (const PathFigures& path : paths) {
    if (path.kind != policy::TierClass::pool && path.kind != policy::TierClass::host) continue;
    for (const bool fault : {false, true})
      for (const Bytes bytes : tabulated) {
        policy::BreakEven even;
        even.remote = at_sm(path, gpu, fabric);
        even.local = at_sm(*home, gpu, fabric);
        even.burst = unit.max_burst;
        if (fault) even.service = unit.fault_latency;
        if (fault) even.batch = {unit.fault_batch * unit.page.count};
        rows.push_back({path.tier, fault ? "fault" : "command", bytes, even});
      }
  }
  return rows;
}

std::string count(const std::optional<std::uint64_t>& reads) {
  return reads ? std::to_string(*reads) : "never";
}

std::string break_even_csv(const std::vector<Row>& rows) {
  std::string text = "tier,moved_by,bytes,remote_read_ns,local_read_ns,move_in_ns,move_out_ns,"
                     "copy_from_reads,migrate_from_reads\n";
  for (const Row& row : rows)
    text += fmt::format(
        "{},{},{},{:.3f},{:.3f},{:.3f},{:.3f},{},{}\n", row.tier, row.by, row.bytes.count,
        row.even.read_remote(row.bytes).nanoseconds(), row.even.read_local(row.bytes).nanoseconds(),
        row.even.move_in(row.bytes).nanoseconds(), row.even.move_out(row.bytes).nanoseconds(),
        count(row.even.copy_from(row.bytes)), count(row.even.migrate_from(row.bytes)));
  return text;
}

std::string break_even_table(const std::vector<Row>& rows) {
  std::string text =
      "How often must the same bytes be read before it pays to bring them into HBM?\n"
      "copy: frames in HBM are free; migrate: as many bytes of a victim leave first.\n\n"
      "tier         moved by      bytes   remote read    local read       move in      move out"
      "   copy from   migrate from\n";
  for (const Row& row : rows) {
    const auto us = [](Femtoseconds time) {
      return fmt::format("{:.3f} us", time.seconds() * 1e6);
    };
    text += fmt::format("{:<12} {:<9} {:>9} {:>13} {:>13} {:>13} {:>13} {:>11} {:>14}\n", row.tier,
                        row.by, print(row.bytes), us(row.even.read_remote(row.bytes)),
                        us(row.even.read_local(row.bytes)), us(row.even.move_in(row.bytes)),
                        us(row.even.move_out(row.bytes)), count(row.even.copy_from(row.bytes)),
                        count(row.even.migrate_from(row.bytes)));
  }
  return text;
}

} // namespace

Action add_tables(CLI::App& app) {
  auto options = std::make_shared<Options>();
  options->bytes = {"64KiB", "256KiB", "1MiB", "4MiB", "16MiB", "64MiB"};
  CLI::App* verb = app.add_subcommand("tables", "Tables of a machine, without a trace");
  verb->add_option("--suite", options->suite, "Which table")
      ->check(CLI::IsMember({"break-even"}))
      ->capture_default_str();
  verb->add_option("--scenario", options->scenario, "Scenario file (JSON)")->required();
  verb->add_option("--set", options->sets, "POINTER=VALUE over the scenario; repeatable")
      ->take_all()
      ->allow_extra_args(false);
  verb->add_option("--bytes", options->bytes, "Sizes to tabulate, such as 2MiB; repeatable")
      ->take_all()
      ->allow_extra_args(false)
      ->capture_default_str();
  verb->add_option("--format", options->format, "What stdout gets")
      ->check(CLI::IsMember({"table", "csv"}))
      ->capture_default_str();
  return [options] {
    const auto rows = break_even_rows(*options);
    print(options->format == "csv" ? break_even_csv(rows) : break_even_table(rows));
    return Exit::ok;
  };
}

} // namespace umf::app
