#pragma once

#include "hw/dram/clocked_time.h"
#include "hw/dram/timings.h"
#include "model/base/keys.h"

#include <span>
#include <string>
#include <string_view>

/// DRAM standards as data: a JSON object with every figure of one JEDEC generation and speed.
/// Those of standards/ are built into the program; any other is read from a scenario.
namespace umf::hw::dram {

/// Figures as the tables print them, in clocks of CK or in time, so that a slower clock rescales
/// them as hardware would. `Timings` says what each timing is.
struct DramStandard {
  std::string name;
  Bytes capacity{}; ///< of one stack (HBM) or of one channel's module (DDR)

  std::uint32_t channels = 0;            ///< of a stack; DDR5: 1
  std::uint32_t units = 0;               ///< of a channel: pseudo-channels or sub-channels
  std::uint32_t unit_width = 0;          ///< data pins of a unit
  std::uint32_t burst_length = 0;        ///< transfers of an access
  std::uint32_t transfers_per_clock = 0; ///< on a pin, a clock of CK
  std::uint32_t ranks = 0;               ///< of a unit; HBM: stack identifiers (SID)
  std::uint32_t bank_groups = 0;         ///< of a rank
  std::uint32_t banks = 0;               ///< of a bank group
  std::uint32_t rows = 0;                ///< of a bank
  Bytes row_size{};                      ///< all devices of a unit together

  Femtoseconds tCK{}; ///< the fastest clock
  ClockedTime tCL, tCWL, tRCDRD, tRCDWR, tRP, tRAS, tRC;
  ClockedTime tCCDS, tCCDL, tCCDR, tCCDSWR, tCCDLWR, tRRDS, tRRDL, tFAW;
  ClockedTime tRTP, tWR, tWTRS, tWTRL, tRTW, tRTRS, tPPD;
  ClockedTime tREFI, tRFCab, tRFCpb, tRREFD;

  std::uint32_t act_clocks = 0, column_clocks = 0; ///< on the command bus
  bool shared_bus = false;
  std::uint32_t refresh_banks = 0;
};

const Component<DramStandard>& standard_component();

/// Faults at `pointer`, with the bound: a capacity that the organisation does not give, sizes
/// that are no powers of two, refreshes as long as their interval, tRC below tRAS + tRP.
void check_standard(const DramStandard& standard, const std::string& pointer, KeyContext& context);

/// Reads and checks; faults go to the context.
DramStandard read_standard(const JsonValue& object, KeyContext& context);

/// One of shipped_standards(); throws UserError for any other name.
DramStandard read_standard(std::string_view name);

struct EmbeddedStandard {
  std::string_view name; ///< of its file
  std::string_view text; ///< JSON
};

/// The files of hw/dram/standards, by name.
std::span<const EmbeddedStandard> shipped_standards();

Organisation organisation(const DramStandard& standard);

/// Everything in whole clocks, rounded up. Throws UserError when `clock` is shorter than tCK.
Timings timings(const DramStandard& standard, Femtoseconds clock);

/// What the organisation holds: of one stack or module.
Bytes organised_bytes(const DramStandard& standard);

/// Transfers a second on one data pin.
Hertz pin_rate(const DramStandard& standard, Femtoseconds clock);
/// Data bus of one unit, either direction, without refresh or gaps.
BytesPerSecond unit_peak(const DramStandard& standard, Femtoseconds clock);
/// The same of all units of a stack or module.
BytesPerSecond peak(const DramStandard& standard, Femtoseconds clock);

} // namespace umf::hw::dram
