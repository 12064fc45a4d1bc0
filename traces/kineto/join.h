#pragma once

#include "traces/io/sorter.h"
#include "traces/kineto/issued.h"

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

namespace umf::traces::kineto {

/// Kernels by how they found their operator. The first two add up to the `joined` column
/// of the table of expected counts.
struct JoinCounts {
  std::uint64_t by_external_id = 0;
  std::uint64_t by_enclosing_op = 0;
  std::uint64_t with_call = 0; ///< kernels whose runtime or driver call was found
  std::uint64_t by_graph = 0;  ///< of these, launched by a graph
};

/// Joins device entries to the host calls that issued them (by correlation) and to the
/// operators around those calls, and puts all in order of issue. Everything is sorted
/// outside of memory; `memory` bounds each of the six sorts.
class Join {
public:
  Join(Bytes memory, const io::TextPool& texts);

  void add(const Issued& issued, std::optional<std::int64_t> correlation);
  void add(const Call& call, std::optional<std::int64_t> correlation);
  /// A kernel known by its launch alone, as when a graph was captured.
  void add_launch(const Issued& kernel, const Call& call) { called_.add({kernel, call}); }
  void add(const OpRun& op) { ops_.add(op); }

  /// Ends adding.
  void run();

  /// All there is in order of issue, from the first again after rewind(); null at the end.
  const Issued* next() { return ordered_.next(); }
  void rewind() { ordered_.rewind(); }

  const JoinCounts& counts() const { return counts_; }
  /// Waits of the host or of a stream for an event whose stream is not recorded.
  std::uint64_t waits_without_stream() const { return waits_without_stream_; }

private:
  /// A device entry before and after the call that issued it is known.
  struct Entry {
    std::int64_t correlation = 0;
    Issued issued{};
  };
  struct Called {
    Issued issued{};
    Call call{};
  };
  struct CallEntry {
    std::int64_t correlation = 0;
    Call call{};
  };
  struct ByCorrelation {
    bool operator()(const Entry& a, const Entry& b) const { return a.correlation < b.correlation; }
    bool operator()(const CallEntry& a, const CallEntry& b) const {
      return std::tie(a.correlation, a.call.start_ns) < std::tie(b.correlation, b.call.start_ns);
    }
  };
  /// By thread and time; of operators that start together the outer one first.
  struct ByThread {
    bool operator()(const OpRun& a, const OpRun& b) const {
      return std::tie(a.thread, a.start_ns, b.end_ns) < std::tie(b.thread, b.start_ns, a.end_ns);
    }
    bool operator()(const Called& a, const Called& b) const {
      return std::tie(a.call.thread, a.call.start_ns) < std::tie(b.call.thread, b.call.start_ns);
    }
  };
  struct ByOperator {
    bool operator()(const Issued& a, const Issued& b) const {
      return std::tie(a.op_number, a.number) < std::tie(b.op_number, b.number);
    }
  };
  struct ByIssue {
    bool operator()(const Issued& a, const Issued& b) const;
  };
  class OpenOps;

  void join_calls();
  void join_entry(const std::vector<Call>& calls, bool& synced, const Issued& entry);
  void lone_calls(const std::vector<Call>& calls, bool synced);
  void emit_sync(const Call& call);
  void join_ops();
  void choose_workers();
  void finish_group(std::vector<Issued>& group);

  const io::TextPool& texts_;
  io::Sorter<Entry, ByCorrelation> device_;
  io::Sorter<CallEntry, ByCorrelation> calls_;
  io::Sorter<OpRun, ByThread> ops_;
  io::Sorter<Called, ByThread> called_;
  io::Sorter<Issued, ByOperator> grouped_;
  io::Sorter<Issued, ByIssue> ordered_;
  JoinCounts counts_;
  std::uint64_t waits_without_stream_ = 0;
};

} // namespace umf::traces::kineto
