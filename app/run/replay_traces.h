#pragma once

#include "app/run/steps.h"
#include "hw/platform/replay.h"
#include "traces/summary.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace umf::app {

/// What a replay must know of a trace before time starts: one pass over it.
struct TraceFacts {
  traces::Summary summary;
  std::vector<hw::InitialTensor> weights; ///< that some kernel uses, in trace order
  std::vector<StepMark> steps;
  std::uint64_t issued = 0; ///< operations whose host call has a recorded begin
  std::uint64_t timed = 0;  ///< that have that or a recorded start
};

/// Throws UserError and, once `stop` says so, Interrupted.
TraceFacts read_facts(const std::filesystem::path& trace, const std::filesystem::path& shapes_from,
                      std::function<bool()> stop);

/// Throws UserError for requests without kernels: nothing would be simulated.
void require_work(const TraceFacts& facts, const std::filesystem::path& trace);

/// Throws UserError where the mode needs times that no operation of the trace has.
void require_times(const TraceFacts& facts, hw::ReplayMode mode,
                   const std::filesystem::path& trace);

/// What reports call each trace: its file's name; equal ones are told apart: "a", "a#2".
std::vector<std::string> names_of(const std::vector<std::filesystem::path>& traces);

/// Where a trace's weights come from, for telling whether another's are the same: what its header
/// says of its provenance (a generator's has the model), else the file.
std::string origin_of(const stream::Header& header, const std::filesystem::path& trace);

/// Several traces as one: counts and bytes are sums, the span is the longest.
traces::Summary together(const std::vector<const traces::Summary*>& summaries);

} // namespace umf::app
