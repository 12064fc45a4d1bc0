#pragma once

#include "hw/platform/ledger.h"
#include "hw/platform/platform.h"
#include "hw/platform/replay.h"

#include <memory>
#include <string>
#include <vector>

/// A small machine with round figures, and kernel streams written by hand.
namespace umf::test {

/// What kMachine says, for closed forms.
struct Figures {
  static constexpr double hbm = 1e12, l2 = 4e12, peak = 100e12; // B/s, B/s, FLOP/s
  static constexpr Femtoseconds launch = 1000_ns, overhead = 500_ns, setup = 1000_ns;
  static constexpr Femtoseconds hit = 200_ns, miss = 50_ns, media = 100_ns;
  static constexpr Femtoseconds hbm_read = hit + miss + media;
  static constexpr Femtoseconds start = launch + overhead;
  /// 100 SMs × 2048 threads × 16 B.
  static constexpr double window = 3'276'800;
  static constexpr int tiles = 16;
};

/// One GPU, HBM of 1 TB/s, everything in it; no page walks, no mix loss. `patch` is a JSON
/// merge patch (RFC 7386) over it.
hw::Scenario machine(const std::string& patch = "{}");
/// Adds a pool "cxl" on `gpu0-cxl`, one Gen5 x16 link of 68 B flits, and puts all tensors there.
std::string pool_patch();
/// Adds host memory on a Gen5 x16 PCIe link.
std::string host_patch();
/// Patches applied one after the other.
std::string both(const std::string& first, const std::string& second);

stream::Tensor tensor(stream::TensorId id, Bytes bytes,
                      stream::Role role = stream::Role::activation);
stream::Access reads(stream::TensorId id, Bytes bytes, std::uint64_t offset = 0);
stream::Access writes(stream::TensorId id, Bytes bytes, std::uint64_t offset = 0);
stream::Kernel kernel(stream::KernelId id, std::vector<stream::Access> accesses, double flops = 0,
                      stream::StreamId on = {});
stream::Copy copy(std::uint64_t id, stream::CopyKind kind, Bytes bytes, stream::StreamId on = {});

struct Outcome {
  std::unique_ptr<hw::Platform> platform;
  std::vector<hw::OperationRow> rows; ///< by tenant, in order of issue
  std::vector<hw::TenantResult> tenants;
  hw::ReplayTotals totals;
  hw::ProcessFigures processes;
  Femtoseconds makespan{};
  std::vector<hw::LedgerCheck> ledger;

  const hw::OperationResult& operator[](std::size_t row) const { return rows.at(row).result; }
  /// Names of the proofs that failed; empty when the books balance.
  std::string unbalanced() const;
};

/// The records as one trace to replay: its weights are there from the start.
hw::TenantSetup tenant_of(std::vector<stream::Record> records);

/// Replays the records. Elaborates SystemC: once a process.
Outcome replay(hw::Scenario scenario, std::vector<stream::Record> records);
/// The same for several traces at once. `model`: whose weights all of them have.
Outcome replay_tenants(hw::Scenario scenario, std::vector<std::vector<stream::Record>> traces,
                       const std::string& model = {});
Outcome replay_setups(hw::Scenario scenario, const std::vector<hw::TenantSetup>& tenants);

/// Time of `amount` at `rate` a second, to the nearest femtosecond.
Femtoseconds time_of(double amount, double rate);
/// |a − b|: every burst's end is rounded up to the femtosecond, so closed forms are met to a
/// few femtoseconds a piece.
Femtoseconds distance(Femtoseconds a, Femtoseconds b);
inline constexpr Femtoseconds kRounding{64};

} // namespace umf::test
