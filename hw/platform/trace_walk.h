#pragma once

#include "hw/gpu/operation.h"
#include "hw/platform/replay.h"
#include "hw/platform/tensor_numbers.h"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

namespace umf::hw {

/// An operation as the trace has it: what it touches of which tensor, and what it comes after.
struct WalkStep {
  std::uint64_t number = 0; ///< of its tenant, from 0, all repetitions together
  std::uint32_t tenant = 0, gpu = 0;
  std::uint32_t queue = 0; ///< its stream, numbered over all tenants
  Operation operation;     ///< without accesses
  struct Range {
    stream::TensorId tensor = 0;
    std::uint64_t offset = 0, length = 0;
    bool write = false, cached = true;
  };
  std::vector<Range> ranges;
  Bytes host_read{}, host_written{};
  std::vector<std::uint64_t> waits; ///< numbers of the tenant's operations that must be done
};

/// Told of what a replay will do, in order of issue.
class WalkListener {
public:
  virtual ~WalkListener() = default;
  /// First use of a tensor, under its number on the machine.
  virtual void born(const stream::Tensor& tensor, std::uint32_t gpu, bool initial) = 0;
  virtual void step(const WalkStep& step) = 0;
  /// Its last user is done and the trace has let it go.
  virtual void dead(stream::TensorId tensor, std::uint32_t gpu) = 0;
  /// Bytes of a tensor that lives on are dead.
  virtual void reclaimed(stream::TensorId, std::uint32_t, std::uint64_t, std::uint64_t) {}
};

/// Goes through traces as Replay does, without time and without a machine: each operation ends
/// before the next of its tenant begins, and tenants take turns. Tensors are numbered as in the
/// replay. Of what the replay will refuse (tensors that nobody declared, devices that are not
/// there) it takes no notice: it stops there and leaves the fault to the replay.
void walk_traces(const std::vector<TenantSetup>& tenants, const ReplayConfig& config,
                 std::uint32_t gpus, WalkListener& listener);

} // namespace umf::hw
