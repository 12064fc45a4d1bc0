#include "traces/summary.h"

#include "traces/intervals.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <unordered_set>

namespace umf::traces {

using namespace stream;

static_assert(Summary::kRoles == static_cast<std::size_t>(Role::workspace) + 1);
static_assert(Summary::kRules == static_cast<std::size_t>(kLastRule) + 1);

namespace {

std::optional<Interval> measured(const std::optional<std::int64_t>& start_ns,
                                 const std::optional<std::int64_t>& end_ns) {
  if (!start_ns || !end_ns || *end_ns < *start_ns) return std::nullopt;
  return Interval{*start_ns, *end_ns};
}

class Collector {
public:
  explicit Collector(const Header& header) { summary_.header = header; }

  void add(const Tensor& tensor) {
    auto& role = summary_.tensors[static_cast<std::size_t>(tensor.role)];
    ++role.count;
    role.bytes += tensor.bytes;
  }

  void add(const Kernel& kernel) {
    ++summary_.kernels;
    if (kernel.rule == Rule::unknown) ++summary_.unknown_kernels;
    if (!kernel.op.empty()) ++summary_.joined_kernels;
    if (kernel.grid != decltype(kernel.grid){}) ++summary_.grid_present;
    ++summary_.inferred[static_cast<std::size_t>(kernel.rule)].kernels;
    for (const auto& access : kernel.accesses)
      summary_.inferred[static_cast<std::size_t>(access.rule)].bytes += moved_bytes(access);
    if (!names_.contains(kernel.name)) names_.insert(kernel.name);
    streams_.insert(kernel.stream);
    if (kernel.start_ns && kernel.end_ns && *kernel.end_ns < *kernel.start_ns)
      ++summary_.negative_durations;
    if (const auto interval = measured(kernel.start_ns, kernel.end_ns)) {
      by_stream_[kernel.stream].push_back(*interval);
      widen(*interval);
    }
  }

  void add(const Copy& copy) {
    auto& moves = copy.kind == CopyKind::memset ? summary_.memsets : summary_.copies;
    ++moves.count;
    if (copy.bytes)
      moves.bytes += *copy.bytes;
    else
      ++moves.unsized;
    if (const auto interval = measured(copy.start_ns, copy.end_ns))
      moves.total_ns = saturating_sum(moves.total_ns, length_ns(*interval));
  }

  void add(const Sync&) { ++summary_.syncs; }
  void add(const Alloc&) {}
  void add(const Free&) {}
  void add(const Request&) { ++summary_.requests; }
  void add(const Mark&) { ++summary_.marks; }
  void add(const Oddity& oddity) { summary_.oddities.push_back(oddity); }

  Summary finish() {
    summary_.unique_kernel_names = names_.size();
    summary_.streams = streams_.size();
    if (span_) summary_.span_ns = length_ns(*span_);
    measure(sorted_intervals());
    return std::move(summary_);
  }

private:
  void widen(const Interval& interval) {
    if (!span_) span_ = interval;
    span_->start_ns = std::min(span_->start_ns, interval.start_ns);
    span_->end_ns = std::max(span_->end_ns, interval.end_ns);
  }

  std::vector<std::vector<Interval>> sorted_intervals() {
    std::vector<std::vector<Interval>> lists;
    for (auto& [stream, intervals] : by_stream_) {
      std::sort(intervals.begin(), intervals.end());
      lists.push_back(std::move(intervals));
    }
    return lists;
  }

  void measure(const std::vector<std::vector<Interval>>& lists) {
    std::vector<std::int64_t> lengths;
    for (const auto& list : lists) {
      const Overlaps overlaps = overlaps_of(list);
      summary_.same_stream_overlaps += overlaps.count;
      summary_.max_overlap_ns = std::max(summary_.max_overlap_ns, overlaps.longest_ns);
      summary_.measured_kernels += list.size();
    }
    lengths.reserve(summary_.measured_kernels);
    for (const auto& list : lists)
      for (const auto& interval : list)
        lengths.push_back(length_ns(interval));
    for (const std::int64_t length : lengths) {
      summary_.measured_kernel_ns = saturating_sum(summary_.measured_kernel_ns, length);
      if (length == 0) ++summary_.zero_durations;
    }
    summary_.busy_ns = union_ns(lists);
    if (!lengths.empty()) summary_.durations = durations_of(lengths);
  }

  static Summary::Durations durations_of(std::vector<std::int64_t>& lengths) {
    const auto [shortest, longest] = std::minmax_element(lengths.begin(), lengths.end());
    Summary::Durations durations{.shortest_ns = *shortest, .longest_ns = *longest};
    const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
    std::nth_element(lengths.begin(), middle, lengths.end());
    durations.median_ns = *middle;
    return durations;
  }

  Summary summary_;
  std::unordered_set<std::string> names_;
  std::set<StreamId> streams_;
  std::map<StreamId, std::vector<Interval>> by_stream_;
  std::optional<Interval> span_;
};

} // namespace

Summary summarise(Source& source) {
  Collector collector(source.header());
  for (Record record; source.next(record);)
    std::visit([&](const auto& one) { collector.add(one); }, record);
  return collector.finish();
}

} // namespace umf::traces
