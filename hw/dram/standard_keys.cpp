#include "hw/dram/standard.h"

namespace umf::hw::dram {

namespace {

using S = DramStandard;

void add_organisation(Component<S>& keys) {
  keys.key("name", &S::name, {.help = "What reports call it.", .required = true})
      .key("capacity", &S::capacity,
           {.help = "Of one stack (HBM) or one channel's module (DDR); has to be what the "
                    "organisation below holds.",
            .min = 1_MiB,
            .max = 1024_GiB,
            .required = true})
      .key("channels", &S::channels,
           {.help = "Of a stack; 1 for DDR.", .min = 1, .max = 64, .required = true})
      .key("units", &S::units,
           {.help = "Of a channel: pseudo-channels (HBM) or sub-channels (DDR5).",
            .min = 1,
            .max = 8,
            .required = true})
      .key("unit_width", &S::unit_width,
           {.help = "Data pins of a unit.", .min = 8, .max = 1024, .required = true})
      .key("burst_length", &S::burst_length,
           {.help = "Transfers of one access.", .min = 1, .max = 64, .required = true})
      .key("transfers_per_clock", &S::transfers_per_clock,
           {.help = "On one pin, each clock of CK: 2 for double data rate, 4 where CK runs at a "
                    "quarter of the pin rate (HBM3).",
            .min = 1,
            .max = 16,
            .required = true})
      .key("ranks", &S::ranks,
           {.help = "Of a unit; stack identifiers (SID) of an HBM stack.",
            .min = 1,
            .max = 64,
            .required = true})
      .key("bank_groups", &S::bank_groups,
           {.help = "Of a rank.", .min = 1, .max = 64, .required = true})
      .key("banks", &S::banks, {.help = "Of a bank group.", .min = 1, .max = 64, .required = true})
      .key("rows", &S::rows, {.help = "Of a bank.", .min = 1, .max = 1U << 24U, .required = true})
      .key("row_size", &S::row_size,
           {.help = "Of one bank, all devices of a unit together (the page).",
            .min = Bytes{64},
            .max = 64_KiB,
            .required = true});
}

void add_access_timings(Component<S>& keys) {
  keys.key("tCK", &S::tCK,
           {.help = "The fastest clock (CK), as its period.",
            .min = Femtoseconds{1000},
            .max = 100_ns,
            .required = true})
      .key("tCL", &S::tCL, {.help = "RD to its first data (RL).", .required = true})
      .key("tCWL", &S::tCWL, {.help = "WR to its first data (WL).", .required = true})
      .key("tRCDRD", &S::tRCDRD, {.help = "ACT to RD.", .required = true})
      .key("tRCDWR", &S::tRCDWR, {.help = "ACT to WR.", .required = true})
      .key("tRP", &S::tRP, {.help = "PRE to ACT.", .required = true})
      .key("tRAS", &S::tRAS, {.help = "ACT to PRE.", .required = true})
      .key("tRC", &S::tRC, {.help = "ACT to ACT of one bank.", .required = true})
      .key("tCCDS", &S::tCCDS, {.help = "RD to RD, other bank group.", .required = true})
      .key("tCCDL", &S::tCCDL, {.help = "RD to RD, same bank group.", .required = true})
      .key("tCCDR", &S::tCCDR,
           {.help = "RD to RD or WR to WR, other rank or SID.", .required = true})
      .key("tCCDSWR", &S::tCCDSWR, {.help = "WR to WR, other bank group.", .required = true})
      .key("tCCDLWR", &S::tCCDLWR, {.help = "WR to WR, same bank group.", .required = true})
      .key("tRRDS", &S::tRRDS, {.help = "ACT to ACT, other bank group.", .required = true})
      .key("tRRDL", &S::tRRDL, {.help = "ACT to ACT, same bank group.", .required = true})
      .key("tFAW", &S::tFAW, {.help = "First to fifth ACT of a rank.", .required = true})
      .key("tRTP", &S::tRTP, {.help = "RD to PRE.", .required = true})
      .key("tWR", &S::tWR, {.help = "End of write data to PRE.", .required = true})
      .key("tWTRS", &S::tWTRS,
           {.help = "End of write data to RD, other bank group.", .required = true})
      .key("tWTRL", &S::tWTRL,
           {.help = "End of write data to RD, same bank group.", .required = true})
      .key("tRTW", &S::tRTW, {.help = "RD to WR, anywhere on the data bus.", .required = true})
      .key("tRTRS", &S::tRTRS,
           {.help = "Gap on the data bus between data of two ranks.", .required = true})
      .key("tPPD", &S::tPPD, {.help = "PRE to PRE of a rank.", .required = true});
}

void add_refresh_and_commands(Component<S>& keys) {
  keys.key("tREFI", &S::tREFI,
           {.help = "Interval at which all-bank refreshes of a rank are due.", .required = true})
      .key("tRFCab", &S::tRFCab, {.help = "All-bank refresh to ACT.", .required = true})
      .key("tRFCpb", &S::tRFCpb,
           {.help = "Per-bank (DDR5: same-bank) refresh to ACT of its banks.", .required = true})
      .key("tRREFD", &S::tRREFD,
           {.help = "Per-bank refresh to ACT or refresh of another bank of the rank.",
            .required = true})
      .key("act_clocks", &S::act_clocks,
           {.help = "ACT holds its command bus so many clocks.",
            .min = 1,
            .max = 8,
            .required = true})
      .key("column_clocks", &S::column_clocks,
           {.help = "RD and WR likewise.", .min = 1, .max = 8, .required = true})
      .key("shared_bus", &S::shared_bus,
           {.help = "Row and column commands share one command bus.", .required = true})
      .key("refresh_banks", &S::refresh_banks,
           {.help = "Banks that one per-bank refresh takes: 1, or the number of bank groups where "
                    "it takes the same bank of each (DDR5 REFsb).",
            .min = 1,
            .max = 64,
            .required = true});
}

} // namespace

const Component<DramStandard>& standard_component() {
  static const auto keys = [] {
    Component<S> all("dram.standard",
                     "A DRAM standard: organisation and timings of one generation and "
                     "speed.");
    add_organisation(all);
    add_access_timings(all);
    add_refresh_and_commands(all);
    return all;
  }();
  return keys;
}

} // namespace umf::hw::dram
