#include "app/tables/memories.h"

#include <fmt/format.h>

#include <algorithm>

/// Read latency against load.
namespace umf::app {

namespace {

namespace dram = hw::dram;

constexpr double kFlat = 1.005; ///< twice as many in flight gain less: saturated
constexpr std::uint32_t kRates[] = {10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 100}; ///< % of peak

/// Reads in order, or two streams that read beside one that writes.
dram::Traffic traffic_of(const dram::Dram& whole, bool mixed) {
  dram::Traffic traffic = traffic_over(whole);
  if (!mixed) return traffic;
  traffic.streams = traffic.period = 3;
  traffic.writes = 1;
  return traffic;
}

class Rows {
public:
  Rows(Table& table, const DramTier& tier, bool mixed)
      : table_(table), tier_(tier), mixed_(mixed) {}

  void closed() {
    // Beyond what the queues hold, the loop is no longer what limits.
    const dram::DramConfig& c = tier_.config;
    const std::uint32_t held = c.units * c.stacks * c.controller.read_queue;
    double before = 0;
    for (std::uint32_t n = 1; n <= held; n *= 2) {
      dram::Drive how;
      how.outstanding = n;
      // So few in flight go at their latency: some refresh intervals of it, or of the peak.
      const std::uint64_t most = accesses_of(tier_.config, 2.5);
      how.requests = std::clamp<std::uint64_t>(std::uint64_t{n} * 512, 4096, most);
      const double reached = row("closed", n, how);
      if (reached < before * kFlat) break;
      before = reached;
    }
  }

  void open() {
    for (const std::uint32_t percent : kRates) {
      dram::Drive how;
      how.rate = BytesPerSecond{dram::Dram(tier_.config).peak().value * percent / 100};
      how.requests = accesses_of(tier_.config, 2.5 * percent / 100);
      row("open", percent, how);
    }
  }

private:
  /// The share of the peak reached.
  double row(std::string_view driven_by, std::uint32_t load, dram::Drive how) {
    dram::Dram whole(tier_.config);
    how.traffic = traffic_of(whole, mixed_);
    how.warm_up = how.requests / 5;
    const dram::Driven driven = drive(whole, how);
    std::vector<Cell> cells = {
        cell(tier_.name),           cell(mixed_ ? "0.67" : "1.00"), cell(driven_by),
        cell(std::to_string(load)), gigabytes(driven.bandwidth),    share(driven.share)};
    const auto add = [&](const Histogram& latency, Femtoseconds more) {
      for (const double ps : {latency.mean(), static_cast<double>(latency.percentile(50)),
                              static_cast<double>(latency.percentile(99))})
        cells.push_back(nanoseconds(ps / 1e3 + more.nanoseconds()));
    };
    add(driven.media, tier_.controller);
    add(driven.port, tier_.controller + tier_.port);
    table_.rows.push_back(std::move(cells));
    return driven.share;
  }

  Table& table_;
  const DramTier& tier_;
  bool mixed_;
};

Table loaded_latency(const TableOptions& options) {
  const Memories memories = memories_of(scenario_of(options), options);
  Table table;
  table.title =
      "How long do reads take under load, and what does the memory carry?\n" + described(memories) +
      "\nclosed: so many requests in flight; open: offered evenly at so many % of the peak (beyond "
      "what is\ncarried, latency grows with the run: 2.5 refresh intervals). Requests go in order "
      "to one queue a unit.\nread share 1.00: one stream in order; 0.67: two that read beside one "
      "that writes, bandwidth of both.\nmedia: from the unit's queue to the last of the data, with "
      "controller_latency; port: from the request,\nwaiting for a queue included, with the "
      "device's port.";
  table.columns = {
      key("tier", "tier"),
      key("read_share", "read share"),
      key("driven", "driven"),
      {.name = "load", .heading = "load (in flight, % of peak)", .unit = "", .is_key = true},
      figure("GB_per_s", "GB/s", "GB/s"),
      figure("share", "of peak", ""),
      figure("media_mean_ns", "media mean ns", "ns"),
      figure("media_p50_ns", "p50", "ns"),
      figure("media_p99_ns", "p99", "ns"),
      figure("port_mean_ns", "port mean ns", "ns"),
      figure("port_p50_ns", "p50", "ns"),
      figure("port_p99_ns", "p99", "ns")};
  for (const DramTier& tier : memories.dram)
    for (const bool mixed : {false, true}) {
      Rows rows(table, tier, mixed);
      rows.closed();
      rows.open();
    }
  return table;
}

} // namespace

Suite loaded_latency_suite() {
  return {"loaded-latency", "read latency against requests in flight and offered rate",
          loaded_latency};
}

} // namespace umf::app
