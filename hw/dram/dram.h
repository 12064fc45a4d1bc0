#pragma once

#include "hw/dram/channel.h"
#include "hw/dram/mapping.h"
#include "hw/dram/standard.h"

#include <array>
#include <cstdint>
#include <vector>

namespace umf::hw::dram {

/// All units of one tier at one clock.
struct DramConfig {
  Organisation organisation;
  Timings timings;
  ControllerConfig controller;
  std::uint32_t units = 1;  ///< of a stack (HBM) or of a channel (DDR)
  std::uint32_t stacks = 1; ///< stacks or channels
};

/// `stacks` of the standard at `clock`, each as large as the standard says or, with `capacity`,
/// with as many rows as the whole tier needs. A controller without a hash gets bank_hash().
DramConfig dram_config(const DramStandard& standard, Femtoseconds clock,
                       const ControllerConfig& controller, std::uint32_t stacks,
                       std::optional<Bytes> capacity = std::nullopt);

/// What all units did together.
struct DramStatistics {
  ChannelStatistics sum; ///< last_data: the latest of all
  std::uint64_t refreshes_due = 0, refreshes_issued = 0;
  std::uint64_t least_accesses = 0, most_accesses = 0; ///< of a unit
  Cycle most_busy = 0, least_busy = 0;                 ///< of a unit
};

/// What became of a request: no room for it, waiting, or done (as Channel::push has it).
enum class Offer : std::uint8_t { refused, queued, done };

/// The DRAM of a tier: an address map in front of its units, with time as an argument. Refreshes
/// of the units are spread over the interval.
class Dram {
public:
  /// Throws UserErrors for a mapping that does not fit.
  explicit Dram(const DramConfig& config);
  Dram(const Dram&) = delete;
  Dram& operator=(const Dram&) = delete;

  const DramConfig& config() const { return config_; }
  std::uint64_t bytes() const { return map_.bytes(); }
  std::uint32_t access_bytes() const { return config_.organisation.access_bytes; }
  std::uint32_t units() const { return static_cast<std::uint32_t>(channels_.size()); }
  BytesPerSecond peak() const;
  Cycle clocks(Femtoseconds time) const; ///< rounded up
  Femtoseconds time(Cycle clocks) const { return config_.timings.clock * clocks; }

  Location locate(std::uint64_t address) const { return map_.locate(address); }
  std::uint32_t together(std::uint64_t address) const { return map_.together(address); }

  /// Takes a request in clock `now`, unless the queue of its unit is full. What is `done` at
  /// once is among done().
  Offer offer(const Location& where, bool write, std::uint32_t tag, Cycle now) {
    Channel& channel = channels_[where.unit];
    channel.advance(now);
    if (channel.full(write)) return Offer::refused;
    const bool done = channel.push({where.bank, where.row, where.column, tag, write}, now);
    return done ? Offer::done : Offer::queued;
  }

  /// The first clock in which the unit's full queue might have room.
  Cycle room(std::uint32_t unit) { return channels_[unit].next() + 1; }
  /// No read completes before this clock unless something is offered; kNever: none waits.
  Cycle horizon();
  /// Commits what goes before `until`.
  void advance(Cycle until);
  void advance(std::uint32_t unit, Cycle until) { channels_[unit].advance(until); }
  /// The next command of any unit that has requests; kNever: all are idle.
  Cycle next();
  bool idle() const;

  /// What completed, in no order of time between units; the reader empties it.
  std::vector<Done>& done() { return done_; }

  const Channel& channel(std::uint32_t unit) const { return channels_[unit]; }
  Channel& channel(std::uint32_t unit) { return channels_[unit]; }
  DramStatistics statistics() const;

private:
  DramConfig config_;
  AddressMap map_;
  std::vector<Done> done_;
  std::vector<Channel> channels_;
};

} // namespace umf::hw::dram
