#pragma once

#include "hw/dram/dram.h"
#include "hw/link/packet.h"

#include <vector>

namespace umf::hw::link {

/// The banks of a memory, entered by requests of any length: each access waits for room in the
/// queue of its own unit, so that none holds up another's.
class DramPort {
public:
  explicit DramPort(const dram::DramConfig& config);

  struct Done {
    std::uint32_t tag;
    Femtoseconds at; ///< last data on the pins, or write queued; never before now
  };

  /// Accesses that `tag` will be done for, one Done each.
  std::uint32_t push(Femtoseconds now, std::uint64_t address, std::uint32_t bytes, bool write,
                     std::uint32_t tag);
  /// Everything up to `now`; the next time to come again, or kNever.
  Femtoseconds advance(Femtoseconds now);
  std::vector<Done>& done() { return done_; }
  const dram::Dram& dram() const { return dram_; }

private:
  struct Access {
    dram::Location where;
    std::uint32_t tag = 0, next = kNone;
    bool write = false;
  };
  void collect(dram::Cycle now);

  dram::Dram dram_;
  Pool<Access> accesses_;
  std::vector<Queue> waiting_; ///< by unit
  std::uint32_t waits_ = 0;
  std::vector<Done> done_;
};

} // namespace umf::hw::link
