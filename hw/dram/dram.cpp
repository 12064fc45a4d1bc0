#include "hw/dram/dram.h"

#include "model/base/error.h"

#include <algorithm>

namespace umf::hw::dram {

DramConfig dram_config(const DramStandard& standard, Femtoseconds clock,
                       const ControllerConfig& controller, std::uint32_t stacks,
                       std::optional<Bytes> capacity) {
  DramConfig config;
  config.organisation = organisation(standard);
  config.timings = timings(standard, clock);
  config.controller = controller;
  config.units = standard.channels * standard.units;
  config.stacks = stacks;
  if (capacity) {
    Organisation& o = config.organisation;
    const std::uint64_t row =
        std::uint64_t{o.all_banks()} * o.row_bytes * config.units * config.stacks;
    o.rows = static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>((capacity->count + row - 1) / row, 1, UINT32_MAX));
  }
  if (!config.controller.hash) config.controller.hash = bank_hash(config.organisation);
  return config;
}

namespace {
AddressMap make_map(const DramConfig& config) {
  KeyContext context;
  AddressMap map({config.organisation, config.units, config.stacks, config.controller.mapping,
                  config.controller.hash.value_or(std::vector<std::string>{}),
                  config.controller.interleave},
                 "/controller", context);
  context.throw_if_faulty();
  return map;
}
} // namespace

Dram::Dram(const DramConfig& config) : config_(config), map_(make_map(config)) {
  const std::uint32_t units = map_.units();
  channels_.reserve(units);
  done_.reserve(1024);
  Channel::Config channel{config.organisation, config.timings, config.controller, 0, 0, 0};
  channel.age_cap = clocks(config.controller.age_cap);
  channel.page_timeout = clocks(config.controller.page_timeout);
  for (std::uint32_t u = 0; u < units; ++u) {
    if (config.controller.stagger) channel.refresh_phase = config.timings.tREFI * u / units;
    channels_.emplace_back(channel, done_);
  }
}

BytesPerSecond Dram::peak() const {
  const double access = static_cast<double>(access_bytes());
  return {access * units() / time(config_.timings.burst).seconds()};
}

Cycle Dram::clocks(Femtoseconds time) const {
  const std::int64_t clock = config_.timings.clock.count;
  return (time.count + clock - 1) / clock;
}

Cycle Dram::horizon() {
  Cycle first = kNever;
  for (Channel& channel : channels_)
    first = std::min(first, channel.next_data());
  return first;
}

Cycle Dram::next() {
  Cycle first = kNever;
  for (Channel& channel : channels_)
    if (!channel.idle()) first = std::min(first, channel.next());
  return first;
}

void Dram::advance(Cycle until) {
  for (Channel& channel : channels_)
    channel.advance(until);
}

bool Dram::idle() const {
  return std::all_of(channels_.begin(), channels_.end(),
                     [](const Channel& channel) { return channel.idle(); });
}

DramStatistics Dram::statistics() const {
  DramStatistics all;
  all.least_accesses = UINT64_MAX;
  all.least_busy = kNever;
  for (const Channel& channel : channels_) {
    const ChannelStatistics& one = channel.statistics();
    all.sum.reads += one.reads;
    all.sum.writes += one.writes;
    all.sum.forwarded += one.forwarded;
    all.sum.row_hits += one.row_hits;
    all.sum.activates += one.activates;
    all.sum.precharges += one.precharges;
    all.sum.conflicts += one.conflicts;
    all.sum.busy += one.busy;
    all.sum.last_data = std::max(all.sum.last_data, one.last_data);
    for (std::size_t l = 0; l < kLimits; ++l)
      all.sum.lost[l] += one.lost[l];
    all.least_accesses = std::min(all.least_accesses, one.reads + one.writes);
    all.most_accesses = std::max(all.most_accesses, one.reads + one.writes);
    all.least_busy = std::min(all.least_busy, one.busy);
    all.most_busy = std::max(all.most_busy, one.busy);
    for (std::uint32_t r = 0; r < config_.organisation.ranks; ++r) {
      const auto refreshes = channel.refreshes(r);
      all.refreshes_due += refreshes.due;
      all.refreshes_issued += refreshes.issued;
    }
  }
  return all;
}

} // namespace umf::hw::dram
