#pragma once

#include "hw/fabric/timer.h"
#include "hw/gpu/operation.h"
#include "hw/platform/platform.h"
#include "hw/platform/processes.h"
#include "hw/platform/replay_host.h"
#include "model/base/error.h"
#include "model/stream/records.h"

#include <systemc>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace umf::hw {

/// One operation of a trace after replay, in order of issue: a row of kernels.csv.
struct OperationRow {
  std::uint64_t id = 0;
  std::uint32_t tenant = 0; ///< from 0
  std::uint32_t repeat = 0; ///< from 0
  Operation::Kind kind = Operation::Kind::kernel;
  std::shared_ptr<const std::string> name; ///< shared by all operations of that name
  stream::StreamId stream;
  stream::Phase phase = stream::Phase::other;
  std::int32_t layer = -1;
  std::uint32_t gpu = 0;         ///< that ran it
  std::int64_t measured_ns = -1; ///< -1: not recorded
  double flops = 0;
  double inferred_share = 0;    ///< of its bytes, by any rule but `recorded`
  bool unknown = false;         ///< nothing known of its bytes or arithmetic
  std::uint64_t copied_for = 0; ///< a copy on write, which the trace does not have: result.id of
                                ///< the operation that waited for it
  OperationResult result;       ///< its id numbers all operations of a run in order of issue
};

/// A tensor that is resident from the start (a weight), on the device that uses it first.
struct InitialTensor {
  stream::Tensor tensor;
  std::int32_t device = 0;
  bool whole = true; ///< else declared alone: TenantSetup::touched says what of it has a place
};

/// A stretch of an initial tensor.
struct InitialStretch {
  stream::TensorId tensor = 0;
  Bytes offset{}, length{};
};

/// What was replayed, all repetitions together.
struct ReplayTotals {
  std::uint64_t kernels = 0, unknown_kernels = 0, copies = 0, memsets = 0;
  std::uint64_t copy_side_bytes = 0;   ///< each simulated side of a copy
  std::uint64_t skipped_host_side = 0; ///< copies whose host side is not simulated (no host tier)
  Femtojoules operations_energy{};     ///< of kernels, copies and memsets
  std::uint64_t requests = 0;          ///< request records, which a kernel replay leaves alone
  HostOddities host;
  ReplayTotals& operator+=(const ReplayTotals& other);
};

/// One trace to replay.
struct TenantSetup {
  Place place; ///< of its file, for faults
  /// Opens the trace from its begin: once a repetition, one at a time.
  std::function<std::unique_ptr<stream::Source>()> open;
  std::vector<InitialTensor> initial;  ///< to place before time starts, in trace order
  std::vector<InitialStretch> touched; ///< then these, in this order, as at a first touch
  std::string model; ///< where its weights come from: names are equal within it; empty: not known
};

/// What became of it.
struct TenantResult {
  ReplayTotals totals;
  /// From the begin of each repetition to the end of its last operation; no clearing of caches.
  std::vector<Femtoseconds> repeats;
  std::uint32_t gpus = 0; ///< its devices, which take GPUs from replay.tenant_gpus on
};

class ReplayTenant;

/// What the tenants of a replay share.
struct ReplayMachine {
  Platform& platform;
  std::function<void(OperationRow&&)> row;
  /// Sees to it that the tenant's release(operation) is called at an instant to come.
  std::function<void(Femtoseconds when, std::uint32_t tenant, std::uint64_t operation)> release_at;
  std::uint32_t tenants = 1;
  std::uint64_t next_operation = 1;
  Processes processes{platform, tenants};
};

/// Replay of kernel streams on a platform, each a tenant with tensors and streams of its own.
/// An operation starts when its stream's predecessor and the synchronisations issued before it
/// are done, and the host has come to it (HostClock). Reads each stream as it goes; memory is
/// bounded by the read-ahead, not by the traces. The scenario's `replay` section says how.
class Replay {
public:
  using Row = std::function<void(OperationRow&&)>;

  Replay(Platform& platform, const std::vector<TenantSetup>& tenants, Row row);
  ~Replay();

  /// Polled now and then; returning false stops the run (an interrupt).
  void on_progress(std::function<bool(std::uint64_t operations_done)> poll) {
    poll_ = std::move(poll);
  }

  void run();

  std::vector<TenantResult> results() const; ///< in order of the setups
  ReplayTotals totals() const;               ///< of all tenants
  /// What tenants have in common, as of now.
  ProcessFigures processes();
  bool interrupted() const { return interrupted_; }

private:
  struct Release {
    std::uint32_t tenant;
    std::uint64_t operation;
  };
  void done(OperationResult&& result);
  void release_due();
  void arm();

  ReplayMachine machine_;
  std::vector<std::unique_ptr<ReplayTenant>> tenants_;
  std::function<bool(std::uint64_t)> poll_;
  TimerQueue<Release> releases_;
  sc_core::sc_event due_;
  std::uint64_t finished_ = 0;
  bool interrupted_ = false;
};

} // namespace umf::hw
