#include "model/policy/break_even.h"
#include "app/run/path_probe.h"
#include "app/tables/suites.h"
#include "hw/gpu/occupancy.h"
#include "model/base/error.h"
#include "model/base/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

/// From how many reads of the same bytes on it pays to bring them into HBM.
namespace umf::app {

namespace {

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

std::vector<Bytes> sizes(const TableOptions& options) {
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

std::vector<Row> break_even_rows(const TableOptions& options) {
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
        even.burst = std::min(unit.move_burst, unit.max_burst);
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

Cell time(Femtoseconds time) {
  return {fmt::format("{:.3f}", time.nanoseconds()),
          fmt::format("{:.3f} us", time.seconds() * 1e6)};
}

Table break_even(const TableOptions& options) {
  Table table;
  table.title = "How often must the same bytes be read before it pays to bring them into HBM?\n"
                "copy: frames in HBM are free; migrate: as many bytes of a victim leave first.";
  table.columns = {
      {.name = "tier", .heading = "tier", .unit = "", .is_key = true, .is_text = true},
      {.name = "moved_by", .heading = "moved by", .unit = "", .is_key = true, .is_text = true},
      {.name = "bytes", .heading = "bytes", .unit = "B", .is_key = true},
      {.name = "remote_read_ns", .heading = "remote read", .unit = "ns"},
      {.name = "local_read_ns", .heading = "local read", .unit = "ns"},
      {.name = "move_in_ns", .heading = "move in", .unit = "ns"},
      {.name = "move_out_ns", .heading = "move out", .unit = "ns"},
      {.name = "copy_from_reads", .heading = "copy from", .unit = ""},
      {.name = "migrate_from_reads", .heading = "migrate from", .unit = ""}};
  for (const Row& row : break_even_rows(options))
    table.rows.push_back({{row.tier, {}},
                          {row.by, {}},
                          {std::to_string(row.bytes.count), umf::print(row.bytes)},
                          time(row.even.read_remote(row.bytes)),
                          time(row.even.read_local(row.bytes)),
                          time(row.even.move_in(row.bytes)),
                          time(row.even.move_out(row.bytes)),
                          {count(row.even.copy_from(row.bytes)), {}},
                          {count(row.even.migrate_from(row.bytes)), {}}});
  return table;
}

} // namespace

Suite break_even_suite() {
  return {"break-even", "reads from which it pays to bring bytes into HBM", break_even};
}

} // namespace umf::app
