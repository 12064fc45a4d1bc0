#include "hw/platform/sampler.h"

#include "hw/platform/platform.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>

namespace umf::hw {

namespace {

constexpr std::size_t kTierColumns = Sampler::region_bytes + memory::kRegions;
constexpr std::size_t kLinkColumns = 2;

/// Policies are the same on all GPUs.
std::size_t gpu_columns_of(const Platform& platform) {
  const scheduler::Brain& brain = platform.brain(0);
  return Sampler::cause_fs + kCauses +
         (brain.collections() != nullptr ? std::size_t{Sampler::kCollectorColumns} : 0) +
         (brain.tuning() != nullptr ? std::size_t{Sampler::kTunerColumns} : 0);
}

/// In the order of tier_column(), link_column() and gpu_column().
std::vector<Windows::Column> columns_of(const Platform& platform) {
  using Kind = Windows::Kind;
  std::vector<Windows::Column> columns;
  const auto add = [&](const std::string& of, const std::string& what, Kind kind) {
    columns.push_back({of + "." + what, kind});
  };
  for (const auto& tier : platform.tiers()) {
    add(tier.name, "read_bytes", Kind::counted);
    add(tier.name, "write_bytes", Kind::counted);
    add(tier.name, "used_bytes", Kind::level);
    for (std::size_t r = 0; r < memory::kRegions; ++r)
      add(tier.name, std::string(memory::name_of(static_cast<memory::Region>(r))) + "_bytes",
          Kind::level);
  }
  for (const auto& link : platform.links())
    for (const char* direction : {"tx_bytes", "rx_bytes"})
      add(link->link_name(), direction, Kind::counted);
  for (std::uint32_t g = 0; g < platform.gpus(); ++g) {
    for (const char* counter :
         {"commands", "faults", "first_touch_pages", "remote_hits", "migrated_bytes"})
      add(gpu_name(g), counter, Kind::counted);
    add(gpu_name(g), "read_only_ns", Kind::elapsed);
    for (std::size_t c = 0; c < kCauses; ++c)
      add(gpu_name(g), std::string(name_of(static_cast<Cause>(c))) + "_ns", Kind::spread);
    if (platform.brain(g).collections() != nullptr)
      add(gpu_name(g), "collected_bytes", Kind::counted);
    if (platform.brain(g).tuning() != nullptr)
      for (const char* setting : {"hbm_reserve_bytes", "prefetch_window_rows"})
        add(gpu_name(g), setting, Kind::level);
  }
  return columns;
}

using Times = std::array<std::int64_t, kCauses>;

/// `part` of `whole` of each time, rounded by largest remainder: parts sum to `part` when times
/// sum to `whole`, and none exceeds its time.
Times share_of(const Times& times, std::int64_t part, std::int64_t whole) {
  __extension__ using Wide = __int128;
  Times shares{}, rests{};
  std::int64_t left = part;
  for (std::size_t c = 0; c < kCauses; ++c) {
    const Wide product = static_cast<Wide>(times[c]) * part;
    shares[c] = static_cast<std::int64_t>(product / whole);
    rests[c] = static_cast<std::int64_t>(product % whole);
    left -= shares[c];
  }
  for (; left > 0; --left) {
    const auto most = std::max_element(rests.begin(), rests.end());
    ++shares[static_cast<std::size_t>(most - rests.begin())];
    *most = -1;
  }
  return shares;
}

} // namespace

Sampler::Sampler(Platform& platform, const ReportConfig& config)
    : platform_(platform), gpu_columns_(gpu_columns_of(platform)),
      windows_(config.window, config.rows / 2 * 2, columns_of(platform)),
      moves_(config.timeline_events), told_(platform.gpus()) {
  state_.resize(windows_.columns().size());
  due_ = windows_.border();
}

std::size_t Sampler::tier_column(std::size_t tier) const {
  return tier * kTierColumns;
}

std::size_t Sampler::link_column(std::size_t link) const {
  return platform_.tiers().size() * kTierColumns + link * kLinkColumns;
}

std::size_t Sampler::gpu_column(std::uint32_t gpu) const {
  return link_column(platform_.links().size()) + gpu * gpu_columns_;
}

/// Counters and levels at `now`. Links carry fractions of bytes: rounded down on the way and to
/// the nearest at the end, as the summary has them.
const std::vector<std::uint64_t>& Sampler::state_at(Femtoseconds now, bool over) {
  FlowNetwork& network = platform_.clock().network();
  std::size_t at = 0;
  const auto counted = [&](std::uint64_t value) {
    state_[at] = std::max(state_[at], value); // rates are doubles: a figure may waver by one
    ++at;
  };
  const std::uint64_t page = platform_.scenario().scheduler.page.count;
  for (const auto& tier : platform_.tiers()) {
    const auto served = tier.module->served_at(now);
    counted(served.read);
    counted(served.written);
    state_[at++] = tier.frames->used() * page;
    for (std::size_t r = 0; r < memory::kRegions; ++r)
      state_[at++] = tier.frames->used(static_cast<memory::Region>(r)) * page;
  }
  for (const auto& link : platform_.links())
    for (const ResourceId direction : {link->tx(), link->rx()})
      counted(static_cast<std::uint64_t>(network.carried_at(direction, now) + (over ? 0.5 : 0.0)));
  for (std::uint32_t g = 0; g < platform_.gpus(); ++g) {
    const auto& counters = platform_.brain(g).counters();
    for (const std::uint64_t value : {counters.commands, counters.faults, counters.first_touches,
                                      counters.remote_hits, counters.moved.count})
      counted(value);
    counted(static_cast<std::uint64_t>(platform_.brain(g).read_only_for(now).count));
    at += kCauses; // spread by charged()
    if (const policy::Collections* gc = platform_.brain(g).collections()) counted(gc->freed * page);
    if (const policy::Tuning* tuning = platform_.brain(g).tuning()) {
      state_[at++] = policy::part_of(platform_.brain(g).ground().all_pages(policy::TierClass::hbm),
                                     tuning->reserve) *
                     page;
      state_[at++] = tuning->prefetch_window;
    }
  }
  return state_;
}

void Sampler::reach(Femtoseconds now) {
  for (; due_ <= now; due_ = windows_.border())
    windows_.close(state_at(due_, false));
}

Femtoseconds Sampler::charged(std::uint32_t gpu, Femtoseconds from, Femtoseconds to,
                              const CauseLedger& before, const CauseLedger& after) {
  Told& told = told_[gpu];
  spread(gpu, told.until, from, told.causes, before);
  spread(gpu, from, to, before, after);
  told = {to, after};
  return windows_.border();
}

/// Puts the time charged in [from, to) into its windows, in proportion where it spans several.
void Sampler::spread(std::uint32_t gpu, Femtoseconds from, Femtoseconds to,
                     const CauseLedger& before, const CauseLedger& after) {
  if (to <= from) return;
  const std::size_t column = gpu_column(gpu) + cause_fs;
  Times left{};
  for (std::size_t c = 0; c < kCauses; ++c)
    left[c] = after.of(static_cast<Cause>(c)).count - before.of(static_cast<Cause>(c)).count;
  while (from < to) {
    const std::int64_t width = windows_.width().count;
    const Femtoseconds end{std::min((from.count / width + 1) * width, to.count)};
    const Times part = share_of(left, (end - from).count, (to - from).count);
    for (std::size_t c = 0; c < kCauses; ++c) {
      if (part[c] > 0) windows_.add(column + c, from, static_cast<std::uint64_t>(part[c]));
      left[c] -= part[c];
    }
    from = end;
  }
}

void Sampler::finish(Femtoseconds end) {
  reach(end);
  for (std::uint32_t g = 0; g < platform_.gpus(); ++g) {
    const CauseLedger& causes = platform_.gpu(g).causes();
    charged(g, end, end, causes, causes);
  }
  windows_.finish(end, state_at(end, true));
}

} // namespace umf::hw
