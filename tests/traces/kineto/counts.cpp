#include "tests/traces/kineto/counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace umf::test {

namespace {

struct Interval {
  std::int64_t start;
  std::int64_t end;
  bool operator<(const Interval& other) const {
    return std::pair(start, end) < std::pair(other.start, other.end);
  }
};

std::string micro(std::int64_t ns) {
  return fmt::format("{:.3f}", static_cast<double>(ns) / 1e3);
}

std::string milli(std::int64_t ns) {
  return fmt::format("{:.3f}", static_cast<double>(ns) / 1e6);
}

std::vector<Interval> intervals_of(const std::vector<stream::Kernel>& kernels) {
  std::vector<Interval> intervals;
  for (const auto& kernel : kernels)
    intervals.push_back({kernel.start_ns.value(), kernel.end_ns.value()});
  std::sort(intervals.begin(), intervals.end());
  return intervals;
}

std::int64_t union_of(const std::vector<Interval>& sorted) {
  std::int64_t busy = 0;
  std::int64_t until = sorted.front().start;
  for (const auto& interval : sorted) {
    busy += std::max<std::int64_t>(0, interval.end - std::max(interval.start, until));
    until = std::max(until, interval.end);
  }
  return busy;
}

using Counts = std::map<std::string, std::string>;

/// The table's median is the upper of the two middle durations.
void add_durations(const std::vector<Interval>& intervals, Counts& counts) {
  std::vector<std::int64_t> durations;
  std::int64_t sum = 0;
  std::int64_t last = intervals.front().end;
  for (const auto& interval : intervals) {
    durations.push_back(interval.end - interval.start);
    sum += durations.back();
    last = std::max(last, interval.end);
  }
  std::sort(durations.begin(), durations.end());
  counts["dur_us_min"] = micro(durations.front());
  counts["dur_us_med"] = micro(durations[durations.size() / 2]);
  counts["dur_us_max"] = micro(durations.back());
  counts["sum_kernel_ms"] = milli(sum);
  counts["span_ms"] = milli(last - intervals.front().start);
  counts["busy_union_ms"] = milli(union_of(intervals));
  counts["zero_dur"] = std::to_string(std::count(durations.begin(), durations.end(), 0));
}

/// An overlap is a kernel that starts before its predecessor on the stream has ended.
void add_streams(const std::vector<stream::Kernel>& kernels, Counts& counts) {
  std::map<stream::StreamId, std::vector<stream::Kernel>> by_stream;
  for (const auto& kernel : kernels)
    by_stream[kernel.stream].push_back(kernel);
  std::int64_t overlaps = 0;
  std::int64_t longest = 0;
  for (const auto& [stream, own] : by_stream) {
    const auto sorted = intervals_of(own);
    for (std::size_t i = 1; i < sorted.size(); ++i) {
      const auto overlap = sorted[i - 1].end - sorted[i].start;
      overlaps += overlap > 0 ? 1 : 0;
      longest = std::max(longest, overlap);
    }
  }
  counts["streams"] = std::to_string(by_stream.size());
  counts["same_stream_overlaps"] = std::to_string(overlaps);
  counts["max_overlap_us"] = micro(longest);
}

/// Memsets are no memcpys here.
void add_copies(const std::vector<stream::Copy>& copies, Counts& counts) {
  std::uint64_t number = 0;
  std::uint64_t bytes = 0;
  std::int64_t ns = 0;
  for (const auto& copy : copies) {
    if (copy.kind == stream::CopyKind::memset) continue;
    ++number;
    bytes += copy.bytes.value_or(Bytes{}).count;
    ns += copy.end_ns.value() - copy.start_ns.value();
  }
  counts["memcpys"] = std::to_string(number);
  counts["memcpy_bytes"] = std::to_string(bytes);
  counts["memcpy_ms"] = milli(ns);
}

std::string device_text(const stream::Header& header) {
  if (header.devices.empty()) return "";
  const auto& device = header.devices.front();
  return fmt::format("{}x {} {} {} B", header.devices.size(), device.name, device.architecture,
                     device.memory.count);
}

} // namespace

Drained drain(stream::Source& source) {
  Drained drained;
  stream::Record record;
  while (source.next(record)) {
    drained.all.push_back(record);
    if (auto* tensor = std::get_if<stream::Tensor>(&record)) drained.tensors.push_back(*tensor);
    if (auto* kernel = std::get_if<stream::Kernel>(&record)) drained.kernels.push_back(*kernel);
    if (auto* copy = std::get_if<stream::Copy>(&record)) drained.copies.push_back(*copy);
    if (auto* sync = std::get_if<stream::Sync>(&record)) drained.syncs.push_back(*sync);
    if (auto* free = std::get_if<stream::Free>(&record)) drained.frees.push_back(*free);
    if (auto* mark = std::get_if<stream::Mark>(&record)) drained.marks.push_back(*mark);
    if (auto* oddity = std::get_if<stream::Oddity>(&record))
      drained.oddities[oddity->code] = *oddity;
  }
  return drained;
}

Counts counts_of(const traces::kineto::KinetoSource& source, const Drained& records) {
  Counts counts{{"streams", "0"},
                {"zero_dur", "0"},
                {"same_stream_overlaps", "0"},
                {"max_overlap_us", "0.000"}};
  counts["device"] = device_text(source.header());
  counts["events"] = std::to_string(source.statistics().events);
  counts["kernels"] = std::to_string(records.kernels.size());
  std::set<std::string> names;
  std::int64_t grids = 0;
  std::int64_t joined = 0;
  for (const auto& kernel : records.kernels) {
    names.insert(kernel.name);
    grids += kernel.grid[0] > 0 ? 1 : 0;
    joined += kernel.op.empty() ? 0 : 1;
  }
  counts["unique_names"] = std::to_string(names.size());
  counts["grid_present"] = std::to_string(grids);
  counts["joined"] = std::to_string(joined);
  add_copies(records.copies, counts);
  if (records.kernels.empty()) return counts;
  add_durations(intervals_of(records.kernels), counts);
  add_streams(records.kernels, counts);
  return counts;
}

} // namespace umf::test
