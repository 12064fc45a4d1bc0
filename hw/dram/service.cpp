#include "hw/dram/service.h"

#include "hw/dram/unit_load.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace umf::hw::dram {

namespace {

/// Read shares, in sixteenths: writes lose most to the first reads among them.
constexpr std::array<std::uint32_t, 7> kReads = {0, 1, 2, 4, 8, 12, 16};
constexpr std::uint32_t kParts = 16;
constexpr std::array<std::uint32_t, 2> kStreams = {1, 4}; ///< 1: two of a mixed share
/// Accesses that a unit gets of the longest runs.
constexpr std::uint64_t kLongest = 256;
constexpr std::uint64_t kEnough = 6000; ///< accesses, of runs at many places

/// Streams of one direction each, in number and weight such that the whole has the read share.
std::vector<Stream> mixed(std::uint32_t reads, std::uint32_t streams, Bytes run) {
  if (reads == 0 || reads == kParts)
    return std::vector<Stream>(streams, Stream{run, reads == 0, 1});
  const std::uint32_t of_reads =
      std::clamp((streams * reads + kParts / 2) / kParts, 1U, std::max(streams, 2U) - 1);
  const std::uint32_t of_writes = std::max(streams, 2U) - of_reads;
  std::vector<Stream> all(of_reads, Stream{run, false, reads * of_writes});
  all.resize(of_reads + of_writes, Stream{run, true, (kParts - reads) * of_reads});
  return all;
}

/// Where `x` lies among ascending nodes: between `at` and the next, `part` of the way.
struct Between {
  std::size_t at = 0;
  double part = 0;
};
Between between(std::span<const double> nodes, double x) {
  std::size_t at = 0;
  while (at + 2 < nodes.size() && nodes[at + 1] <= x)
    ++at;
  const double part = (x - nodes[at]) / (nodes[at + 1] - nodes[at]);
  return {at, std::clamp(part, 0.0, 1.0)};
}

/// Linear; an end that does not count is not asked for.
template <class Value>
double between(const Between& place, Value value) {
  constexpr double kNothing = 1e-3;
  if (place.part < kNothing) return value(place.at);
  if (place.part > 1 - kNothing) return value(place.at + 1);
  return (1 - place.part) * value(place.at) + place.part * value(place.at + 1);
}

/// Everything the engine reads of a configuration, in words.
std::string key_of(const DramConfig& c) {
  const Organisation& o = c.organisation;
  const Timings& t = c.timings;
  const ControllerConfig& k = c.controller;
  std::string key;
  for (const std::int64_t value :
       std::initializer_list<std::int64_t>{o.ranks,
                                           o.bank_groups,
                                           o.banks,
                                           o.rows,
                                           o.row_bytes,
                                           o.access_bytes,
                                           t.clock.count,
                                           t.burst,
                                           t.tCL,
                                           t.tCWL,
                                           t.tRCDRD,
                                           t.tRCDWR,
                                           t.tRP,
                                           t.tRAS,
                                           t.tRC,
                                           t.tCCDS,
                                           t.tCCDL,
                                           t.tCCDR,
                                           t.tCCDSWR,
                                           t.tCCDLWR,
                                           t.tRRDS,
                                           t.tRRDL,
                                           t.tFAW,
                                           t.tRTP,
                                           t.tWR,
                                           t.tWTRS,
                                           t.tWTRL,
                                           t.tRTW,
                                           t.tRTRS,
                                           t.tPPD,
                                           t.tREFI,
                                           t.tRFCab,
                                           t.tRFCpb,
                                           t.tRREFD,
                                           t.act_clocks,
                                           t.column_clocks,
                                           t.shared_bus,
                                           t.refresh_banks,
                                           k.read_queue,
                                           k.write_queue,
                                           k.write_high,
                                           k.write_low,
                                           k.age_cap.count,
                                           static_cast<int>(k.page),
                                           k.page_timeout.count,
                                           static_cast<int>(k.refresh),
                                           k.postpone,
                                           c.units,
                                           c.stacks,
                                           static_cast<std::int64_t>(k.interleave.count)})
    key.append(std::to_string(value)).append(" ");
  for (const std::string& field : k.mapping)
    key.append(field).append(" ");
  for (const std::string& field : k.hash.value_or(std::vector<std::string>{}))
    key.append(field).append(" ");
  return key;
}

} // namespace

/// Time an access in bursts of the bus, by read share, run and streams.
class Service::Grid {
public:
  explicit Grid(const DramConfig& tier) : load_(tier) {
    // From the longest run to one that opens a row for each access.
    const std::uint64_t shortest = load_.apart();
    const std::uint64_t longest = std::max(load_.units() * kLongest, 2 * shortest);
    for (std::uint64_t run = longest; run > shortest; run /= 2)
      runs_.push_back(run);
    runs_.push_back(shortest);
    for (const std::uint64_t run : runs_)
      per_access_.push_back(1.0 / static_cast<double>(run));
    for (std::size_t r = 0; r < kReads.size(); ++r) {
      reads_[r] = static_cast<double>(kReads[r]) / kParts;
      for (std::size_t s = 0; s < kStreams.size(); ++s)
        streams_[r][s] = static_cast<double>(mixed(kReads[r], kStreams[s], {}).size());
    }
    times_.resize(kReads.size() * runs_.size() * kStreams.size());
  }

  double time(const ServiceState& state) {
    const double access = load_.config().organisation.access_bytes;
    const Between run = between(per_access_, access / state.run);
    return between(between(reads_, state.read_share), [&](std::size_t r) {
      const Between beside = between(streams_[r], state.streams);
      return between(run, [&](std::size_t l) {
        return between(beside, [&](std::size_t s) { return measured(r, l, s); });
      });
    });
  }

  const Timings& timings() const { return load_.config().timings; }
  Bytes shortest() const { return {runs_.back() * load_.config().organisation.access_bytes}; }
  Bytes held() const {
    const DramConfig& c = load_.config();
    return {std::uint64_t{load_.units()} * (c.controller.read_queue + c.controller.write_queue) *
            c.organisation.access_bytes};
  }

private:
  double measured(std::size_t r, std::size_t l, std::size_t s) {
    if (l + 1 == runs_.size()) s = 0; // single accesses: nothing to tell streams by
    double& time = times_[(r * runs_.size() + l) * kStreams.size() + s];
    if (time == 0) time = 1 / measure(r, l, s);
    return time;
  }

  /// Refreshes that may be put off have been before it counts; then whole intervals of refreshes
  /// and some runs of every stream.
  double measure(std::size_t r, std::size_t l, std::size_t s) const {
    const DramConfig& config = load_.config();
    const Timings& t = config.timings;
    const std::uint64_t run = l + 1 == runs_.size() ? 1 : runs_[l];
    const auto streams = mixed(kReads[r], kStreams[s], {run * config.organisation.access_bytes});
    const bool all_bank = config.controller.refresh == RefreshMode::all_bank;
    const Cycle sets = all_bank ? 1 : config.organisation.banks_of_rank() / t.refresh_banks;
    const Cycle due = t.tREFI / sets;
    const Cycle owed = due * config.controller.postpone + due + due / 2;
    const std::uint64_t some = 4 * run / load_.units() * streams.size();
    return load_.share(streams, {owed, t.tREFI, std::min(some, kEnough)});
  }

  UnitLoad load_;
  std::vector<std::uint64_t> runs_; ///< accesses, descending
  std::vector<double> per_access_;  ///< runs an access, ascending
  std::array<double, kReads.size()> reads_{};
  std::array<std::array<double, kStreams.size()>, kReads.size()> streams_{};
  std::vector<double> times_; ///< 0: not measured
};

Service::Service(const DramConfig& config) {
  static std::map<std::string, std::shared_ptr<Grid>> known;
  std::shared_ptr<Grid>& grid = known[key_of(config)];
  if (!grid) grid = std::make_shared<Grid>(config);
  grid_ = grid;
}

double Service::share(const ServiceState& state) const {
  return 1 / grid_->time(state);
}

Bytes Service::shortest() const {
  return grid_->shortest();
}

Bytes Service::held() const {
  return grid_->held();
}

Femtoseconds Service::latency() const {
  const Timings& t = grid_->timings();
  return t.clock * (t.tRCDRD + t.tCL + t.burst);
}

} // namespace umf::hw::dram
