#pragma once

#include "hw/dram/dram.h"
#include "hw/line/line_dram.h"
#include "hw/platform/ledger.h"
#include "traces/address/forms.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace umf::app {

/// An address trace through one memory of a machine, request by request.
struct AddressRequest {
  std::string trace, scenario;
  std::vector<std::string> sets;
  std::string tier;              ///< its name; empty: the first that line resolution plays
  std::uint32_t outstanding = 0; ///< requests without an answer at most; 0: as many as are taken
  std::function<bool()> stop;
};

struct AddressRun {
  std::string source, form;
  std::string scenario;
  std::uint64_t hash = 0, seed = 0;
  std::string tier;
  Bytes capacity{};
  BytesPerSecond peak{};
  std::uint64_t requests = 0, reads = 0, writes = 0, answered = 0;
  Femtoseconds elapsed{}; ///< from the start to the last answer or the last data
  hw::LineStatistics line;
  hw::dram::DramStatistics dram;
  Femtoseconds clock{};
  std::uint32_t units = 0;
  std::vector<hw::LedgerCheck> ledger;
  double wall_seconds = 0;
};

/// Every request is one line of 64 B. DRAMsim3's cycles are clocks of the tier's DRAM, and so is
/// an instruction between two requests of the other forms; without either, requests go as fast as
/// they are taken, in order. Throws UserError with the line of the trace for an address beyond the
/// tier, and with the place for a tier that is not there or has no banks to play.
AddressRun run_addresses(const AddressRequest& request);

nlohmann::ordered_json summary_json(const AddressRun& run);
std::string terminal_report(const AddressRun& run);

} // namespace umf::app
