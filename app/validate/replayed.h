#pragma once

#include "app/validate/published.h"
#include "hw/platform/scenario.h"
#include "model/stream/records.h"

#include <functional>
#include <string>
#include <vector>

/// Kernels that were measured, on the model of the machine they ran on.
namespace umf::app {

/// Bytes a kernel reads or writes, of a tensor that no other kernel knows.
struct MeasuredAccess {
  std::uint64_t bytes = 0;
  bool write = false;
};

struct MeasuredKernel {
  std::vector<MeasuredAccess> accesses;
  std::uint32_t blocks = 0, threads = 0; ///< 0: fills the device
  std::uint32_t registers = 0;           ///< a thread; 0: do not limit
  Bytes shared_memory{};                 ///< of a block
  double flops = 0;                      ///< in BF16
  std::uint32_t times = 1; ///< it runs so often in a row on the same data; the last one counts
};

struct ReplayedKernel {
  Femtoseconds duration{}; ///< its own, without what its launch cost before
  Bytes read{}, written{}; ///< between SMs and L2
  Bytes dram{};            ///< to and from the memory in its name
};

/// Runs the kernels one after the other through the platform of the scenario, in a process of its
/// own. Tensors of a kernel come into being before it and die with it, so it finds a cold L2 (no
/// dirty lines, nothing of its own). Throws UserError.
std::vector<ReplayedKernel> replay_kernels(const Published::Machine& machine,
                                           const std::vector<MeasuredKernel>& kernels);

/// The scenario of a machine, read and checked.
hw::Scenario scenario_of(const Published::Machine& machine);

} // namespace umf::app
