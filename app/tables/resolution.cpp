#include "app/tables/memories.h"
#include "hw/fabric/dram_flow.h"
#include "model/base/quantity.h"
#include "model/base/random.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

/// What the burst resolution says a memory carries, against its banks under the same traffic.
namespace umf::app {

namespace {

namespace dram = hw::dram;

constexpr std::size_t kDraws = 8; ///< of each kind

/// Streams alike: each moves runs one after the other, a burst at burst resolution.
struct Group {
  std::uint32_t count = 1;
  std::uint64_t run = 1; ///< accesses
  bool write = false;
  std::uint32_t weight = 1;
  double cap = 0; ///< share of the peak that all of them ask for at most; nothing: what they get
  hw::Urgency urgency = hw::Urgency::demand;
};

struct Point {
  std::string name;
  std::vector<Group> groups;
};

/// Points drawn by chance, so that none lies where curves were measured.
class Points {
public:
  Points(const DramTier& tier, std::string_view kind)
      : random_(1, fmt::format("resolution/{}", kind)),
        longest_(512 * std::uint64_t{tier.config.units} * tier.config.stacks) {}

  /// As likely between 10 and 20 as between 100 and 200.
  std::uint64_t log_uniform(std::uint64_t most) {
    const double bits = std::log2(static_cast<double>(most) + 1);
    return static_cast<std::uint64_t>(std::exp2(random_.next_unit() * bits));
  }
  std::uint64_t run() { return log_uniform(longest_); }
  std::uint32_t streams() { return static_cast<std::uint32_t>(log_uniform(24)); }
  bool chance(double share) { return random_.next_unit() < share; }
  double between(double least, double most) { return least + random_.next_unit() * (most - least); }

private:
  RandomStream random_;
  std::uint64_t longest_; ///< accesses: beyond the longest that curves know
};

using Groups = std::vector<Group>;

Groups alike(Points& draw) {
  return {{draw.streams(), draw.run(), draw.chance(0.3)}};
}
Groups reads_and_writes(Points& draw) {
  const std::uint64_t run = draw.run();
  return {{draw.streams(), run}, {draw.streams(), run, true}};
}
Groups short_and_long(Points& draw) {
  return {{draw.streams(), draw.run(), draw.chance(0.3)},
          {draw.streams(), draw.run(), draw.chance(0.3)}};
}
Groups tenants(Points& draw) {
  const auto weight = static_cast<std::uint32_t>(draw.between(2, 6));
  return {{draw.streams(), draw.run(), draw.chance(0.3)},
          {draw.streams(), draw.run(), draw.chance(0.3), weight}};
}
/// Reads that ask for a part of the peak, and copies that take what is left.
Groups background(Points& draw) {
  return {{draw.streams(), draw.run(), false, 1, draw.between(0.1, 0.4)},
          {draw.streams(), draw.run(), draw.chance(0.5), 1, 0, hw::Urgency::background}};
}

struct Kind {
  std::string_view name;
  Groups (*draw)(Points&);
};
constexpr Kind kKinds[] = {{"alike", alike},
                           {"reads and writes", reads_and_writes},
                           {"short and long", short_and_long},
                           {"two tenants", tenants},
                           {"background", background}};

std::vector<Point> points_of(const DramTier& tier) {
  std::vector<Point> points;
  for (const Kind& kind : kKinds) {
    Points draw(tier, kind.name);
    for (std::size_t n = 1; n <= kDraws; ++n)
      points.push_back({fmt::format("{} {}", kind.name, n), kind.draw(draw)});
  }
  return points;
}

/// The tier at burst resolution, without a machine around it.
class Bursts {
public:
  explicit Bursts(const DramTier& tier)
      : tier_(tier), clock_(sc_core::sc_gen_unique_name("flows")),
        flow_(clock_, tier.media, {}, tier.name, hw::Cause::hbm_bandwidth),
        peak_(dram::peak(tier.media).value) {}

  struct Carried {
    double rate = 0;            ///< bytes a second
    std::vector<double> shares; ///< of it, by stream
  };
  /// Every stream in a closed loop: the next burst as soon as one has ended.
  Carried carry(const Point& point) {
    start(point);
    const Femtoseconds begin = now_;
    const double before = network().carried_at(flow_.resource(), now_);
    while (std::any_of(streams_.begin(), streams_.end(),
                       [](const Running& stream) { return stream.ends < kEnds; }))
      step(true);
    Carried carried;
    const double bytes = network().carried_at(flow_.resource(), now_) - before;
    carried.rate = bytes / (now_ - begin).seconds();
    for (const Running& stream : streams_) {
      const double left = network().remaining_at(stream.flow, now_);
      carried.shares.push_back((stream.run * (stream.ends + 1) - left) / bytes);
    }
    while (network().active_flows() > 0)
      step(false);
    return carried;
  }

private:
  static constexpr int kEnds = 3; ///< of the slowest stream

  struct Running {
    std::vector<hw::Hop> hops;
    double run = 0, weight = 1;
    bool write = false;
    hw::Urgency urgency = hw::Urgency::demand;
    hw::FlowId flow = 0;
    int ends = 0;
  };

  hw::FlowNetwork& network() { return clock_.network(); }

  void start(const Point& point) {
    streams_.clear();
    for (const Group& group : point.groups) {
      std::vector<hw::Hop> hops{{flow_.resource(), 1.0}};
      if (group.cap > 0)
        hops.push_back({clock_.add_resource("asked", group.cap * peak_, hw::Cause::compute), 1.0});
      const double run = static_cast<double>(group.run * tier_.config.organisation.access_bytes);
      streams_.resize(streams_.size() + group.count,
                      {hops, run, static_cast<double>(group.weight), group.write, group.urgency});
    }
    for (std::size_t s = 0; s < streams_.size(); ++s)
      begin_burst(s);
  }

  void begin_burst(std::size_t s) {
    Running& stream = streams_[s];
    stream.flow = network().start(now_, stream.run, stream.hops, stream.urgency, stream.write, s,
                                  stream.weight);
  }

  void step(bool again) {
    now_ = network().next_event();
    ended_.clear();
    network().advance(now_, ended_);
    for (const auto& end : ended_) {
      ++streams_[end.tag].ends;
      if (again) begin_burst(end.tag);
    }
  }

  const DramTier& tier_;
  hw::FlowClock clock_;
  hw::DramFlow flow_;
  double peak_;
  std::vector<Running> streams_;
  std::vector<hw::FlowNetwork::Ended> ended_;
  Femtoseconds now_{};
};

/// The banks under streams that move the same shares, access by access.
double line_rate(const DramTier& tier, const Point& point, const std::vector<double>& shares) {
  constexpr double kTurns = 256;
  dram::Dram whole(tier.config);
  dram::Drive how;
  std::uint64_t longest = 0;
  for (const Group& group : point.groups) {
    const double share = shares[how.streams.size()];
    const auto weight = static_cast<std::uint32_t>(std::max(1.0, std::round(share * kTurns)));
    const dram::Stream stream{Bytes{group.run * whole.access_bytes()}, group.write, weight};
    how.streams.resize(how.streams.size() + group.count, stream);
    longest = std::max(longest, group.run * group.count);
  }
  // As much waits beside the queues as they hold.
  how.window = whole.units() * tier.config.controller.read_queue;
  // Banks that are refreshed by turns are so at all times; ranks stop once an interval.
  const bool all_bank = tier.config.controller.refresh == dram::RefreshMode::all_bank;
  const std::uint64_t least = accesses_of(tier.config, all_bank ? 6 : 1.5);
  how.warm_up = least / 4;
  how.requests = how.warm_up + std::clamp(3 * longest, least, 2 * least);
  return drive(whole, how).sustained.value;
}

std::string text_of(const Point& point, std::uint32_t access) {
  std::string text;
  for (const Group& group : point.groups) {
    text += fmt::format("{}{} × {} {}", text.empty() ? "" : " + ", group.count,
                        print(Bytes{group.run * access}), group.write ? "write" : "read");
    if (group.weight != 1) text += fmt::format(" × {}", group.weight);
    if (group.cap > 0) text += fmt::format(" ≤ {:.0f} %", group.cap * 100);
  }
  return text;
}

Cell percent(double error) {
  return {fmt::format("{:.2f}", error * 100), {}};
}

void add(Table& table, const DramTier& tier) {
  struct Error {
    double error;
    std::string point;
  };
  std::vector<Error> errors;
  Bursts bursts(tier);
  for (const Point& point : points_of(tier)) {
    const Bursts::Carried burst = bursts.carry(point);
    const double line = line_rate(tier, point, burst.shares);
    errors.push_back({burst.rate / line - 1, point.name});
    table.rows.push_back({cell(tier.name), cell(point.name),
                          cell(text_of(point, tier.config.organisation.access_bytes)),
                          gigabytes({burst.rate}), gigabytes({line}),
                          percent(errors.back().error)});
  }
  std::sort(errors.begin(), errors.end(),
            [](const Error& a, const Error& b) { return std::abs(a.error) < std::abs(b.error); });
  double sum = 0;
  for (const Error& error : errors)
    sum += std::abs(error.error);
  const auto summary = [&](std::string_view name, std::string_view which, double error) {
    table.rows.push_back(
        {cell(tier.name), cell(name), cell(which), {"", "-"}, {"", "-"}, percent(error)});
  };
  const std::size_t n = errors.size();
  const Error& p99 = errors[(n * 99 + 99) / 100 - 1]; // nearest rank
  summary("mean", "", sum / static_cast<double>(n));
  summary("P99", p99.point, std::abs(p99.error));
  summary("worst", errors.back().point, errors.back().error);
}

Table resolution(const TableOptions& options) {
  const Memories memories = memories_of(scenario_of(options), options);
  Table table;
  table.title =
      "Does the burst resolution carry what the banks carry?\n" + described(memories) +
      "\nEach point is the same traffic at both resolutions, drawn by chance: streams of runs, "
      "each "
      "at a place of\nits own, some of reads, some of writes (× 3: with weight 3; ≤ 30 %: what "
      "they "
      "ask for of the peak, while\nthe others are in the background). Burst: flows over the tier's "
      "resource. Line: the same shares, access\nby access, as fast as the banks go. Figures given "
      "in place of curves (efficiency, mix_loss) are left out.\nP99: nearest rank.";
  table.columns = {key("tier", "tier"),
                   key("point", "point"),
                   text("traffic", "traffic"),
                   figure("burst_GB_per_s", "burst GB/s", "GB/s"),
                   figure("line_GB_per_s", "line GB/s", "GB/s"),
                   figure("error_percent", "error %", "%")};
  for (const DramTier& tier : memories.dram)
    add(table, tier);
  return table;
}

} // namespace

Suite resolution_suite() {
  return {"resolution", "burst against line resolution: what each DRAM carries under mixed traffic",
          resolution};
}

} // namespace umf::app
