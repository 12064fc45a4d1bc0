#pragma once

#include "app/run/replay_run.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

/// Figures that several reports show, computed once.
namespace umf::app {

/// Exact decimal nanoseconds: 1 fs = 0.000001 ns, trailing zeros dropped.
std::string decimal_ns(Femtoseconds time);
void append_ns(std::string& text, Femtoseconds time); ///< not negative
void append_whole(std::string& text, std::uint64_t value);
/// Exact decimal joules: 1 fJ = 0.000000000000001 J, trailing zeros dropped.
std::string decimal_joules(Femtojoules energy);
/// In quotes, those within doubled (RFC 4180).
std::string csv_quoted(std::string_view text);
/// As it stands in a CSV file: in quotes where it must be (RFC 4180).
std::string csv_field(const std::string& text);
/// Doubles print the same decimals back up to 15 digits.
double as_ns(Femtoseconds time);

/// What held the operation most of its time; "unknown" when nothing of it is known.
std::string bound_by(const hw::OperationRow& row);

/// The makespan by cause; of several GPUs their mean, which sums to the makespan as well.
hw::CauseLedger causes_of(const ReplayRun& run);

/// |simulated − measured| / measured of kernels, unknown ones apart.
struct Deviation {
  std::uint64_t kernels = 0;
  double median = 0, p90 = 0;
};
struct Accuracy {
  Deviation all;
  std::map<std::string, Deviation> by_bound; ///< by bound_by
  std::uint64_t unknown = 0, unmeasured = 0;
};
Accuracy accuracy_of(const ReplayRun& run);

/// Of the durations of a tenant's steps; exact, nearest rank.
struct StepTimes {
  std::uint64_t steps = 0;
  Femtoseconds p50{}, p99{}, max{};
};

/// What one tenant's operations did, all repetitions together.
struct TenantFigures {
  std::uint64_t read = 0, written = 0, dram = 0; ///< bytes, as in OperationResult
  Femtoseconds kernels{};                        ///< sum of its kernels' durations
  Femtoseconds end{};                            ///< of its last operation
};
std::vector<TenantFigures> figures_of_tenants(const ReplayRun& run);

/// Steps as its trace marks them, in each repetition: from the start of a step's first operation to
/// the end of its last one. Where it marks none, whole repetitions.
std::vector<StepTimes> step_times_of_tenants(const ReplayRun& run);

/// First start to last end of kernels, as a trace's measured span is counted.
Femtoseconds simulated_span(const ReplayRun& run);

/// "a.json" or "a.json + b.json".
std::string names_of_traces(const ReplayRun& run);

std::string mode_name(const ReplayRun& run);

/// Share of capacity × time that a resource carried.
double utilisation(const ReplayRun& run, hw::ResourceId resource);
/// The same of a tier's channels: their mean and the busiest.
struct Busy {
  double mean = 0, most = 0;
};
Busy media_busy(const ReplayRun& run, const hw::MediaTarget& tier);

} // namespace umf::app
