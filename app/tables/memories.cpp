#include "app/tables/memories.h"

#include "model/base/error.h"
#include "model/base/json.h"
#include "model/base/nearest.h"
#include "model/base/quantity.h"

#include <fmt/format.h>

#include <algorithm>

namespace umf::app {

namespace dram = hw::dram;

BytesPerSecond SramTier::peak() const {
  const double bytes = static_cast<double>(banks.config.word) * banks.config.banks;
  return {bytes / banks.clock.seconds()};
}

hw::Scenario scenario_of(const TableOptions& options) {
  return hw::read_scenario(load_scenario(options.scenario, options.sets));
}

Memories memories_of(const hw::Scenario& scenario, const TableOptions& options) {
  std::vector<std::string> names;
  for (const auto& tier : scenario.tiers)
    names.push_back(tier->name);
  for (const std::string& wanted : options.tiers)
    if (std::find(names.begin(), names.end(), wanted) == names.end())
      throw UserError(
          fmt::format("--tier: no tier {}, {}", in_quotes(wanted), suggestion(wanted, names)));
  Memories memories;
  for (const auto& tier : scenario.tiers) {
    if (!options.tiers.empty() &&
        std::find(options.tiers.begin(), options.tiers.end(), tier->name) == options.tiers.end())
      continue;
    if (const auto line = tier->line())
      memories.dram.push_back({tier->name, line->media, dram::config(line->media),
                               line->media_latency, line->port_latency});
    else if (const auto banks = tier->banks())
      memories.sram.push_back({tier->name, *banks});
    else
      memories.bankless.push_back(tier->name);
  }
  return memories;
}

namespace {

std::string gigabytes_text(BytesPerSecond rate) {
  return fmt::format("{:.1f} GB/s", rate.value / 1e9);
}

std::string described(const DramTier& tier) {
  const dram::Dram whole(tier.config);
  const dram::Organisation& o = tier.config.organisation;
  return fmt::format(
      "{}: {} at a clock of {}, peak {}; {} x {} units x {} rank(s) x {} groups x {} banks x {} "
      "rows x {}, {} an access: {}",
      tier.name, tier.media.standard->name, print(tier.config.timings.clock),
      gigabytes_text(whole.peak()), tier.config.stacks, tier.config.units, o.ranks, o.bank_groups,
      o.banks, o.rows, print(Bytes{o.row_bytes}), print(Bytes{o.access_bytes}),
      print(Bytes{whole.bytes()}));
}

std::string described(const SramTier& tier) {
  const hw::SramBanksConfig& c = tier.banks.config;
  return fmt::format("{}: {} banks x {} a clock of {}, peak {}, reads and writes {}", tier.name,
                     c.banks, print(Bytes{c.word}), print(tier.banks.clock),
                     gigabytes_text(tier.peak()),
                     c.ports == hw::SramPorts::shared ? "together" : "each");
}

} // namespace

std::string described(const Memories& memories) {
  std::string lines;
  const auto add = [&](const std::string& line) { lines += (lines.empty() ? "" : "\n") + line; };
  for (const DramTier& tier : memories.dram)
    add(described(tier));
  for (const SramTier& tier : memories.sram)
    add(described(tier));
  for (const std::string& name : memories.bankless)
    add(name + ": a rate and a latency, no banks to play");
  return lines;
}

std::uint64_t accesses_of(const dram::DramConfig& config, double intervals) {
  const double clocks = intervals * static_cast<double>(config.timings.tREFI);
  const double units = static_cast<double>(config.units) * config.stacks;
  return static_cast<std::uint64_t>(clocks / static_cast<double>(config.timings.burst) * units);
}

dram::Traffic traffic_over(const dram::Dram& whole) {
  dram::Traffic traffic;
  traffic.access = {whole.access_bytes()};
  traffic.footprint = traffic.run = {whole.bytes()};
  return traffic;
}

Column key(std::string name, std::string heading) {
  return {std::move(name), std::move(heading), "", true, true};
}
Column text(std::string name, std::string heading) {
  return {std::move(name), std::move(heading), "", false, true};
}
Column figure(std::string name, std::string heading, std::string unit) {
  return {std::move(name), std::move(heading), std::move(unit)};
}
Cell cell(std::string_view text) {
  return {std::string(text), {}};
}
Cell nanoseconds(double ns) {
  return {fmt::format("{:.3f}", ns), {}};
}
Cell nanoseconds(Femtoseconds time) {
  return nanoseconds(time.nanoseconds());
}
Cell gigabytes(BytesPerSecond rate) {
  return {fmt::format("{:.2f}", rate.value / 1e9), {}};
}
Cell share(double share) {
  return {fmt::format("{:.4f}", share), {}};
}

} // namespace umf::app
