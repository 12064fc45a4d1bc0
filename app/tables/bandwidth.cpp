#include "app/tables/memories.h"

#include <fmt/format.h>

#include <algorithm>

/// What a memory carries when it is pressed as hard as its queues take it.
namespace umf::app {

namespace {

namespace dram = hw::dram;

/// Reads of each four accesses.
constexpr std::uint32_t kReads[] = {4, 3, 2, 0};
constexpr std::uint64_t kSingle = 0; ///< a run of one access
constexpr std::uint64_t kRuns[] = {kSingle, 256, 1024, 4096, 65536};
constexpr std::uint32_t kStreams = 8;

enum class Locality { sequential, random, streams };

struct Pattern {
  Locality locality;
  std::uint64_t run; ///< bytes; nothing for sequential
  std::uint32_t reads;
};

dram::Traffic traffic_of(const dram::Dram& whole, const Pattern& pattern) {
  dram::Traffic traffic = traffic_over(whole);
  const bool mixed = pattern.reads != 0 && pattern.reads != 4;
  traffic.period = pattern.reads == 2 ? 2 : 4;
  traffic.writes = traffic.period - pattern.reads * traffic.period / 4;
  if (pattern.locality == Locality::sequential) {
    // Each stream has one direction, as those of a copy do.
    if (mixed) traffic.streams = traffic.period;
    return traffic;
  }
  traffic.run = pattern.run == kSingle ? traffic.access : Bytes{pattern.run};
  if (pattern.locality == Locality::streams)
    traffic.streams = kStreams; // a whole number of periods: one direction each
  else
    traffic.writes_by_run = true;
  return traffic;
}

std::string_view direction_of(std::uint32_t reads) {
  return reads == 4 ? "read" : reads == 0 ? "write" : "mixed";
}

std::string_view name_of(Locality locality) {
  switch (locality) {
  case Locality::sequential:
    return "sequential";
  case Locality::random:
    return "random";
  case Locality::streams:
    break;
  }
  return "8 streams";
}

/// Two refresh intervals or more after the warm-up; fewer units are played for longer.
std::uint64_t requests_of(const dram::DramConfig& config, const Pattern& pattern) {
  constexpr std::uint64_t kEnough = 200'000;
  const bool quick = pattern.locality == Locality::sequential || pattern.run >= 65536;
  const std::uint64_t least = accesses_of(config, quick ? 2.25 : 1.25); // half as fast
  return std::clamp(kEnough, least, 4 * least);
}

void add(Table& table, const DramTier& tier, const Pattern& pattern) {
  dram::Dram whole(tier.config);
  dram::Drive how;
  how.traffic = traffic_of(whole, pattern);
  how.requests = requests_of(tier.config, pattern);
  how.warm_up = how.requests / 10;
  const dram::Driven driven = drive(whole, how);
  const dram::DramStatistics& all = driven.statistics;
  const auto accesses = static_cast<double>(all.sum.reads + all.sum.writes);
  const auto clocks = static_cast<double>(all.sum.last_data);
  const std::string run =
      pattern.locality == Locality::sequential
          ? "endless"
          : fmt::format("{}", pattern.run == kSingle ? whole.access_bytes() : pattern.run);
  table.rows.push_back(
      {cell(tier.name), cell(name_of(pattern.locality)), cell(run),
       cell(direction_of(pattern.reads)), cell(fmt::format("{:.2f}", pattern.reads / 4.0)),
       gigabytes(driven.bandwidth), share(driven.share),
       cell(driven.by_mapping ? "mapping" : hw::dram::name_of(driven.limit)),
       share(static_cast<double>(all.sum.row_hits) / accesses),
       share(static_cast<double>(all.sum.busy) / clocks / whole.units()),
       share(static_cast<double>(all.most_busy) / clocks),
       cell(std::to_string(all.refreshes_issued)), cell(std::to_string(all.refreshes_due))});
}

Table bandwidth(const TableOptions& options) {
  const Memories memories = memories_of(scenario_of(options), options);
  Table table;
  table.title =
      "What does the memory carry when it is pressed? (boundary: media)\n" + described(memories) +
      "\nRequests go in order, as many as the queues take, and wait at the first that is full. "
      "Directions change\nfrom run to run (random), or each stream has its own. GB/s of reads and "
      "writes together, after a warm-up;\nthe other figures are of the whole run. limit: what cost "
      "the data bus most; mapping: requests that came\nin the order of their addresses left units "
      "without any.";
  table.columns = {key("tier", "tier"),
                   key("locality", "locality"),
                   {.name = "run_bytes", .heading = "run B", .unit = "B", .is_key = true},
                   key("direction", "direction"),
                   key("read_share", "read share"),
                   figure("GB_per_s", "GB/s", "GB/s"),
                   figure("share", "of peak", ""),
                   text("limit", "limit"),
                   figure("row_hit_rate", "row hits", ""),
                   figure("busy_mean", "busy", ""),
                   figure("busy_most", "busiest unit", ""),
                   figure("refreshes_issued", "refreshes", ""),
                   figure("refreshes_due", "due", "")};
  for (const DramTier& tier : memories.dram) {
    for (const std::uint32_t reads : kReads)
      add(table, tier, {Locality::sequential, kSingle, reads});
    for (const Locality locality : {Locality::random, Locality::streams})
      for (const std::uint64_t run : kRuns) {
        // Single accesses of eight streams are those of one.
        if (locality == Locality::streams && run == kSingle) continue;
        for (const std::uint32_t reads : kReads)
          add(table, tier, {locality, run, reads});
      }
  }
  return table;
}

} // namespace

Suite bandwidth_suite() {
  return {"bandwidth", "what each DRAM carries by run length, read share and locality", bandwidth};
}

} // namespace umf::app
