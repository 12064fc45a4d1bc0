#pragma once

#include "hw/sram/sram_ports.h"

#include <cstdint>
#include <vector>

namespace umf::hw {

/// A clock of the banks, counted from 0, or a count of clocks.
using Cycle = std::uint64_t;

struct SramBanksConfig {
  std::uint32_t banks = 100; ///< at least 1
  std::uint32_t word = 64;   ///< bytes that a port takes or gives in a clock; at least 1
  Cycle latency = 10;        ///< from an access at its port to the data at its port, unloaded
  SramPorts ports = SramPorts::shared;
};

/// T2 at line resolution: word w lies in bank w mod banks; a port of a bank starts one word a
/// clock and each takes `latency` clocks (the array is pipelined). Accesses of a port are served in
/// the order they are given, which need not be that of their arrivals: one given later waits behind
/// one given earlier, and a clock left free before it is not taken. Plain integers, no events.
class SramBanks {
public:
  struct Statistics {
    std::uint64_t reads = 0, writes = 0;
    std::uint64_t words = 0;     ///< started by all ports
    std::uint64_t conflicts = 0; ///< words that found their port taken
    Cycle waited = 0;            ///< clocks those waited, all together
    Cycle first_start = 0;       ///< clock in which the first word in time started
    Cycle last_start = 0;
  };

  /// Throws InvariantError for a config out of the ranges above.
  explicit SramBanks(const SramBanksConfig& config);

  /// The clock in which the last of its words is at its port. An access of several words begins
  /// all of them at `arrival`: they lie in consecutive banks; one of more words than there are
  /// banks waits for itself, which counts as conflicts. A part of a word takes a whole one.
  /// `bytes` at least 1, the last address below 2^64.
  Cycle access(Cycle arrival, std::uint64_t address, std::uint64_t bytes, bool write);

  const Statistics& statistics() const { return statistics_; }
  /// Words over the clocks from the first start to the last; 0 before any access.
  double words_per_clock() const;
  struct Load {
    std::uint32_t bank = 0;
    std::uint64_t words = 0;
  };
  /// The bank that started most words; the lowest of equals.
  Load busiest() const;
  /// The first clock in which a port of this bank can start a word.
  Cycle free_at(std::uint32_t bank, bool write) const { return free_at_[port(bank, write)]; }

private:
  std::size_t port(std::uint32_t bank, bool write) const {
    return (write && separate_ ? config_.banks : 0) + std::size_t{bank};
  }

  SramBanksConfig config_;
  bool separate_;
  std::vector<Cycle> free_at_;       ///< by port
  std::vector<std::uint64_t> words_; ///< by bank
  Statistics statistics_;
};

} // namespace umf::hw
