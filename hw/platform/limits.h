#pragma once

#include "hw/platform/scenario.h"

#include <string>
#include <string_view>
#include <vector>

namespace umf::hw {

/// What the limit of one link is called begins so.
inline constexpr std::string_view kLinkLimit = "link ";

/// The limits of this machine that can be lifted, one by one: "hbm", "sram", "cxl", "host" (all
/// tiers of the kind it has: endless bandwidth, no media or controller latency), "link NAME"
/// (endless rate and tags, no latency), "links" (all of them: two alike in a row hide one another),
/// "l2" (endless bandwidth, no hit or miss latency),
/// "scheduler" (endless lookups, no lookup or walk latency), "launch" (no launch cost, kernel
/// overhead or copy set-up), "compute" (arithmetic takes no time). Capacities stay: lifting one
/// would change what is placed where, which is another question.
std::vector<std::string> limits_of(const Scenario& scenario);

/// Lifts one. "link:NAME" is the same as "link NAME". Throws UserError for a limit the machine
/// does not have.
void lift(Scenario& scenario, std::string_view limit);

} // namespace umf::hw
