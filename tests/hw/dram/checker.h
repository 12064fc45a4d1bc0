#pragma once

#include "hw/dram/channel.h"

#include <string>
#include <vector>

namespace umf::hw::dram::test {

/// Holds a command log against every distance of the standard, independently of the engine: each
/// command against all before it that can matter. Returns one sentence for each breach.
std::vector<std::string> breaches(std::vector<Command> log, const Organisation& organisation,
                                  const Timings& timings);

} // namespace umf::hw::dram::test
