#pragma once

#include "app/run/replay_run.h"

#include <string>

namespace umf::app {

/// timeline.json, in the Chrome trace event format that Perfetto and chrome://tracing open.
///
/// A track a stream with a slice an operation, tracks of page moves, counters of each tier and
/// link. At most report.timeline_events events: of slices the longest stay, of counters every
/// so many windows one, and "otherData" says how many were left out of each track.
std::string timeline_json(const ReplayRun& run);

} // namespace umf::app
