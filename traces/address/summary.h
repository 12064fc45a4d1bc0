#pragma once

#include "traces/address/reader.h"

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

namespace umf::traces::address {

/// What an address trace holds.
struct Summary {
  std::string source; ///< name of the file, without its folder
  Form form = Form::dramsim3;
  std::uint64_t reads = 0, writes = 0;
  std::uint64_t lowest = 0, highest = 0;         ///< address of a request, in bytes
  std::uint64_t first_cycle = 0, last_cycle = 0; ///< 0 where the form has no cycles
  std::uint64_t gap_instructions = 0; ///< stops at the highest value; 0 where the form has none
};

/// Reads the trace to its end, in bounded memory. `each` is called now and then and may throw.
Summary summarise(Reader&, const std::function<void()>& each);

/// The object `inspect --format json` prints: the keys of a kernel trace, whose kernels, copies
/// and streams are none, `requests` (to memory), and those of an address trace.
nlohmann::ordered_json to_json(const Summary&);

/// The same for people.
std::string to_text(const Summary&);

} // namespace umf::traces::address
