#pragma once

#include "app/tables/suites.h"
#include "hw/dram/drive.h"
#include "hw/platform/scenario.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The memories of a scenario whose banks can be played without a machine around them.
namespace umf::app {

/// A tier of DRAM.
struct DramTier {
  std::string name;
  hw::dram::Media media;
  hw::dram::DramConfig config;
  Femtoseconds controller{}; ///< in front of the queues, both ways (boundary: media)
  Femtoseconds port{};       ///< in front of that, both ways (boundary: port)
};

/// A tier of static memory.
struct SramTier {
  std::string name;
  hw::TierSpec::Banks banks;
  BytesPerSecond peak() const; ///< of one kind of port
};

struct Memories {
  std::vector<DramTier> dram;
  std::vector<SramTier> sram;
  std::vector<std::string> bankless; ///< tiers that are a rate and a latency only
};

hw::Scenario scenario_of(const TableOptions& options);
/// Those that `options.tiers` names, all when it names none. Throws UserError for a name that is
/// no tier.
Memories memories_of(const hw::Scenario& scenario, const TableOptions& options);

/// A line a tier: peak, clock, organisation, derived capacity.
std::string described(const Memories& memories);

/// Accesses of `intervals` refresh intervals at the peak of all units.
std::uint64_t accesses_of(const hw::dram::DramConfig& config, double intervals);

/// Of a closed loop or a stream over all of a tier: a footprint of whole accesses.
hw::dram::Traffic traffic_over(const hw::dram::Dram& dram);

// Columns and cells that several suites have. Digits are fixed: tables are compared as texts.
Column key(std::string name, std::string heading);
Column text(std::string name, std::string heading);
Column figure(std::string name, std::string heading, std::string unit);
Cell cell(std::string_view text);
Cell nanoseconds(double ns);
Cell nanoseconds(Femtoseconds time);
Cell gigabytes(BytesPerSecond rate);
Cell share(double share);

} // namespace umf::app
