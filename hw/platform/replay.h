#pragma once

#include "hw/gpu/operation.h"
#include "hw/platform/platform.h"
#include "model/stream/records.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace umf::hw {

/// One operation of the trace after replay, in order of issue: a row of kernels.csv.
struct OperationRow {
  std::uint64_t id = 0;
  Operation::Kind kind = Operation::Kind::kernel;
  std::shared_ptr<const std::string> name; ///< shared by all operations of that name
  stream::StreamId stream;
  stream::Phase phase = stream::Phase::other;
  std::int32_t layer = -1;
  std::uint32_t gpu = 0;         ///< that ran it
  std::int64_t measured_ns = -1; ///< -1: not recorded
  double flops = 0;
  double inferred_share = 0; ///< of its bytes, by any rule but `recorded`
  bool unknown = false;      ///< nothing known of its bytes or arithmetic
  OperationResult result;
};

/// A tensor that is resident from the start (a weight), on the device that uses it first.
struct InitialTensor {
  stream::Tensor tensor;
  std::int32_t device = 0;
};

struct ReplayTotals {
  std::uint64_t kernels = 0, unknown_kernels = 0, copies = 0, memsets = 0;
  std::uint64_t copy_side_bytes = 0;   ///< each simulated side of a copy
  std::uint64_t skipped_host_side = 0; ///< copies whose host side is not simulated (no host tier)
  Femtojoules operations_energy{};     ///< of kernels, copies and memsets
  std::uint64_t requests = 0;          ///< request records, which a kernel replay leaves alone
};

/// Closed replay of one kernel stream on a platform: an operation starts when its stream's
/// predecessor and the synchronisations issued before it are done. Reads the stream as it
/// goes; memory is bounded by the read-ahead, not by the trace.
class Replay {
public:
  using Row = std::function<void(OperationRow&&)>;

  /// `initial`: tensors to place before time starts, in trace order.
  Replay(Platform& platform, stream::Source& source, const std::vector<InitialTensor>& initial,
         Row row);

  /// Polled now and then; returning false stops the run (an interrupt).
  void on_progress(std::function<bool(std::uint64_t operations_done)> poll) {
    poll_ = std::move(poll);
  }

  void run();

  const ReplayTotals& totals() const { return totals_; }
  bool interrupted() const { return interrupted_; }

private:
  using OpIndex = std::uint64_t;

  struct Pending {
    OperationRow row;
    Operation operation;
    std::uint32_t gpu = 0;
    std::vector<stream::Access> accesses;
    std::vector<stream::TensorId> tensors; ///< used, once each
    stream::CopyKind copy = stream::CopyKind::unknown;
    std::uint64_t copy_bytes = 0;
    std::optional<stream::TensorId> source, destination;
    std::uint32_t waits_for = 0;
    std::vector<OpIndex> dependents;
  };
  struct TensorState {
    stream::Tensor tensor;
    std::uint64_t users = 0; ///< operations issued and not done
    std::uint32_t gpu = 0;
    bool declared = false, dead = false, touched = false;
  };
  struct Queue {
    OpIndex last = 0;              ///< last issued; 0: none
    std::set<OpIndex> extra_waits; ///< of the next operation
  };

  Queue& queue_of(const stream::StreamId& id);
  void fill();
  bool read_one();
  void take(stream::Tensor&& tensor);
  void take(stream::Kernel&& kernel);
  void take(stream::Copy&& copy);
  void take(const stream::Sync& sync);
  void take(const stream::Free& free);
  void issue(Pending&& pending);
  void make_ready(OpIndex index);
  void build_accesses(Pending& pending);
  void build_copy(Pending& pending);
  void add_access(Pending& pending, TensorState& tensor, const stream::Access& access);
  void add_range(Pending& pending, TensorState& tensor, std::uint64_t offset, std::uint64_t length,
                 bool write, bool cached);
  TensorState& scratch(const Pending& pending, std::uint64_t bytes, std::uint32_t which);
  TensorState& live(stream::TensorId id, std::uint32_t gpu);
  void done(std::uint32_t gpu, OperationResult&& result);
  void release_user(stream::TensorId id);
  void release_if_dead(stream::TensorId id);
  std::uint32_t gpu_of(std::int32_t device);
  std::shared_ptr<const std::string> intern(std::string&& name);
  bool is_done(OpIndex index) const { return pending_.count(index) == 0; }

  Platform& platform_;
  stream::Source& source_;
  Row row_;
  std::function<bool(std::uint64_t)> poll_;
  ReplayTotals totals_;
  bool exhausted_ = false, interrupted_ = false;
  OpIndex next_index_ = 1;
  std::uint64_t finished_ = 0;
  std::unordered_map<OpIndex, Pending> pending_;
  std::map<stream::StreamId, Queue> queues_;
  std::map<std::int32_t, std::uint32_t> gpu_of_device_;
  std::unordered_map<stream::TensorId, TensorState> tensors_;
  std::map<std::tuple<stream::StreamId, std::uint32_t, unsigned>, stream::TensorId> scratch_;
  stream::TensorId next_scratch_ = UINT32_MAX;
  std::unordered_map<std::string, std::shared_ptr<const std::string>> names_;
  std::vector<Segment> stale_;
  std::set<stream::TensorId> waiting_release_;
  std::set<OpIndex> host_waits_; ///< what streams not yet seen must wait for
};

} // namespace umf::hw
