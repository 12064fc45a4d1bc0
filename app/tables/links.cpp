#include "app/tables/line_paths.h"

#include <fmt/format.h>

#include <algorithm>

/// What links carry at line resolution, packet by packet.
namespace umf::app {

namespace {

namespace link = hw::link;

struct Mix {
  std::string_view direction;
  std::uint32_t writes, period;
};
constexpr Mix kMixes[] = {{"read", 0, 1}, {"2:1 mix", 1, 3}, {"1:1 mix", 1, 2}, {"write", 1, 1}};
constexpr std::uint64_t kSizes[] = {64, 512, 4096};
constexpr std::uint32_t kOutstanding[] = {1, 16, 256};
constexpr std::uint64_t kLines = 20'000; ///< of 64 B, a row at most

void add(Table& table, const LinePath& path, const Mix& mix, std::uint64_t size,
         std::uint32_t outstanding) {
  link::Load load;
  load.size = Bytes{size};
  load.writes = mix.writes;
  load.period = mix.period;
  load.outstanding = outstanding;
  load.footprint = Bytes{std::uint64_t{1} << 28};
  load.transactions =
      std::clamp<std::uint64_t>(kLines * 64 / size, 4 * outstanding, 200 * outstanding);
  std::vector<std::string> names;
  const link::Driven driven = path.drive(load, &names);
  const link::Loaded& l = driven.loads[0];
  const double share_of_reads = 1 - static_cast<double>(mix.writes) / mix.period;
  const double rate = l.read_rate.value + l.write_rate.value;
  const auto formula = path.formula(share_of_reads, load.size);
  const link::DirectionStatistics& busiest = driven.directions[driven.busiest];
  const bool wired = !path.hops.empty();
  const auto of_busy = [&](Femtoseconds time) {
    const double busy = static_cast<double>(busiest.busy().count);
    return share(wired && busy > 0 ? static_cast<double>(time.count) / busy : 0);
  };
  const auto ns = [](const Histogram& latency, double value) {
    return latency.count() == 0 ? cell("") : nanoseconds(value / 1e3);
  };
  const auto p99 = [](const Histogram& latency) {
    return static_cast<double>(latency.percentile(99));
  };
  table.rows.push_back(
      {cell(path.to), cell(path.way), cell(mix.direction),
       cell(fmt::format("{:.2f}", share_of_reads)), cell(std::to_string(size)),
       cell(std::to_string(outstanding)), gigabytes({rate}), ns(l.read_port, l.read_port.mean()),
       ns(l.read_port, p99(l.read_port)), ns(l.write_port, l.write_port.mean()),
       cell(wired ? names[driven.busiest] : "none"), share(wired ? driven.busiest_share : 0),
       of_busy(busiest.payload), of_busy(busiest.headers), of_busy(busiest.control),
       of_busy(busiest.replay), formula ? gigabytes(*formula) : cell(""),
       cell(std::string(link::name_of(driven.limit)))});
}

Table links(const TableOptions& options) {
  const hw::Scenario scenario = scenario_of(options);
  const Memories memories = memories_of(scenario, options);
  Table table;
  table.title =
      "What do links carry, packet by packet, and how long does it take?\n" + described(memories) +
      "\nFrom gpu0: transactions of one size in order, so many in flight; cut as each link's keys "
      "say. Keys that only\nline resolution has keep their defaults (hw/link). GB/s of reads and "
      "writes together; 2:1 mix: two reads to a\nwrite, evenly spread. Latency from the first "
      "packet (boundary: port) to the last data, of posted writes to\nmemory. wire: the busiest "
      "direction of a link, how busy, and what of that is payload, headers and framing, ACKs\nand "
      "credits, replays. formula: the slowest hop at burst resolution, without media and bounds on "
      "what is in flight.";
  table.columns = {key("to", "to"),
                   key("way", "way"),
                   key("direction", "direction"),
                   key("read_share", "read share"),
                   {.name = "size_bytes", .heading = "size B", .unit = "B", .is_key = true},
                   key("outstanding", "in flight"),
                   figure("GB_per_s", "GB/s", "GB/s"),
                   figure("read_mean_ns", "read ns", "ns"),
                   figure("read_p99_ns", "p99", "ns"),
                   figure("write_mean_ns", "write ns", "ns"),
                   text("wire", "wire"),
                   figure("busy", "busy", ""),
                   figure("payload", "payload", ""),
                   figure("headers", "headers", ""),
                   figure("control", "DLLPs", ""),
                   figure("replay", "replays", ""),
                   figure("formula_GB_per_s", "formula", "GB/s"),
                   text("limit", "limit")};
  for (const LinePath& path : line_paths(scenario, memories, options))
    for (const Mix& mix : kMixes)
      for (const std::uint64_t size : kSizes)
        for (const std::uint32_t outstanding : kOutstanding)
          add(table, path, mix, size, outstanding);
  return table;
}

} // namespace

Suite links_suite() {
  return {"links", "what the ways to each memory carry packet by packet", links};
}

} // namespace umf::app
