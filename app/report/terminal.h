#pragma once

#include "app/run/replay_run.h"

#include <string>

namespace umf::app {

/// What a person reads after a replay: time against the measured one, a bar a tier and a
/// link, time by cause, where the byte counts came from, the ledger.
std::string terminal_report(const ReplayRun& run);

} // namespace umf::app
