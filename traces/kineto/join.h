#pragma once

#include "traces/io/spill.h"
#include "traces/kineto/archive.h"
#include "traces/kineto/issued.h"

#include <cstdint>
#include <optional>
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
  explicit Join(Bytes memory);

  void add(Issued& issued, std::optional<std::int64_t> correlation);
  void add(Call& call, std::optional<std::int64_t> correlation);
  /// Takes an event that is an operator's, straight from the parser.
  void add_op(const Event& event, std::uint64_t number);

  /// Ends adding; `ordered` receives Issued records in order of issue.
  void run(io::RecordLog& ordered);

  const JoinCounts& counts() const { return counts_; }
  /// Waits of the host or of a stream for an event whose stream is not recorded.
  std::uint64_t waits_without_stream() const { return waits_without_stream_; }

private:
  void join_calls();
  void join_group(const std::vector<Call>& calls, bool& synced, std::string_view record);
  void lone_calls(const std::vector<Call>& calls, bool synced);
  void emit_sync(const Call& call);
  void join_ops();
  void choose_workers();
  void finish_group(std::vector<Issued>& group);
  void order(Issued& issued);

  io::SortedRecords device_;
  io::SortedRecords calls_;
  io::SortedRecords ops_;
  io::SortedRecords called_; ///< device entries by the thread and time of their call
  io::SortedRecords grouped_;
  io::SortedRecords ordered_;
  Packer packer_;
  JoinCounts counts_;
  std::uint64_t waits_without_stream_ = 0;
};

} // namespace umf::traces::kineto
