#include "hw/gpu/chase.h"
#include "app/validate/replayed.h"
#include "app/validate/suites.h"
#include "hw/dram/drive.h"
#include "model/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

/// Dependent loads against array size: plateaus of L1, near and far L2 and memory, and the sizes
/// where one gives way to the next.
namespace umf::app {

namespace {

struct Point {
  double kib, measured, simulated; ///< clocks a load
};

/// Of a lone read from the L2's miss to its data: drawn addresses, one at a time.
Femtoseconds memory_latency(const hw::Scenario& scenario) {
  for (const auto& tier : scenario.tiers) {
    const auto line = tier->line();
    if (!line || !tier->on_package()) continue;
    hw::dram::Dram dram(hw::dram::config(line->media));
    hw::dram::Drive how;
    how.traffic.access = how.traffic.run = {dram.access_bytes()};
    how.traffic.footprint = {dram.bytes()};
    how.outstanding = 1;
    how.requests = 20'000;
    const auto driven = drive(dram, how);
    return line->media_latency + line->port_latency +
           Femtoseconds{static_cast<std::int64_t>(driven.media.mean() * 1000)};
  }
  throw UserError(scenario.general.name + ": no memory with DRAM banks, expected one");
}

std::vector<Point> curve(const std::string& file, const hw::GpuConfig& gpu, Femtoseconds memory) {
  const Csv csv = read_data(file);
  const DataColumn kib(csv, "array_kb"), cycles(csv, "cycles"), clock(csv, "clock_mhz");
  std::vector<Point> points;
  for (const Csv::Row& row : csv.rows) {
    const Bytes array{static_cast<std::uint64_t>(kib.number(row)) * 1024};
    const double clocks = hw::chase(gpu, array, memory).latency.seconds() * clock.number(row) * 1e6;
    points.push_back({kib.number(row), cycles.number(row), clocks});
  }
  return points;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? NAN : values[values.size() / 2];
}

/// The size at which the curve crosses `level` for the first time from `from` on.
double crossing(const std::vector<Point>& points, double Point::*curve, double level, double from) {
  for (std::size_t i = 1; i < points.size(); ++i) {
    const Point &a = points[i - 1], &b = points[i];
    if (b.kib <= from || !(b.*curve >= level && a.*curve < level)) continue;
    return a.kib + (b.kib - a.kib) * (level - a.*curve) / (b.*curve - a.*curve);
  }
  return NAN;
}

/// A stretch of sizes in which one memory answers; knees lie half way between two levels.
struct Plateau {
  const char* name;
  double from, to; ///< KiB
};

void add_device(const Study& study, const std::string& name, std::vector<Row>& rows) {
  const hw::Scenario scenario = scenario_of(study.published.machine(name));
  const double l1 = static_cast<double>(scenario.gpu.l1.capacity.count) / 1024,
               l2 = static_cast<double>(scenario.gpu.l2.capacity.count) / 1024;
  const auto points = curve(study.file(name), scenario.gpu, memory_latency(scenario));
  const Plateau plateaus[] = {{"L1", 0, l1 / 2},
                              {"near", 2 * l1, 0.375 * l2},
                              {"far", 0.75 * l2, 0.95 * l2},
                              {"memory", 4 * l2, INFINITY}};
  double before[2] = {};
  for (const Plateau& plateau : plateaus) {
    double level[2];
    int which = 0;
    for (const auto curve : {&Point::measured, &Point::simulated}) {
      std::vector<double> values;
      for (const Point& point : points)
        if (point.kib >= plateau.from && point.kib <= plateau.to) values.push_back(point.*curve);
      level[which++] = median(values);
    }
    rows.push_back({fmt::format("{}/{}", name, plateau.name), "plateau",
                    fmt::format("{} latency", plateau.name), "clk", level[0], level[1]});
    if (&plateau != plateaus) {
      const double from = plateau.name == std::string("near") ? l1 / 2 : 0.375 * l2;
      rows.push_back({fmt::format("{}/to {}", name, plateau.name), "knee",
                      fmt::format("array at half way to {}", plateau.name), "KiB",
                      crossing(points, &Point::measured, (before[0] + level[0]) / 2, from),
                      crossing(points, &Point::simulated, (before[1] + level[1]) / 2, from)});
    }
    std::copy(level, level + 2, before);
  }
  for (const Point& point : points)
    rows.push_back({fmt::format("{}/{:.0f}", name, point.kib), "curve",
                    fmt::format("array of {:.0f} KiB", point.kib), "clk", point.measured,
                    point.simulated});
}

std::vector<Row> run(const Study& study) {
  std::vector<Row> rows;
  for (const auto& [name, machine] : study.published.machines)
    add_device(study, name, rows);
  return rows;
}

} // namespace

ValidationSuite gpu_chase_suite() {
  return {"gpu-chase", "load-to-use latency of an A100 and an H100 against array size", run};
}

} // namespace umf::app
