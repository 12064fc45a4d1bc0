#pragma once

#include "hw/platform/platform.h"
#include "model/scheduler/log.h"

/// A run's command log (model/scheduler/log.h), written while the machine runs.
namespace umf::hw {

/// Throws UserError for a policy that decides by what is to come, which no log holds.
void check_recordable(const Scenario& scenario);

/// What a log's header says of the machine; to be asked before anything is placed.
scheduler::LogHeader log_header(const Platform& platform);

/// From now on all that the brains are told goes to the log.
void record(Platform& platform, scheduler::LogWriter& log);

} // namespace umf::hw
