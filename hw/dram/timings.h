#pragma once

#include "model/base/units.h"

#include <cstdint>

/// What the bank engine needs to know of a DRAM, in integer clocks of its command clock (CK).
/// Made from a standard (standard.h), whose figures are in nanoseconds and clocks.
namespace umf::hw::dram {

/// A point in time or a duration in clocks of CK.
using Cycle = std::int64_t;

/// One unit with a data bus of its own: an HBM pseudo-channel (or legacy channel), or a 32-bit
/// DDR5 sub-channel. Units share nothing.
struct Organisation {
  std::uint32_t ranks = 1;       ///< DDR ranks, or HBM stack identifiers (SID)
  std::uint32_t bank_groups = 4; ///< of a rank
  std::uint32_t banks = 4;       ///< of a group
  std::uint32_t rows = 1;        ///< of a bank
  std::uint32_t row_bytes = 1024;
  std::uint32_t access_bytes = 32; ///< of one burst: width × burst length

  constexpr std::uint32_t banks_of_rank() const { return bank_groups * banks; }
  constexpr std::uint32_t all_banks() const { return ranks * banks_of_rank(); }
  constexpr std::uint32_t columns() const { return row_bytes / access_bytes; } ///< in accesses
  constexpr std::uint64_t bytes() const { return std::uint64_t{all_banks()} * rows * row_bytes; }
};

/// Names as JEDEC has them; minimum distances between commands unless said otherwise.
struct Timings {
  Femtoseconds clock{};    ///< tCK
  Cycle burst = 2;         ///< data of one access on the bus
  Cycle tCL = 14;          ///< RD to first data (RL)
  Cycle tCWL = 4;          ///< WR to first data (WL)
  Cycle tRCDRD = 14;       ///< ACT to RD
  Cycle tRCDWR = 14;       ///< ACT to WR
  Cycle tRP = 14;          ///< PRE to ACT
  Cycle tRAS = 34;         ///< ACT to PRE
  Cycle tRC = 48;          ///< ACT to ACT, same bank
  Cycle tCCDS = 2;         ///< RD to RD, other bank group
  Cycle tCCDL = 4;         ///< RD to RD, same bank group
  Cycle tCCDR = 4;         ///< RD to RD or WR to WR, other rank (SID)
  Cycle tCCDSWR = 2;       ///< WR to WR, other bank group
  Cycle tCCDLWR = 4;       ///< WR to WR, same bank group
  Cycle tRRDS = 4;         ///< ACT to ACT, other bank group
  Cycle tRRDL = 6;         ///< ACT to ACT, same bank group
  Cycle tFAW = 16;         ///< first to fifth ACT of a rank
  Cycle tRTP = 5;          ///< RD to PRE
  Cycle tWR = 16;          ///< end of write data to PRE
  Cycle tWTRS = 6;         ///< end of write data to RD, other bank group
  Cycle tWTRL = 8;         ///< end of write data to RD, same bank group
  Cycle tRTW = 13;         ///< RD to WR, anywhere on the bus
  Cycle tRTRS = 1;         ///< gap on the bus between data of two ranks
  Cycle tPPD = 1;          ///< PRE to PRE of a rank
  Cycle tREFI = 3900;      ///< due interval of all-bank refreshes of a rank
  Cycle tRFCab = 260;      ///< all-bank refresh to ACT
  Cycle tRFCpb = 160;      ///< per-bank (DDR5: same-bank) refresh to ACT of its banks
  Cycle tRREFD = 8;        ///< per-bank refresh to ACT or refresh of another bank of the rank
  Cycle act_clocks = 1;    ///< ACT holds its command bus so long
  Cycle column_clocks = 1; ///< RD and WR likewise
  bool shared_bus = false; ///< row and column commands share one command bus (DDR)
  /// Banks refreshed together by one per-bank refresh: 1, or the number of bank groups where
  /// it takes the same bank of every group (DDR5 REFsb).
  std::uint32_t refresh_banks = 1;
};

} // namespace umf::hw::dram
