#include "app/validate/replayed.h"
#include "app/validate/suites.h"
#include "hw/dram/drive.h"
#include "hw/gpu/chase.h"
#include "model/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

/// Latency of a pointer chase beside a load of reads, through the banks.
namespace umf::app {

namespace {

namespace dram = hw::dram;
using dram::Cycle;

struct Waited {
  double queue = 0, memory = 0; ///< ns: in front of the unit's full queue; from there to the data
};

/// Reads that reach a unit of the memory, which knows nothing of the others: batches of consecutive
/// ones at drawn times (Poisson), each at a drawn place; now and then a lone one that is timed.
class Arrivals {
public:
  Arrivals(const dram::Dram& unit, double load, std::uint64_t batch)
      : places_(unit.bytes() / unit.access_bytes()), access_(unit.access_bytes()),
        batch_(std::max<std::uint64_t>(batch / access_, 1)) {
    const double each =
        static_cast<double>(unit.config().timings.burst * static_cast<Cycle>(batch_));
    gap_ = load > 0 ? each / load : 0;
    next_batch_ = load > 0 ? drawn_gap() : dram::kNever;
  }

  std::optional<dram::Drive::Arrival> next() {
    if (left_ > 0) {
      --left_;
      place_ += access_;
      return dram::Drive::Arrival{at_, place_, false, false};
    }
    if (next_batch_ <= next_probe_) {
      at_ = next_batch_;
      left_ = batch_ - 1;
      place_ = drawn_place(batch_);
      next_batch_ += drawn_gap();
      return dram::Drive::Arrival{at_, place_, false, false};
    }
    if (++probes_ > kProbes) return std::nullopt;
    at_ = next_probe_;
    next_probe_ += kBetweenProbes + static_cast<Cycle>(draw() % kBetweenProbes);
    return dram::Drive::Arrival{at_, drawn_place(1), false, true};
  }

private:
  static constexpr std::uint32_t kProbes = 2000;
  static constexpr Cycle kBetweenProbes = 900; ///< clocks, and so many more drawn

  std::uint64_t draw() { return dram::splitmix64(++drawn_); }
  double uniform() { return (static_cast<double>(draw() >> 11) + 0.5) / 9007199254740992.0; }
  Cycle drawn_gap() { return static_cast<Cycle>(-std::log(uniform()) * gap_); }
  std::uint64_t drawn_place(std::uint64_t accesses) {
    return draw() % (places_ / accesses) * accesses * access_;
  }

  std::uint64_t places_, access_, batch_;
  double gap_ = 0;
  std::uint64_t drawn_ = 0, left_ = 0, place_ = 0;
  Cycle at_ = 0, next_batch_ = 0, next_probe_ = kBetweenProbes;
  std::uint32_t probes_ = 0;
};

/// What the timed ones wait, in line where the unit's queue is full and then for their data.
Waited loaded(const dram::DramConfig& one, double load, std::uint64_t batch) {
  dram::Dram unit(one);
  Arrivals arrivals(unit, load, batch);
  dram::Drive how;
  how.arrivals = [&arrivals] { return arrivals.next(); };
  const dram::Driven driven = drive(unit, how);
  const double memory = driven.media.mean() / 1e3;
  return {driven.port.mean() / 1e3 - memory, memory};
}

dram::DramConfig one_unit(const dram::Media& media) {
  dram::DramConfig config = dram::config(media);
  config.stacks = config.units = 1;
  return config;
}

std::vector<Row> run(const Study& study) {
  const Published& published = study.published;
  const hw::Scenario scenario = scenario_of(published.machine("h100"));
  const auto tier = std::find_if(scenario.tiers.begin(), scenario.tiers.end(),
                                 [](const auto& t) { return t->on_package() && t->line(); });
  if (tier == scenario.tiers.end())
    throw UserError(published.file + ": the machine has no memory with DRAM banks");
  const auto line = *(*tier)->line();
  const double peak = dram::peak(line.media).value / 1e9;
  const auto batch = static_cast<std::uint64_t>(published.figure("batch_bytes"));
  const Waited idle = loaded(one_unit(line.media), 0, batch);
  const auto& l2 = scenario.gpu.l2;
  const double beyond = // SM to controller and back, without waiting
      static_cast<double>(l2.near_latency.count + l2.far_latency.count) / 2e6 +
      (l2.miss_latency + line.media_latency + line.port_latency).nanoseconds();

  const Csv csv = read_data(study.file("curve"));
  const DataColumn reads(csv, "rd_percentage"), pause(csv, "pause"), rate(csv, "read_GBps"),
      latency(csv, "latency_ns");
  double measured_idle = 0;
  for (const Csv::Row& row : csv.rows)
    if (reads.number(row) == 100 && (measured_idle == 0 || latency.number(row) < measured_idle))
      measured_idle = latency.number(row);
  std::vector<Row> rows;
  rows.push_back({"latency/idle", "idle", "nothing beside the chase", "ns", measured_idle,
                  beyond + idle.queue + idle.memory});
  for (const Csv::Row& row : csv.rows) {
    if (reads.number(row) != 100) continue;
    const double load = rate.number(row) / peak;
    const double least = published.figure("least_load"), most = published.figure("most_load");
    if (load < least || load > most) continue;
    const Waited waited = loaded(one_unit(line.media), load, batch);
    const double queue = waited.queue - idle.queue, memory = waited.memory - idle.memory;
    rows.push_back({"added/" + pause.text(row), "added",
                    fmt::format("at {:.0f} % of peak; of it {:.0f} ns in DRAM queues and banks, "
                                "{:.0f} ns before them, 0 ns in L2 slices and crossbar",
                                100 * load, memory, queue),
                    "ns", latency.number(row) - measured_idle, queue + memory});
  }
  // Saturation: as many bytes in flight as the load generator keeps, a unit's share of them.
  const dram::DramConfig all = dram::config(line.media);
  dram::Dram unit(one_unit(line.media));
  dram::Drive how;
  how.traffic.access = {unit.access_bytes()};
  how.traffic.run = {batch};
  how.traffic.footprint = {unit.bytes() / batch * batch};
  how.outstanding = static_cast<std::uint32_t>(published.figure("bytes_in_flight") /
                                               unit.access_bytes() / (all.units * all.stacks));
  how.window = how.outstanding;
  how.requests = 400'000;
  how.warm_up = 100'000;
  const dram::Driven driven = drive(unit, how);
  const Csv::Row& saturated = csv.rows.front();
  rows.push_back({"bandwidth/" + pause.text(saturated), "bandwidth", "saturated, closed loop",
                  "GB/s", rate.number(saturated), driven.share * peak, peak});
  rows.push_back({"saturated/" + pause.text(saturated), "saturated", "latency there", "ns",
                  latency.number(saturated), beyond + driven.port.mean() / 1e3});
  return rows;
}

} // namespace

ValidationSuite loaded_suite() {
  return {"gpu-loaded", "latency of a chase beside a load of reads on an H100 of 64 GB", run};
}

} // namespace umf::app
