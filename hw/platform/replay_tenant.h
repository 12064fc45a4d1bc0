#pragma once

#include "hw/platform/partial_frees.h"
#include "hw/platform/replay.h"
#include "hw/platform/tensor_numbers.h"

#include <map>
#include <optional>
#include <set>
#include <unordered_map>

namespace umf::hw {

/// One trace under replay: which of its operations may start, and which bytes they touch.
///
/// Records name tensors as the trace does; from take() on they carry the number the tensor has
/// on this machine, which no other tenant and no earlier life of the name shares.
class ReplayTenant {
public:
  /// Places the initial tensors. `machine` outlives the tenant.
  ReplayTenant(ReplayMachine& machine, const TenantSetup& setup, std::uint32_t index);

  void start();
  /// The host has come to an operation.
  void release(std::uint64_t operation);
  void done(OperationResult&& result);
  /// Reads on after done(); begins the next repetition when this one is over.
  void go_on();
  /// Pages of some tensor may have come to rest: dead ones can go.
  void command_done();

  bool finished() const;
  const TenantResult& result() const { return result_; }

private:
  using OpIndex = std::uint64_t;
  using TensorId = stream::TensorId;

  struct Pending {
    OperationRow row;
    Operation operation;
    std::uint32_t gpu = 0;
    std::vector<stream::Access> accesses;
    std::vector<TensorId> tensors; ///< used, once each
    stream::CopyKind copy = stream::CopyKind::unknown;
    std::uint64_t copy_bytes = 0;
    std::optional<TensorId> source, destination;
    std::uint32_t waits_for = 0; ///< operations, and the host until it comes
    std::vector<OpIndex> dependents;
    bool built = false;                  ///< its accesses have addresses
    std::vector<OperationAccess> copies; ///< on write, to be done before it
    std::uint64_t copied_pages = 0;
  };
  struct TensorState {
    stream::Tensor tensor;
    std::uint64_t users = 0; ///< operations issued and not done
    std::uint32_t gpu = 0;
    bool declared = false, dead = false, touched = false;
    bool sealed = false; ///< a kernel has read it
    PartialFrees frees;
    Processes::Group* group = nullptr;   ///< other tenants have it, too
    std::optional<TensorId> own_pages{}; ///< of a forked one: what it has copied on write
  };
  struct Queue {
    OpIndex last = 0;                     ///< last issued; 0: none
    Femtoseconds last_end{};              ///< of its operations done
    std::optional<Femtoseconds> released; ///< latest instant its operations might go
    std::set<OpIndex> extra_waits;        ///< of the next operation
  };

  // Order: replay_tenant.cpp.
  template <class Act>
  void naming_the_trace(Act act);
  void begin_repetition();
  bool end_repetition();
  void fill();
  bool read_one();
  Queue& queue_of(const stream::StreamId& id);
  void take(const stream::Sync& sync);
  void host_waits(const std::set<OpIndex>& awaited, Femtoseconds done, const stream::Sync& sync);
  void issue(Pending&& pending, HostClock::Times times);
  void make_ready(OpIndex index);
  void copy_before(OpIndex index, Pending& pending);
  void clear_cache();
  std::uint32_t gpu_of(std::int32_t device);
  bool is_done(OpIndex index) const { return pending_.count(index) == 0; }

  // Tensors and what operations touch of them: replay_operations.cpp.
  void take(stream::Tensor&& tensor);
  void take(const stream::Free& free);
  void take(stream::Kernel&& kernel);
  void take(stream::Copy&& copy);
  TensorId number_of(TensorId in_trace, const OperationRow& row) const;
  void add(TensorId id, stream::Tensor&& tensor);
  void bury_what_the_trace_left();
  void build_accesses(Pending& pending);
  void build_copy(Pending& pending);
  void guard(const Pending& pending, TensorState& tensor, bool write) const;
  void add_access(Pending& pending, TensorState& tensor, const stream::Access& access);
  void add_range(Pending& pending, TensorState& tensor, std::uint64_t offset, std::uint64_t length,
                 bool write, bool cached);
  // Weights that tenants share: replay_shared.cpp.
  bool shared(const TensorState& tensor) const;
  TensorId pages_of(const TensorState& tensor) const;
  void note_write(TensorState& tensor, std::uint64_t offset, std::uint64_t length);
  void add_piece(Pending& pending, TensorId pages, std::uint64_t offset, std::uint64_t length,
                 bool write, bool cached);
  void add_shared(Pending& pending, TensorState& tensor, std::uint64_t offset, std::uint64_t length,
                  bool write, bool cached);
  void copy_on_write(Pending& pending, TensorState& tensor, std::uint64_t offset,
                     std::uint64_t length);
  void copy_pages(Pending& pending, TensorState& tensor, memory::Range pages);
  bool let_go(TensorState& tensor);
  void forget(std::uint32_t gpu, TensorId pages);
  TensorId scratch(const Pending& pending, std::uint32_t which);
  TensorState& live(TensorId id, std::uint32_t gpu);
  void free_part(const stream::Free& free);
  void refuse_freed(const OperationRow& row, TensorId id, std::uint64_t offset,
                    std::uint64_t length) const;
  void reclaim(TensorId id, TensorState& tensor);
  void die(TensorId id);
  void release_user(TensorId id, OpIndex operation);
  void release_if_dead(TensorId id);
  std::shared_ptr<const std::string> intern(std::string&& name);

  ReplayMachine& machine_;
  Platform& platform_;
  const ReplayConfig& config_;
  TenantSetup setup_;
  std::uint32_t index_;
  TenantResult result_;
  HostClock host_;

  std::unique_ptr<stream::Source> source_; ///< absent: between repetitions, or all are over
  Femtoseconds began_{};                   ///< this repetition
  std::unordered_map<OpIndex, Pending> pending_;
  std::map<stream::StreamId, Queue> queues_;
  std::set<OpIndex> host_waits_; ///< what streams not yet seen must wait for
  std::set<OpIndex> standing_;   ///< hybrid: what the host stands and waits for
  std::optional<std::int64_t> standing_end_ns_;
  std::map<std::int32_t, std::uint32_t> gpu_of_device_;

  TensorNumbers numbers_;
  std::uint64_t issued_ = 0; ///< operations, all repetitions together
  std::unordered_map<TensorId, TensorState> tensors_;
  std::unordered_map<std::string, std::shared_ptr<const std::string>> names_;
  std::vector<Segment> stale_;
  std::set<TensorId> waiting_release_; ///< dead wholly or in part, with pages in commands
};

} // namespace umf::hw
