#include "app/tables/memories.h"

#include <fmt/format.h>

#include <optional>

/// What one access costs when nothing else is under way.
namespace umf::app {

namespace {

namespace dram = hw::dram;

constexpr std::uint64_t kChain = 20'000;

/// One unit of the tier, never refreshed, with an access at a time.
class Alone {
public:
  explicit Alone(const DramTier& tier) : clock_(tier.config.timings.clock), unit_(of(tier), done_) {
    rest_ = tier.config.timings.tRC;
  }

  /// Queue to the last of its data.
  Femtoseconds read(std::uint32_t row, std::uint32_t column) {
    unit_.push({0, row, column, 0, false}, now_);
    while (done_.empty())
      unit_.advance(unit_.next() + 1);
    const dram::Cycle took = done_.back().at - now_;
    now_ = done_.back().at + rest_; // the row may be closed at once
    done_.clear();
    return clock_ * took;
  }

  /// Until a queue that is empty has it.
  Femtoseconds write() {
    unit_.push({0, 0, 0, 0, true}, now_);
    return clock_ * (done_.back().at - now_);
  }

private:
  static dram::Channel::Config of(const DramTier& tier) {
    dram::Channel::Config config{tier.config.organisation,
                                 tier.config.timings,
                                 tier.config.controller,
                                 dram::kNever,
                                 dram::kNever,
                                 0};
    config.controller.refresh = dram::RefreshMode::none;
    if (config.controller.page == dram::PagePolicy::timeout)
      config.controller.page = dram::PagePolicy::open; // not yet timed out
    return config;
  }

  Femtoseconds clock_;
  std::vector<dram::Done> done_;
  dram::Channel unit_;
  dram::Cycle now_ = 0, rest_ = 0;
};

struct Latency {
  double mean = 0;
  std::optional<double> p50{}, p99{};
};

/// One row a boundary.
void add(Table& table, const std::string& tier, std::string_view what, Latency latency,
         Femtoseconds to_media, Femtoseconds to_port) {
  for (const bool port : {false, true}) {
    const double more = (port ? to_media + to_port : to_media).nanoseconds();
    const auto percentile = [&](const std::optional<double>& ns) {
      return ns ? nanoseconds(*ns + more) : Cell{"", "-"};
    };
    table.rows.push_back({cell(tier), cell(what), cell(port ? "port" : "media"),
                          nanoseconds(latency.mean + more), percentile(latency.p50),
                          percentile(latency.p99)});
  }
}

void add_dram(Table& table, const DramTier& tier) {
  const auto row = [&](std::string_view what, Femtoseconds took) {
    add(table, tier.name, what, {took.nanoseconds()}, tier.controller, tier.port);
  };
  Alone alone(tier);
  row("closed bank read", alone.read(0, 0));
  row("row hit read", alone.read(0, 1));
  row("row conflict read", alone.read(1, 0));
  // A write is posted: it does not wait for the way back.
  add(table, tier.name, "write taken", {alone.write().nanoseconds()}, {}, tier.port);

  dram::Dram whole(tier.config);
  dram::Drive chain;
  chain.traffic = traffic_over(whole);
  chain.traffic.run = chain.traffic.access;
  chain.requests = kChain;
  chain.outstanding = 1;
  const dram::Driven driven = drive(whole, chain);
  const auto at = [&](double percent) {
    return static_cast<double>(driven.media.percentile(percent)) / 1e3;
  };
  add(table, tier.name, "random chain", {driven.media.mean() / 1e3, at(50), at(99)},
      tier.controller, tier.port);
}

void add_sram(Table& table, const SramTier& tier) {
  hw::SramBanks banks(tier.banks.config);
  const std::uint32_t word = tier.banks.config.word;
  const auto ns = [&](hw::Cycle clocks) {
    return (tier.banks.clock * static_cast<std::int64_t>(clocks)).nanoseconds();
  };
  const Femtoseconds both = tier.banks.one_way * 2;
  add(table, tier.name, "word read", {ns(banks.access(0, 0, word, false))}, {}, both);
  // In one clock the second waits for the first.
  hw::SramBanks taken(tier.banks.config);
  taken.access(0, 0, word, false);
  add(table, tier.name, "bank conflict read", {ns(taken.access(0, 0, word, false))}, {}, both);
  // A store is posted: it waits for a turn at the bank, not for its array.
  add(table, tier.name, "write taken", {0}, {}, tier.banks.one_way);
}

Table idle_latency(const TableOptions& options) {
  const Memories memories = memories_of(scenario_of(options), options);
  Table table;
  table.title =
      "What does one access cost when nothing else is under way?\n" + described(memories) +
      fmt::format("\nmedia: from the controller's port to the last of the data (unit, queues, "
                  "controller_latency); port: with the device's port before it.\nThe chain is {} "
                  "random reads, one after the other, with refresh; the rest is without.",
                  kChain);
  table.columns = {key("tier", "tier"),
                   key("case", "case"),
                   key("boundary", "boundary"),
                   figure("latency_ns", "latency ns", "ns"),
                   figure("p50_ns", "p50 ns", "ns"),
                   figure("p99_ns", "p99 ns", "ns")};
  for (const DramTier& tier : memories.dram)
    add_dram(table, tier);
  for (const SramTier& tier : memories.sram)
    add_sram(table, tier);
  return table;
}

} // namespace

Suite idle_latency_suite() {
  return {"idle-latency", "nanoseconds of one access, nothing else under way", idle_latency};
}

} // namespace umf::app
